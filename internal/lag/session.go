package lag

import (
	"context"
	"database/sql/driver"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/go-sql-driver/mysql"

	"replab.dev/internal/wire"
)

// session is one connection of the MySQL driver without database/sql's pool around it: the probe must know which
// connection a statement runs on, and may not have it sent again on another.
type session struct {
	conn driver.Conn
}

// dial opens a session. Its answers must come within readTimeout, each.
func dial(ctx context.Context, address, password string, readTimeout time.Duration, log *slog.Logger) (*session, error) {
	c := mysql.NewConfig()
	c.User, c.Passwd, c.Net, c.Addr, c.DBName = wire.AccountProbe, password, "tcp", address, wire.Database
	c.MultiStatements = true
	c.Timeout, c.ReadTimeout, c.WriteTimeout = dialTimeout, readTimeout, dialTimeout
	c.ConnectionAttributes = "program_name:replab-lag"
	c.Logger = driverLog{log}
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return nil, fmt.Errorf("configure a session on %s: %w", address, err)
	}
	conn, err := connector.Connect(ctx)
	if err != nil {
		return nil, fmt.Errorf("connect to %s as %s: %w", address, wire.AccountProbe, err)
	}
	return &session{conn}, nil
}

// close cannot fail in a way that matters: the connection is given up.
func (s *session) close() { _ = s.conn.Close() }

// exec runs statements in one round trip.
func (s *session) exec(statements string) error {
	_, err := s.conn.(driver.ExecerContext).ExecContext(context.Background(), statements, nil)
	return err
}

// row returns the columns of a query's only row as text, nil for NULL.
func (s *session) row(query string, columns int) ([]*string, error) {
	rows, err := s.conn.(driver.QueryerContext).QueryContext(context.Background(), query, nil)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	values := make([]driver.Value, columns)
	if err := rows.Next(values); err != nil {
		return nil, err
	}
	out := make([]*string, columns)
	for i, v := range values {
		out[i] = text(v)
	}
	return out, nil
}

func text(v driver.Value) *string {
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

// driverLog takes the driver's own messages, which repeat an error that the session returns as well.
type driverLog struct{ log *slog.Logger }

func (l driverLog) Print(v ...any) { l.log.Debug("MySQL driver", "message", fmt.Sprint(v...)) }
