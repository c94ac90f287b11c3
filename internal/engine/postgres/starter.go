package postgres

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

var (
	_ engine.Starter = Server{}
	_ engine.Alone   = Server{}
)

// aloneName is what a server that runs alone calls its cluster, by which its process is told from a server in its place.
const aloneName = "replab-alone"

// alonePort is in the name of the socket of a server that runs alone, and no port: it listens nowhere else.
const alonePort = 5433

// keepAll is more than any log has, in MB.
const keepAll = "2147483647"

// Initialization implements engine.Starter. Patroni makes the data.
func (Server) Initialization([]string, string, string, func(string) (string, error)) (engine.Initialization, error) {
	return engine.Initialization{}, errors.New("servers of PostgreSQL are made by Patroni: nodes without it cannot be")
}

// Start implements engine.Starter.
func (Server) Start(argv []string, _ engine.StartParams) engine.Start {
	return engine.Start{Argv: inPath(argv)}
}

// WantsRestart implements engine.Starter.
func (Server) WantsRestart(int) bool { return false }

// Alone implements engine.Alone. A former standby runs as one without a source, and needs as many walsenders and connections as its primary had.
// It keeps its log for a rewind. Its socket is AloneSocket in the folder of n.Socket.
func (Server) Alone(argv []string, n engine.StartParams) engine.Start {
	folder := filepath.Dir(n.Socket)
	argv = slices.Clone(argv)
	for _, setting := range []string{
		"listen_addresses=", "unix_socket_directories=" + folder, "port=" + strconv.Itoa(alonePort), "cluster_name=" + aloneName,
		"synchronous_standby_names=", "primary_conninfo=", "primary_slot_name=", "restore_command=", "archive_mode=off", "wal_keep_size=" + keepAll,
		"recovery_target_timeline=current", "autovacuum=off", "default_transaction_read_only=on", "logging_collector=off",
	} {
		argv = append(argv, "-c", setting)
	}
	socket := AloneSocket(folder)
	return engine.Start{Argv: inPath(argv), Remove: []string{socket, socket + ".lock"}}
}

// AloneSocket is the file by which a server that runs alone is reached.
func AloneSocket(folder string) string { return Socket(folder, alonePort) }

// inPath is how to run a program of the server wherever the image has it: a shell finds it, and becomes it.
func inPath(argv []string) []string {
	return append([]string{"sh", "-c", findPrograms + `exec "$@"`, "sh"}, argv...)
}

// chores are arguments under which the same program is no server that others use.
var chores = []string{"--single", "--boot", "--check", "--describe-config", "-C", "-V", "--version", "cluster_name=" + aloneName}

// IsServer tells from a process's arguments whether it is the server that was started as argv, which names its data directory last. Other
// processes of the server have one argument, in which they say what they do; one that was forked a moment ago still has its parent's.
func (Server) IsServer(argv, process []string) bool {
	if len(process) == 0 || filepath.Base(process[0]) != filepath.Base(argv[0]) {
		return false
	}
	if !strings.Contains(strings.Join(process, "\n")+"\n", "\n-D\n"+argv[len(argv)-1]+"\n") {
		return false
	}
	return !slices.ContainsFunc(process, func(argument string) bool { return slices.Contains(chores, argument) })
}

var _ engine.Managed = Server{}

// Files of Place.RunDir beside Patroni's configuration, which names them.
const (
	managerFile    = "manager"     // starts Patroni
	firstFile      = "first"       // runs once, on the node that makes the data
	statementsFile = "first.sql"   // is what it runs
	prePromoteFile = "pre_promote" // runs between the decision and the promotion
	rewindFile     = "pg_rewind"   // in the place of the program of that name
	passwordFile   = "pgpass"      // Patroni's own
)

