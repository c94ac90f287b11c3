package family

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
)

// driverConn is everything that a connection of the MySQL driver can do and database/sql looks for. A wrapper that hid
// one of these would change the app silently: without SessionResetter, say, connections to a dead server would no longer
// be found out before they are used.
type driverConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.NamedValueChecker
	driver.Pinger
	driver.QueryerContext
	driver.SessionResetter
	driver.Validator
}

// nodeConn is a connection that knows which server is behind it.
type nodeConn struct {
	driverConn
	node string
}

// nodeConnector asks each new connection once for the server's name, so that an answer can say which server gave it:
// through a proxy, the address does not.
type nodeConnector struct {
	driver.Connector
	question string // a query that yields the server's name in one row of one column
}

// Connect opens a connection and asks it.
func (c nodeConnector) Connect(ctx context.Context) (driver.Conn, error) {
	opened, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	conn, ok := opened.(driverConn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("the MySQL driver's connection (%T) lacks an interface of database/sql that it used to have", opened), opened.Close())
	}
	node, err := ask(ctx, conn, c.question)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("ask a new connection for its server's name: %w", err), conn.Close())
	}
	return &nodeConn{driverConn: conn, node: node}, nil
}

func ask(ctx context.Context, conn driver.QueryerContext, question string) (string, error) {
	rows, err := conn.QueryContext(ctx, question, nil)
	if err != nil {
		return "", err
	}
	row := make([]driver.Value, 1)
	if err := rows.Next(row); err != nil {
		return "", errors.Join(err, rows.Close())
	}
	answer := fmt.Sprintf("%s", row[0]) // copies: the driver reuses its buffer
	return answer, rows.Close()
}

// nodeOf names the server behind conn.
func nodeOf(conn *sql.Conn) (node string) {
	_ = conn.Raw(func(c any) error {
		node = c.(*nodeConn).node
		return nil
	})
	return node
}

// discard takes conn out of its pool.
func discard(conn *sql.Conn) {
	_ = conn.Raw(func(any) error { return driver.ErrBadConn })
}
