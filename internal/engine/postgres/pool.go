package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"replab.dev/internal/wire"
)

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
