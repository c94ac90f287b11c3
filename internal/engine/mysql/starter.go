package mysql

import (
	"fmt"
	"slices"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/family"
)

// serverIDBase keeps server ids above 0, which would turn replication off.
const serverIDBase = 100

// restartExitCode is mysqld's exit code after the statement RESTART and at the end of a clone, when a supervisor is
// there to start it again.
const restartExitCode = 16

// Initialization implements engine.Starter. What is loose is for servers that know it: none of their statements is for a group.
func (Server) Initialization(argv []string, dataDir, scriptFile string, password func(string) (string, error)) (engine.Initialization, error) {
	script, err := firstStatements.Script(password)
	return engine.Initialization{
		Argv: append(slices.Clone(argv), "--datadir="+dataDir, "--initialize-insecure", "--init-file="+scriptFile,
			"--read-only=OFF", "--super-read-only=OFF", "--loose-wsrep-provider=none"),
		Script: script,
	}, err
}

// Start implements engine.Starter. MYSQLD_PARENT_PID tells mysqld that its parent starts it again when it ends with
// restartExitCode; without it RESTART is refused. A socket's lock file goes, since mysqld refuses one that names a living
// process, and in a new pod the old server's pid may well be another process's.
func (Server) Start(argv []string, n engine.StartParams) engine.Start {
	return engine.Start{
		Argv:   append(slices.Clone(argv), fmt.Sprintf("--server-id=%d", serverIDBase+n.Ordinal)),
		Env:    []string{fmt.Sprintf("MYSQLD_PARENT_PID=%d", n.WrapperPID)},
		Remove: []string{n.Socket, n.Socket + ".lock"},
	}
}

// WantsRestart implements engine.Starter.
func (Server) WantsRestart(exitCode int) bool { return exitCode == restartExitCode }

// IsServer implements engine.Local.
func (Server) IsServer(argv, process []string) bool {
	return family.Started(argv, process, append([]string{"--initialize", "--wsrep-recover"}, noProvider...)...)
}
