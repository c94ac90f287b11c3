package engine

import (
	"context"
	"io"
)

// Local is how a node's agent knows its server and speaks with it.
type Local interface {
	// IsServer tells from a process's arguments whether it is the server that was started as argv, and not one that
	// makes a data directory or does another chore under the same name.
	IsServer(argv, process []string) bool
	// Client returns a client that asks the server on a unix socket as the administrator. It connects when it is used.
	Client(socket, password string) (Client, error)
}

// Client asks and commands a running server. Its methods may be called at once by several goroutines; each returns an
// error when the context ends before the server has answered.
type Client interface {
	// Writable tells whether accounts without special privileges can write.
	Writable(context.Context) (bool, error)
	// Replication is what the server says of its replication as a replica.
	Replication(context.Context) (Replication, error)
	// Fence, which topologies with leases need, makes the server read-only for everybody and ends the connections of the app's account, so that nothing
	// they have under way is acknowledged. It may be repeated.
	Fence(context.Context) error
	// Close ends the client's connections.
	Close() error
}

// Replication of a server that answers; the zero value is of one that is no replica.
type Replication struct {
	Applies   bool // what it has received, whether or not its source can be reached
	LastError string
}

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
