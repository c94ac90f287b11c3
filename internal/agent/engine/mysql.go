package engine

import (
	"fmt"
	"slices"
	"strings"

	"replab.dev/internal/engine/mysql"
)

// mySQL is MySQL 8.4 and later, Percona Server included.
type mySQL struct{}

// serverIDBase keeps server ids above 0, which would turn replication off.
const serverIDBase = 100

// restartExitCode is mysqld's exit code after the statement RESTART and at the end of a clone, when a supervisor is
// there to start it again.
const restartExitCode = 16

func (mySQL) IsServer(argv, process []string) bool {
	for _, argument := range argv[1:] {
		if !slices.Contains(process, argument) {
			return false
		}
	}
	return !slices.ContainsFunc(process, func(a string) bool { return strings.HasPrefix(a, "--initialize") })
}

func (mySQL) InitScript(password func(string) (string, error)) (string, error) {
	return mysql.InitSQL(password)
}

func (mySQL) InitArgs(argv []string, dataDir, scriptFile string) []string {
	return append(slices.Clone(argv), "--datadir="+dataDir, "--initialize-insecure", "--init-file="+scriptFile,
		"--read-only=OFF", "--super-read-only=OFF")
}

func (mySQL) RunArgs(argv []string, ordinal int) []string {
	return append(slices.Clone(argv), fmt.Sprintf("--server-id=%d", serverIDBase+ordinal))
}

// RunEnv tells mysqld that its parent starts it again when it ends with restartExitCode; without it RESTART is refused.
func (mySQL) RunEnv(wrapperPID int) []string {
	return []string{fmt.Sprintf("MYSQLD_PARENT_PID=%d", wrapperPID)}
}

func (mySQL) WantsRestart(exitCode int) bool { return exitCode == restartExitCode }

// Leftovers: mysqld refuses a socket whose lock file names a living process, and in a new pod the old server's pid may
// well be another process's.
func (mySQL) Leftovers(socket string) []string {
	return []string{socket, socket + ".lock"}
}