// Programs of the files. Images have the server's programs in PATH or where their packages put them, of which the highest version is taken.
// Patroni gives the lock back when what runs before a promotion fails. A server that was killed has left its pid, which in a new pod may be
// another process's, or a thread's: no server starts while it is.
const (
	findPrograms = `if ! command -v postgres >/dev/null; then
  for folder in /usr/lib/postgresql/[1-9][0-9]/bin /usr/pgsql-[1-9][0-9]/bin; do
    if [ -x "$folder/postgres" ]; then PATH=$folder:$PATH; fi
  done
fi
export PATH
`
	managerScript = `#!/bin/sh
` + findPrograms + `for program in postgres patroni; do
  command -v "$program" >/dev/null || { echo "the image has no $program" >&2; exit 127; }
done
pid=$(head -n 1 %[2]s 2>/dev/null)
if [ "$(cat "/proc/$pid/comm" 2>/dev/null)" != postgres ]; then rm -f %[2]s; fi
exec patroni %[1]s
`
	firstScript = `#!/bin/sh
exec psql -X -q -v ON_ERROR_STOP=1 -d "$1" -f %s
`
	prePromoteScript = `#!/bin/sh
date -u +%%s.%%N >>%s
exit 0
`
	rewindScript = `#!/bin/sh
exec %s rewind --config ` + wire.ConfigDir + `/server.json -- "$@"
`
)

// Manager implements engine.Managed.
func (Server) Manager(p engine.ManagerParams) engine.Start {
	return engine.Start{
		Argv: []string{"sh", filepath.Join(p.RunDir, managerFile)},
		Env:  []string{"HOME=" + p.RunDir, "PYTHONDONTWRITEBYTECODE=1"},
	}
}

// Files implements engine.Managed.
func (Server) Files(template string, p engine.ManagerParams) []engine.RunFile {
	address := p.Address
	if strings.Contains(address, ":") {
		address = "[" + address + "]"
	}
	statements, _ := FirstStatements(func(account string) (string, error) { return secretOf(account), nil })
	path := func(name string) string { return filepath.Join(p.RunDir, name) }
	script := func(name, text string, arguments ...any) engine.RunFile {
		return engine.RunFile{Name: name, Content: fmt.Sprintf(text, arguments...), Executable: true}
	}
	return []engine.RunFile{
		{Name: patroniFile, Content: strings.NewReplacer(placeNode, p.Name, placeAddress, address).Replace(template)},
		{Name: statementsFile, Content: statements},
		script(managerFile, managerScript, path(patroniFile), filepath.Join(p.DataDir, "postmaster.pid")),
		script(firstFile, firstScript, path(statementsFile)),
		script(prePromoteFile, prePromoteScript, path(wire.PromotionsFile)),
		script(rewindFile, rewindScript, p.Binary),
	}
}

// CopiedLast implements engine.Managed: a server sends this file last, and no server starts without it.
func (Server) CopiedLast() string { return controlFile }

// controlFile is what a server knows of its data, in the data directory.
const controlFile = "global/pg_control"

// Rewind implements engine.Managed.
func (Server) Rewind(arguments []string) (engine.RewindCall, error) {
	const option = "--source-server"
	call := engine.RewindCall{Program: rewindFile, Control: controlFile}
	for i, argument := range arguments {
		name, value, whole := strings.Cut(argument, "=")
		switch {
		case name == "--help" || name == "-?" || name == "--version" || name == "-V":
			call.Asks = true
			return call, nil
		case name == option && whole:
			call.Source = value
			return call, nil
		case name == option && i+1 < len(arguments):
			call.Source = arguments[i+1]
			return call, nil
		}
	}
	return call, errors.New("pg_rewind was called without " + option + ": replab rewinds from a running server alone")
}

var _ engine.Described = Server{}

// majorVersion of servers that another operator is asked for.
const majorVersion = "17"

// Describe implements engine.Described. The operator chooses who administers and who replicates: the rules of access name no account.
func (Server) Describe(s engine.Settings) engine.Description {
	made := map[string]string{}
	for _, o := range InitOptions() {
		made[o.Name] = cmp.Or(o.Value, "true")
	}
	return engine.Description{
		Version: majorVersion, Parameters: Parameters(s), Initialization: made,
		Access: AccessRules("all"),
	}
}
