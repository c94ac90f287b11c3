package audit

import (
	"context"
	"fmt"
)

// engine reaches the nodes of one kind of database.
type engine interface {
	// connect returns a session with the server at a node's host, which has answered a query.
	connect(ctx context.Context, host, password string) (session, error)
}

// session reads one node.
type session interface {
	// begin fixes the snapshot that count and scan read, where the engine has one.
	begin(ctx context.Context) error
	// count returns the rows of a table, counted by the server.
	count(ctx context.Context, table string) (int64, error)
	// scan visits the values of an id column of all rows in any order; null stands for a row that has none.
	scan(ctx context.Context, c column, visit func(id uint64, null bool) error) error
	// executed names the transactions that the node has executed, in the engine's own notation.
	executed(ctx context.Context) (string, error)
	// unexecuted counts the transactions among others, which executed of another node returned, that this node has not.
	unexecuted(ctx context.Context, others string) (int64, error)
	close()
}

// column is a column of ids with an index on it.
type column struct {
	table, name, index string
}

// engineOf returns the engine of an AuditConfig.
func engineOf(name string) (engine, error) {
	switch name {
	case "MySQL":
		return mysqlEngine{}, nil
	default:
		return nil, fmt.Errorf("engine %q: the audit can read MySQL only", name)
	}
}
