// Package postgres is what a PostgreSQL server is: its configuration, its accounts and its statements. It is PostgreSQL 14 and later, run
// by Patroni.
package postgres

import (
	"fmt"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/postgres/parameters"
)

// Server implements engine.Server.
type Server struct{ parameters.Rules }

// Port is where a server listens for clients, unless it is given another one.
const Port = 5432

// Port implements engine.Server.
func (Server) Port() int { return Port }

// Program implements engine.Server. The configuration is that of Patroni, which makes the server's own: s.Manager must be there.
func (Server) Program(place engine.Place, s engine.Settings) engine.Program {
	return engine.Program{
		Argv: []string{"postgres", "-D", place.DataDir}, Process: "postgres", Socket: Socket(place.RunDir, place.Port),
		ConfigFile: patroniFile, Config: patroniConfig(place, s),
		Manager: &engine.ManagerProgram{
			Argv: []string{"patroni", place.RunDir + "/" + patroniFile}, Process: "patroni", URL: fmt.Sprintf("http://127.0.0.1:%d", restPort),
		},
	}
}

// Kind is what a server says of a setting's values.
type Kind = parameters.Kind
