package mariadb

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/family"
)

// serverIDBase keeps the ids of servers without an identity above 0, which would turn replication off.
const serverIDBase = 100

// Initialization implements engine.Starter, by the script that every package and image of the server has. It hands what it does
// not know itself on to the server.
func (Server) Initialization(argv []string, dataDir, scriptFile string, password func(string) (string, error)) (engine.Initialization, error) {
	script, err := firstStatements.Script(password)
	arguments := argv[max(0, slices.IndexFunc(argv, func(a string) bool { return strings.HasPrefix(a, "--defaults-file=") })):]
	return engine.Initialization{
		Argv: slices.Concat([]string{"mariadb-install-db"}, arguments, []string{
			"--datadir=" + dataDir, "--auth-root-authentication-method=normal", "--skip-test-db", "--force",
			"--extra-file=" + scriptFile, "--skip-log-bin", "--read-only=OFF", "--wsrep-on=OFF",
		}),
		Script: script,
	}, err
}

// Start implements engine.Starter. The server's id is the identity of its data: a server whose data were replaced never makes a
// transaction under a name that another transaction has.
func (Server) Start(argv []string, n engine.StartParams) engine.Start {
	id := cmp.Or(int64(n.Identity), int64(serverIDBase+n.Ordinal))
	return engine.Start{
		Argv:   append(slices.Clone(argv), fmt.Sprintf("--server-id=%d", id)),
		Remove: []string{n.Socket},
	}
}

// WantsRestart implements engine.Starter.
func (Server) WantsRestart(int) bool { return false }

// IsServer implements engine.Local.
func (Server) IsServer(argv, process []string) bool {
	return family.Started(argv, process, "--bootstrap", "--wsrep-recover", noProvider)
}
