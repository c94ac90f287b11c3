package mysql

import (
	"context"
	sqldriver "database/sql/driver"
	"fmt"
	"strconv"
	"time"

	driver "github.com/go-sql-driver/mysql"

	"replab.dev/internal/wire"
)

// lagSession is one connection of the driver without database/sql's pool around it: the lag probe must know which
// connection a statement runs on, and may not have it sent again on another.
type lagSession struct {
	conn sqldriver.Conn
}

// dialLag opens a session. Its answers must come within readTimeout, each.
func dialLag(ctx context.Context, address, password string, readTimeout time.Duration) (*lagSession, error) {
	probe := account{name: wire.AccountProbe, password: password, address: address, database: wire.Database}
	connector, err := probe.connector(func(c *driver.Config) {
		c.MultiStatements = true
		c.Timeout, c.ReadTimeout, c.WriteTimeout = lagDialTimeout, readTimeout, lagDialTimeout
		c.ConnectionAttributes = "program_name:replab-lag"
	})
	if err != nil {
		return nil, err
	}
	conn, err := connector.Connect(ctx)
	if err != nil {
		return nil, fmt.Errorf("connect to %s as %s: %w", address, wire.AccountProbe, err)
	}
	return &lagSession{conn}, nil
}

// Close gives the connection up.
func (s *lagSession) Close() error { return s.conn.Close() }

// exec runs statements in one round trip.
func (s *lagSession) exec(statements string) error {
	_, err := s.conn.(sqldriver.ExecerContext).ExecContext(context.Background(), statements, nil)
	return err
}

// row returns the columns of a query's only row as text, nil for NULL.
func (s *lagSession) row(query string, columns int) ([]*string, error) {
	rows, err := s.conn.(sqldriver.QueryerContext).QueryContext(context.Background(), query, nil)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	values := make([]sqldriver.Value, columns)
	if err := rows.Next(values); err != nil {
		return nil, err
	}
	out := make([]*string, columns)
	for i, v := range values {
		out[i] = text(v)
	}
	return out, nil
}

func text(v sqldriver.Value) *string {
	var s string
	switch v := v.(type) {
	case nil:
		return nil
	case []byte:
		s = string(v)
	case int64:
		s = strconv.FormatInt(v, 10)
	default:
		s = fmt.Sprint(v)
	}
	return &s
}
