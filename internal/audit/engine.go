package audit

import (
	"context"
	"io"
)

// Reader reads the tables of one node.
type Reader interface {
	// Begin fixes the snapshot that Count and IDs read, where the engine has one.
	Begin(ctx context.Context) error
	// Count returns the rows of a table, counted by the server.
	Count(ctx context.Context, table string) (int64, error)
	// IDs visits the values of an id column of all rows by its index, in any order; null stands for a row that has none.
	IDs(ctx context.Context, table, column string, visit func(id uint64, null bool) error) error
}

// Checker sums a table up.
type Checker interface {
	// Checksum of all rows and columns of a table. It does not depend on their order, and is the same on nodes that hold the same.
	Checksum(ctx context.Context, table string) (string, error)
}

// History is a Session that tells the transactions of its node. An engine whose servers keep no set of them has none.
type History interface {
	// Executed names the transactions that the node has executed, in the engine's own notation.
	Executed(ctx context.Context) (string, error)
	// Own tells whether the node holds transactions that it made itself, by the identity that its data have since they were made.
	Own(ctx context.Context) (bool, error)
	// Unexecuted counts the transactions among others, which Executed of another node returned, that this node has not.
	Unexecuted(ctx context.Context, others string) (int64, error)
}

// Session is what the audit asks of one node; it may be a History too. It is used by one goroutine.
type Session interface {
	Reader
	Checker
	io.Closer
	// Ping returns an error where the connection is lost, or its snapshot is.
	Ping(ctx context.Context) error
}

// Open returns a session with the server at a node's host, which has answered a query.
type Open func(ctx context.Context, host, password string) (Session, error)

// Opens makes an engine's constructor an Open.
func Opens[S Session](open func(context.Context, string, string) (S, error)) Open {
	return func(ctx context.Context, host, password string) (Session, error) {
		s, err := open(ctx, host, password)
		if err != nil {
			return nil, err // and not a nil within an interface that is not nil
		}
		return s, nil
	}
}
