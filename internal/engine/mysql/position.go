package mysql

import (
	"replab.dev/internal/engine"
	"replab.dev/internal/engine/mysql/gtid"
)

// transactions are a GTID set as an engine.Transactions.
type transactions struct{ gtid.Set }

// Position is a GTID set as others hold it.
func Position(s gtid.Set) engine.Position { return engine.PositionOf(transactions{s}) }

// Beyond implements engine.Transactions.
func (t transactions) Beyond(other engine.Transactions) int64 {
	o, _ := other.(transactions) // nil is the empty set
	return t.Minus(o.Set).Count()
}
