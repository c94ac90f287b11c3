package family

import (
	"database/sql"

	"replab.dev/internal/wire"
)

// QuestionHostname is what a store asks each new connection.
const QuestionHostname = questionHostname

// NewStoreAsking returns a store that asks for its servers' names otherwise: servers of one machine share its hostname,
// but not their ports.
func NewStoreAsking(cfg wire.SocialConfig, password, question string, refusals Refusals) (*Store, error) {
	return newStore(cfg, password, question, refusals)
}

// WritePool is the pool that a store writes through.
func (s *Store) WritePool() *sql.DB { return s.writes }

// DriverConn returns the driver's connection behind one of a store's pools.
func DriverConn(c any) any { return c.(*nodeConn).driverConn }

// RefusalsOf are those that a store of an engine knows.
func RefusalsOf(s *Store) Refusals { return s.refusals }
