package engine

// Transactions is a set of transactions in an engine's own form.
type Transactions interface {
	// Beyond counts those that are not in other, which is of the same engine, or nil for none.
	Beyond(other Transactions) int64
	// String is the engine's own text of the set; equal sets have equal texts.
	String() string
}

// Position is which transactions a server has. The zero value is of none.
type Position struct{ of Transactions }

// PositionOf holds what an engine has read of a server.
func PositionOf(t Transactions) Position { return Position{t} }

// Beyond counts the transactions of p that are not in other.
func (p Position) Beyond(other Position) int64 {
	if p.of == nil {
		return 0
	}
	return p.of.Beyond(other.of)
}

// Contains tells whether every transaction of other is in p.
func (p Position) Contains(other Position) bool { return other.Beyond(p) == 0 }

// Count is how many transactions are in p.
func (p Position) Count() int64 { return p.Beyond(Position{}) }

// Transactions is the engine's own form, nil when there are none.
func (p Position) Transactions() Transactions { return p.of }

func (p Position) String() string {
	if p.of == nil {
		return ""
	}
	return p.of.String()
}
