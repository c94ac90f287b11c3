package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"replab.dev/internal/wire"
)

// questionNode is a query that yields the node's name: see the function in the schema.
const questionNode = "SELECT replab_node()"

// account names a user and the server that he connects to.
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
	c.RuntimeParams = map[string]string{"application_name": a.program, "client_encoding": "UTF8"} // and not the environment's
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

// noteWarning keeps a warning for the statement under way. The driver calls it in the goroutine that reads the
// answer, before it returns what follows.
func noteWarning(c *pgconn.PgConn, n *pgconn.Notice) {
	if n.SeverityUnlocalized == "WARNING" {
		c.CustomData()[warning] = n
	}
}

// forgetWarning makes a later lastWarning one of what follows.
func forgetWarning(c *pgconn.PgConn) { delete(c.CustomData(), warning) }

// lastWarning is nil without a warning.
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

const (
	storeDialTimeout = 2 * time.Second
	// connectionLifetime is short enough that connections spread again over replicas that came back, and long enough
	// that reconnecting is not what is measured.
	connectionLifetime = 5 * time.Minute
	// forever is longer than any run: connections are not closed for being idle.
	forever = 365 * 24 * time.Hour
)

// node is the key of the server's name among a connection's custom data.
const node = "node"

// nodeOf names the server behind a connection of a pool.
func nodeOf(c *pgconn.PgConn) string {
	name, _ := c.CustomData()[node].(string)
	return name
}

// newPool makes a pool of connections that have some statements prepared and know their server's name: through a proxy, the address does
// not tell.
func newPool(cfg wire.SocialConfig, endpoint wire.Endpoint, password, prepare string) (*pgxpool.Pool, error) {
	// A connection that a request waits for is made on, without the request's deadline, when the request has given up.
	greeting := storeDialTimeout + time.Duration(cfg.RequestTimeoutMilliseconds)*time.Millisecond
	app := account{name: wire.AccountApp, password: password, endpoint: endpoint, database: wire.Database, program: "replab-social"}
	conn, err := app.config(storeDialTimeout, greeting)
	if err != nil {
		return nil, err
	}
	c, err := pgxpool.ParseConfig("host=localhost user=nobody dbname=none sslmode=disable")
	if err != nil {
		return nil, fmt.Errorf("configure the pool of connections to %s: %w", endpoint.Host, err)
	}
	c.ConnConfig = conn
	c.MaxConns, c.MinConns, c.MinIdleConns = int32(cfg.MaxConnections), 0, 0
	c.MaxConnLifetime, c.MaxConnLifetimeJitter, c.MaxConnIdleTime = connectionLifetime, 0, forever
	c.AfterConnect = func(ctx context.Context, opened *pgx.Conn) error {
		ctx, cancel := context.WithTimeout(ctx, greeting)
		defer cancel()
		var name string
		if err := scan(ctx, opened.PgConn(), prepare+questionNode, &name); err != nil {
			return fmt.Errorf("ask a new connection for its server's name: %w", err)
		}
		opened.PgConn().CustomData()[node] = name
		return nil
	}
	// The pool's own way is a ping after a second of idleness: a round trip more, which would be measured.
	c.ShouldPing = func(context.Context, pgxpool.ShouldPingParams) bool { return false }
	c.PrepareConn = func(_ context.Context, idle *pgx.Conn) (bool, error) { return quiet(idle.PgConn().Conn()), nil }
	return pgxpool.NewWithConfig(context.Background(), c)
}

// quiet looks, without a round trip, whether a server has ended an idle connection. One that says something of its own accord is about to.
func quiet(c net.Conn) bool {
	socket, ok := c.(syscall.Conn)
	if !ok {
		return true
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return false
	}
	nothing := false
	err = raw.Control(func(fd uintptr) { // not Read, which would wait for a reader that the driver leaves behind after a slow write
		var b [1]byte
		_, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		nothing = errors.Is(err, syscall.EAGAIN)
	})
	return err == nil && nothing
}

// release gives a connection back. One that failed leaves the pool at once: the driver takes up to 15 s to cancel what may run on it and to
// end it in order, and its place would be taken for so long, all places for servers that hang.
func release(conn *pgxpool.Conn) {
	if conn.Conn().IsClosed() {
		conn.Hijack()
		return
	}
	conn.Release()
}

// poolCollector has the figures of one pool.
type poolCollector struct {
	pool *pgxpool.Pool
	name string
}

// figures of a pool, in the words of the driver.
var figures = []struct {
	name, help string
	kind       prometheus.ValueType
	of         func(*pgxpool.Stat) float64
}{
	{"max_connections", "Maximum number of connections.", prometheus.GaugeValue, func(s *pgxpool.Stat) float64 { return float64(s.MaxConns()) }},
	{"open_connections", "Connections in use, idle, and being made.", prometheus.GaugeValue, func(s *pgxpool.Stat) float64 { return float64(s.TotalConns()) }},
	{"in_use_connections", "Connections in use.", prometheus.GaugeValue, func(s *pgxpool.Stat) float64 { return float64(s.AcquiredConns()) }},
	{"idle_connections", "Idle connections.", prometheus.GaugeValue, func(s *pgxpool.Stat) float64 { return float64(s.IdleConns()) }},
	{"wait_count_total", "Acquisitions that had to wait for a connection.", prometheus.CounterValue, func(s *pgxpool.Stat) float64 { return float64(s.EmptyAcquireCount()) }},
	{"wait_duration_seconds_total", "How long these waited.", prometheus.CounterValue, func(s *pgxpool.Stat) float64 { return s.EmptyAcquireWaitTime().Seconds() }},
	{"new_connections_total", "Connections made.", prometheus.CounterValue, func(s *pgxpool.Stat) float64 { return float64(s.NewConnsCount()) }},
}

func (p poolCollector) desc(i int) *prometheus.Desc {
	return prometheus.NewDesc("pgxpool_"+figures[i].name, figures[i].help, nil, prometheus.Labels{"db_name": p.name})
}

// Describe implements prometheus.Collector.
func (p poolCollector) Describe(into chan<- *prometheus.Desc) {
	for i := range figures {
		into <- p.desc(i)
	}
}

// Collect implements prometheus.Collector.
func (p poolCollector) Collect(into chan<- prometheus.Metric) {
	stat := p.pool.Stat()
	for i, f := range figures {
		into <- prometheus.MustNewConstMetric(p.desc(i), f.kind, f.of(stat))
	}
}
