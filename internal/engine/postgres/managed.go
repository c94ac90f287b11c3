package postgres

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

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

// CopiedLast implements engine.Managed: a server that gives its data gives this file behind all others, and none starts without it.
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
	return call, errors.New("pg_rewind was called without " + option + ", and from what else than a server nobody is to rewind")
}
