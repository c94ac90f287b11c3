package family

import (
	"context"
	"crypto/rand"
	sqldriver "database/sql/driver"
	"fmt"
	"strconv"
	"time"

	driver "github.com/go-sql-driver/mysql"

	"replab.dev/internal/wire"
)

// Limits of the lag probe's sessions.
const (
	LagDialTimeout  = time.Second
	LagWriteTimeout = 5 * time.Second // then a write counts as discarded: its server is gone, or waits for a replica
	LagReadMargin   = time.Second     // what a watcher's answer may take beyond its wait
)

// LagSession is one connection of the driver without database/sql's pool around it: the lag probe must know which
// connection a statement runs on, and may not have it sent again on another.
type LagSession struct {
	conn sqldriver.Conn
}

// DialLag opens a session. Its answers must come within readTimeout, each.
func DialLag(ctx context.Context, address, password string, readTimeout time.Duration) (*LagSession, error) {
	probe := Account{Name: wire.AccountProbe, Password: password, Address: address, Database: wire.Database}
	connector, err := probe.Connector(func(c *driver.Config) {
		c.MultiStatements = true
		c.Timeout, c.ReadTimeout, c.WriteTimeout = LagDialTimeout, readTimeout, LagDialTimeout
		c.ConnectionAttributes = "program_name:replab-lag"
	})
	if err != nil {
		return nil, err
	}
	conn, err := connector.Connect(ctx)
	if err != nil {
		return nil, fmt.Errorf("connect to %s as %s: %w", address, wire.AccountProbe, err)
	}
	return &LagSession{conn}, nil
}

// Close gives the connection up.
func (s *LagSession) Close() error { return s.conn.Close() }

// Exec runs statements in one round trip.
func (s *LagSession) Exec(statements string) error {
	_, err := s.conn.(sqldriver.ExecerContext).ExecContext(context.Background(), statements, nil)
	return err
}

// Row returns the columns of a query's only row as text, nil for NULL.
func (s *LagSession) Row(query string, columns int) ([]*string, error) {
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

// RandomText is random and needs no escaping in a literal: nothing on the way can compress it by more than a quarter.
func RandomText(bytes int64) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	b := make([]byte, bytes)
	_, _ = rand.Read(b) // never fails
	for i := range b {
		b[i] = letters[b[i]%64]
	}
	return string(b)
}
