package postgres

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"replab.dev/internal/wire"
)

// questionNode is a query that yields the node's name: see the function in the schema.
const questionNode = "SELECT replab_node()"

// account is who connects where.
type account struct {
	name, password string
	endpoint       wire.Endpoint // Host is a folder for a unix socket
	database       string
	program        string // by which the server's lists name the connection
}

// config is how to connect. dial bounds the connection alone, whole the greetings as well.
func (a account) config(dial, whole time.Duration) (*pgx.ConnConfig, error) {
	c, err := pgx.ParseConfig("host=localhost user=nobody dbname=none sslmode=disable target_session_attrs=any")
	if err != nil {
		return nil, fmt.Errorf("configure the connections of %s to %s: %w", a.name, a.endpoint.Host, err)
	}
	c.Host, c.Port, c.Fallbacks = a.endpoint.Host, uint16(a.endpoint.Port), nil
	c.User, c.Password, c.Database = a.name, a.password, a.database
	c.ConnectTimeout = whole
	c.DialFunc = (&net.Dialer{Timeout: dial}).DialContext
	c.RuntimeParams = map[string]string{"application_name": a.program, "client_encoding": "UTF8"} // and none of the environment's
	c.OnNotice = noteWarning
	return c, nil
}

// connect opens a session without a pool.
func (a account) connect(ctx context.Context, timeout time.Duration) (*pgconn.PgConn, error) {
	c, err := a.config(timeout, timeout)
	if err != nil {
		return nil, err
	}
	return pgconn.ConnectConfig(ctx, &c.Config)
}

// nodeEndpoint is the server of a node, whose host may name a port.
func nodeEndpoint(host string) (wire.Endpoint, error) {
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		return wire.Endpoint{Host: host, Port: Port}, nil
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return wire.Endpoint{}, fmt.Errorf("the port of %s: %w", host, err)
	}
	return wire.Endpoint{Host: name, Port: int(n)}, nil
}

// probe is the account of the instruments on the server of a node.
func probe(host, password, program string) (account, error) {
	e, err := nodeEndpoint(host)
	return account{name: wire.AccountProbe, password: password, endpoint: e, database: wire.Database, program: program}, err
}

// warning is the key of a connection's last warning among its custom data.
const warning = "warning"

// noteWarning keeps a warning for whoever waits for an answer on the connection. The driver calls it in the goroutine that reads the
// answer, before it returns what follows.
func noteWarning(c *pgconn.PgConn, n *pgconn.Notice) {
	if n.SeverityUnlocalized == "WARNING" {
		c.CustomData()[warning] = n
	}
}

// forgetWarning makes a later lastWarning one of what follows.
func forgetWarning(c *pgconn.PgConn) { delete(c.CustomData(), warning) }

// lastWarning is nil when the server gave none.
func lastWarning(c *pgconn.PgConn) *pgconn.Notice {
	n, _ := c.CustomData()[warning].(*pgconn.Notice)
	return n
}

// texts are the parameters of a statement as the server reads them.
func texts(values ...string) [][]byte {
	all := make([][]byte, len(values))
	for i, v := range values {
		all[i] = []byte(v)
	}
	return all
}

// rows runs statements that know no parameters in one round trip, and returns the rows of the last one.
func rows(ctx context.Context, c *pgconn.PgConn, statements string) ([][][]byte, error) {
	results, err := c.Exec(ctx, statements).ReadAll()
	if err != nil {
		return nil, err
	}
	return results[len(results)-1].Rows, nil
}

// scan runs statements that know no parameters in one round trip, and scans the only row of the last one.
func scan(ctx context.Context, c *pgconn.PgConn, statements string, into ...any) error {
	results, err := c.Exec(ctx, statements).ReadAll()
	if err != nil {
		return err
	}
	return scanRow(results[len(results)-1], into...)
}

// scanRow scans the only row of a result.
func scanRow(r *pgconn.Result, into ...any) error {
	if r.Err == nil && len(r.Rows) != 1 {
		return fmt.Errorf("the server answered with %d rows instead of one", len(r.Rows))
	}
	if r.Err != nil {
		return r.Err
	}
	return pgx.ScanRow(pgtype.NewMap(), r.FieldDescriptions, r.Rows[0], into...)
}
