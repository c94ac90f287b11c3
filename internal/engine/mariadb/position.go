package mariadb

import (
	"replab.dev/internal/engine"
	"replab.dev/internal/engine/mariadb/gtid"
)

// transactions are a binary log's state as an engine.Transactions.
type transactions struct{ gtid.State }

// Position is a state as others hold it.
func Position(s gtid.State) engine.Position { return engine.PositionOf(transactions{s}) }

// Beyond implements engine.Transactions.
func (t transactions) Beyond(other engine.Transactions) int64 {
	o, _ := other.(transactions) // nil is the empty state
	return t.State.Beyond(o.State)
}
