package postgres

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

var (
	_ engine.Local      = Server{}
	_ engine.Positioned = &Client{}
)

// clientTimeout bounds a connection, and the end of one.
const clientTimeout = time.Second

// Client implements engine.Client. Each of its questions has a connection of its own, so questions do not wait for each other.
type Client struct{ writable, replication, position *session }

// Client implements engine.Local.
func (Server) Client(socket, password string) (engine.Client, error) {
	port, err := strconv.ParseUint(strings.TrimPrefix(filepath.Ext(socket), "."), 10, 16)
	if err != nil {
		return nil, fmt.Errorf("the server's socket %q does not end in its port: %w", socket, err)
	}
	a := account{
		name: wire.AccountAdmin, password: password, endpoint: wire.Endpoint{Host: filepath.Dir(socket), Port: int(port)},
		database: "postgres", program: "replab-agent",
	}
	return &Client{newSession(a), newSession(a), newSession(a)}, nil
}

// Writable implements engine.Client.
func (c *Client) Writable(ctx context.Context) (bool, error) {
	var writable bool
	err := c.writable.ask(ctx, "SELECT NOT pg_is_in_recovery() AND current_setting('default_transaction_read_only') = 'off'", &writable)
	return writable, err
}

// Replication implements engine.Client.
func (c *Client) Replication(ctx context.Context) (engine.Replication, error) {
	var standby, paused bool
	err := c.replication.ask(ctx, "SELECT pg_is_in_recovery(), CASE WHEN pg_is_in_recovery() THEN pg_is_wal_replay_paused() ELSE false END", &standby, &paused)
	if err != nil || !standby {
		return engine.Replication{}, err
	}
	if paused {
		return engine.Replication{LastError: "its replay is paused"}, nil
	}
	return engine.Replication{Applies: true}, nil
}

// where a server is in its log, at one moment as far as one statement sees one. A writer's functions are errors on a standby.
const where = `SELECT NOT standby, CASE WHEN standby THEN coalesce(received_tli, 0)
  ELSE ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int END,
 CASE WHEN standby THEN 0 ELSE pg_current_wal_flush_lsn() - '0/0'::pg_lsn END,
 CASE WHEN standby THEN coalesce(pg_last_wal_receive_lsn() - '0/0'::pg_lsn, 0) ELSE 0 END,
 CASE WHEN standby THEN coalesce(pg_last_wal_replay_lsn() - '0/0'::pg_lsn, 0) ELSE 0 END,
 standby AND coalesce(status = 'streaming', false), coalesce(sender_host, ''),
 current_setting('synchronous_standby_names') <> '', current_setting('default_transaction_read_only') = 'off'
FROM (SELECT pg_is_in_recovery() AS standby) AS server LEFT JOIN pg_stat_wal_receiver ON standby`

// Position implements engine.Positioned.
func (c *Client) Position(ctx context.Context) (engine.ServerPosition, error) {
	return askWhere(ctx, c.position, where)
}

// askWhere runs a query whose last columns are those of where.
func askWhere(ctx context.Context, s *session, query string, before ...any) (engine.ServerPosition, error) {
	var p engine.ServerPosition
	var open bool
	err := s.ask(ctx, query, append(before, &p.Writable, &p.Timeline, &p.Written, &p.Received, &p.Applied, &p.Streaming, &p.Upstream, &p.Waits, &open)...)
	if err != nil {
		return engine.ServerPosition{}, err
	}
	p.Writable = p.Writable && open
	return p, nil
}

// Fence implements engine.Client.
func (*Client) Fence(context.Context) error {
	return errors.New("a server of PostgreSQL is fenced by its manager alone, and takes no leases")
}

// Close implements engine.Client.
func (c *Client) Close() error {
	return errors.Join(c.writable.close(), c.replication.close(), c.position.close())
}

// session is one connection at a time. It is made when it is needed.
type session struct {
	account account
	turn    chan struct{} // full while somebody uses conn
	conn    *pgconn.PgConn
}

func newSession(a account) *session { return &session{account: a, turn: make(chan struct{}, 1)} }

// ask runs a query that has one row, and scans that.
func (s *session) ask(ctx context.Context, query string, into ...any) error {
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-s.turn }()
	if s.conn == nil || s.conn.IsClosed() {
		conn, err := s.account.connect(ctx, clientTimeout)
		if err != nil {
			return err
		}
		s.conn = conn
	}
	return scan(ctx, s.conn, query, into...)
}

// close ends the connection, once no question uses it.
func (s *session) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), clientTimeout)
	defer cancel()
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("close the connection to the server: %w", ctx.Err())
	}
	defer func() { <-s.turn }()
	if s.conn == nil {
		return nil
	}
	return s.conn.Close(ctx)
}

// Remote implements engine.RemoteClient.
type Remote struct {
	account  account
	position *session
}

// RemoteClient implements engine.ManagedLocal. An administrator has a database of its own name, or the server's first one.
func (Server) RemoteClient(server wire.Endpoint, name, password string) engine.RemoteClient {
	a := account{name: name, password: password, endpoint: server, database: "postgres", program: "replab-agent"}
	return &Remote{account: a, position: newSession(a)}
}

// runAndWhere is where, behind when the server was started.
const runAndWhere = `SELECT extract(epoch FROM pg_postmaster_start_time())::text, position.* FROM (` + where + `) AS position`

// RunAndPosition implements engine.RemoteClient.
func (r *Remote) RunAndPosition(ctx context.Context) (string, engine.ServerPosition, error) {
	var run string
	p, err := askWhere(ctx, r.position, runAndWhere, &run)
	if errors.Is(err, syscall.ECONNREFUSED) {
		err = engine.ErrNoServer
	}
	return run, p, err
}

// Furnish implements engine.RemoteClient. Each part is there or not as a whole, so that it can be taken up anywhere.
func (r *Remote) Furnish(ctx context.Context, password func(account string) (string, error)) error {
	server, database, err := firstStatements(password)
	if err != nil {
		return err
	}
	if err := r.furnish(ctx, "postgres", server); err != nil {
		return err
	}
	return r.furnish(ctx, wire.Database, []part{database})
}

// furnish makes the missing parts. Its writes wait for no standby, since there may be no standby yet. Passwords get into no log: see quietly.
func (r *Remote) furnish(ctx context.Context, database string, parts []part) error {
	a := r.account
	a.database = database
	conn, err := a.connect(ctx, clientTimeout)
	if err != nil {
		return fmt.Errorf("connect to database %s: %w", database, err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if _, err := rows(ctx, conn, quietly+"SET synchronous_commit = local"); err != nil {
		return fmt.Errorf("set up the connection to database %s: %w", database, err)
	}
	for _, p := range parts {
		there, err := rows(ctx, conn, p.there)
		if err != nil {
			return fmt.Errorf("look for %s: %w", p.what, err)
		}
		if len(there) > 0 {
			continue
		}
		if _, err := conn.Exec(ctx, p.statements).ReadAll(); err != nil {
			return fmt.Errorf("make %s: %w", p.what, err)
		}
	}
	return nil
}

// Close implements engine.RemoteClient.
func (r *Remote) Close() error { return r.position.close() }
