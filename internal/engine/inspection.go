package engine

import (
	"context"
	"io"
)

// Alone is a Starter whose servers can be read before they are started in their place. It performs no IO.
type Alone interface {
	// Alone is how to run a server that takes part in nothing, listens on this socket alone, and changes none of its rows.
	Alone(argv []string, n StartParams) Start
}

// RowOpener is a Local that can read the rows of a server that runs alone.
type RowOpener interface {
	// OpenRows connects to a server on a socket as the administrator, and fails if it does not answer.
	OpenRows(ctx context.Context, socket, password string) (Rows, error)
}

// Rows reads the tables of one server.
type Rows interface {
	// Count returns the rows of a table.
	Count(ctx context.Context, table string) (int64, error)
	// IDs visits the values of an id column of all rows, in any order; null stands for a row that has none.
	IDs(ctx context.Context, table, column string, visit func(id uint64, null bool) error) error
	// Executed names the transactions that the server has executed, in the engine's own notation.
	Executed(ctx context.Context) (string, error)
	io.Closer
}
