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
	// promotionsFile has a line for each promotion that Patroni decided on: seconds of Unix time.
	promotionsFile = "promotions"
)

// Programs of the files. Images have the server's programs in PATH or where their packages put them, of which the highest version is taken.
// Patroni gives the lock back when what runs before a promotion fails.
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
exec patroni %s
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
	script := func(name, text, argument string) engine.RunFile {
		return engine.RunFile{Name: name, Content: fmt.Sprintf(text, argument), Executable: true}
	}
	return []engine.RunFile{
		{Name: patroniFile, Content: strings.NewReplacer(placeNode, p.Name, placeAddress, address).Replace(template)},
		{Name: statementsFile, Content: statements},
		script(managerFile, managerScript, path(patroniFile)),
		script(firstFile, firstScript, path(statementsFile)),
		script(prePromoteFile, prePromoteScript, path(promotionsFile)),
		script(rewindFile, rewindScript, p.Binary),
	}
}

// Rewind implements engine.Managed.
func (Server) Rewind(arguments []string) (engine.RewindCall, error) {
	const option = "--source-server"
	for i, argument := range arguments {
		name, value, whole := strings.Cut(argument, "=")
		switch {
		case name == "--help" || name == "-?" || name == "--version" || name == "-V":
			return engine.RewindCall{Asks: true}, nil
		case name == option && whole:
			return engine.RewindCall{Source: value}, nil
		case name == option && i+1 < len(arguments):
			return engine.RewindCall{Source: arguments[i+1]}, nil
		}
	}
	return engine.RewindCall{}, errors.New("pg_rewind was called without " + option + ", and from what else than a server nobody is to rewind")
}
