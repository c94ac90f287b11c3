package family

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	driver "github.com/go-sql-driver/mysql"

	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

// Port is where the family's servers listen for clients, unless they are given another one.
const Port = 3306

// Account names a user and the server that he connects to, by host:port or by the path of a unix socket.
type Account struct {
	Name, Password, Address string
	Database                string // may be empty
}

// Connector returns what opens connections for an account; change sets what differs from the driver's defaults. The
// driver's own log is off: every error is returned as well.
func (a Account) Connector(change func(*driver.Config)) (sqldriver.Connector, error) {
	c := driver.NewConfig()
	c.User, c.Passwd, c.DBName = a.Name, a.Password, a.Database
	c.Net, c.Addr = "tcp", a.Address
	if strings.HasPrefix(a.Address, "/") {
		c.Net = "unix"
	}
	c.Logger = &driver.NopLogger{}
	change(c)
	connector, err := driver.NewConnector(c)
	if err != nil {
		return nil, fmt.Errorf("configure the connections of %s to %s: %w", a.Name, a.Address, err)
	}
	return connector, nil
}

// Pool returns a pool of at most so many connections, which connects when it is used.
func (a Account) Pool(most int, change func(*driver.Config)) (*sql.DB, error) {
	connector, err := a.Connector(change)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(most)
	return db, nil
}

// probe is the account of the instruments on the server of a node.
func probe(host, password string) Account {
	return Account{Name: wire.AccountProbe, Password: password, Address: NodeAddress(host)}
}

// EndpointAddress is host:port of an endpoint.
func EndpointAddress(e wire.Endpoint) string { return net.JoinHostPort(e.Host, strconv.Itoa(e.Port)) }

// NodeAddress adds the port that the nodes' servers have, unless host names another.
func NodeAddress(host string) string {
	if _, _, err := net.SplitHostPort(host); err == nil {
		return host
	}
	return net.JoinHostPort(host, strconv.Itoa(Port))
}

const (
	// dialTimeout bounds the connection to a server that accepts it but is stuck or stopped.
	dialTimeout = time.Second
	// lockWaitSeconds bounds how long a fencing statement waits for commits in progress, such as those that wait for a
	// semi-sync acknowledgement. An abandoned statement could otherwise take effect after the node was opened again.
	lockWaitSeconds = 30
	// killInterval is the time between two looks for the app's connections while the fencing statement waits.
	killInterval = 50 * time.Millisecond
)

// Client implements engine.Client.
type Client struct {
	pool  *sql.DB // for questions
	fresh *sql.DB // a new connection each time, for fencing
	words ClientWords
}

// ClientWords are how an engine is asked and commanded by its agent.
type ClientWords struct {
	Writable    string // a query of whether accounts without special privileges can write
	Replication string // the statement that shows a replica's state
	Applies     string // its column that is Yes while the replica applies
	Fence       string // makes the server read-only
}

// NewClient returns a client that asks the server on a unix socket as the administrator. It connects when it is used.
func NewClient(socket, password string, words ClientWords) (*Client, error) {
	admin := Account{Name: wire.AccountAdmin, Password: password, Address: socket}
	connector, err := admin.Connector(func(c *driver.Config) { c.Timeout = dialTimeout })
	if err != nil {
		return nil, err
	}
	c := &Client{words: words, pool: sql.OpenDB(connector), fresh: sql.OpenDB(connector)}
	c.pool.SetMaxOpenConns(3)
	c.fresh.SetMaxIdleConns(-1)
	return c, nil
}

// Close implements engine.Client.
func (c *Client) Close() error { return errors.Join(c.pool.Close(), c.fresh.Close()) }

// Pool is for an engine's own questions.
func (c *Client) Pool() *sql.DB { return c.pool }

// Writable implements engine.Client.
func (c *Client) Writable(ctx context.Context) (bool, error) {
	var writable bool
	if err := c.pool.QueryRowContext(ctx, c.words.Writable).Scan(&writable); err != nil {
		return false, fmt.Errorf("ask the server whether it is writable: %w", err)
	}
	return writable, nil
}

// Replication implements engine.Client.
func (c *Client) Replication(ctx context.Context) (engine.Replication, error) {
	row, err := QueryOne(ctx, c.pool, c.words.Replication)
	if err != nil {
		return engine.Replication{}, fmt.Errorf("ask the server for its replication: %w", err)
	}
	return c.words.replication(row), nil
}

// replication reads the columns of a replica's state; a server that is no replica has none.
func (w ClientWords) replication(row map[string]string) engine.Replication {
	r := engine.Replication{Applies: row[w.Applies] == "Yes"}
	var failures []string
	for _, column := range []string{"Last_IO_Error", "Last_SQL_Error"} {
		if row[column] != "" {
			failures = append(failures, row[column])
		}
	}
	r.LastError = strings.Join(failures, "; ")
	return r
}

// Fence implements engine.Client. It uses connections of its own: a statement on one that was open already could lie in the socket of a stopped
// server and take effect long after it was given up.
func (c *Client) Fence(ctx context.Context) error {
	setter, err := c.fresh.Conn(ctx)
	if err != nil {
		return fmt.Errorf("connect to fence the server: %w", err)
	}
	defer setter.Close()
	if _, err := setter.ExecContext(ctx, fmt.Sprintf("SET SESSION lock_wait_timeout=%d", lockWaitSeconds)); err != nil {
		return fmt.Errorf("prepare to fence the server: %w", err)
	}
	set := make(chan error, 1)
	go func() {
		_, err := setter.ExecContext(ctx, c.words.Fence)
		set <- err
	}()
	ticker := time.NewTicker(killInterval)
	defer ticker.Stop()
	for {
		select {
		case err := <-set:
			if err != nil {
				return fmt.Errorf("make the server read-only: %w", err)
			}
			return c.killApp(ctx)
		case <-ticker.C:
			// The statement waits for commits in progress. Their clients must not get their acknowledgement now; a failure
			// shows in the call that follows the statement.
			_ = c.killApp(ctx)
		}
	}
}

// killApp ends the connections of the app's account.
func (c *Client) killApp(ctx context.Context) error {
	conn, err := c.fresh.Conn(ctx)
	if err != nil {
		return fmt.Errorf("connect to end the app's connections: %w", err)
	}
	defer conn.Close()
	ids, err := appConnections(ctx, conn)
	if err != nil {
		return fmt.Errorf("list the app's connections: %w", err)
	}
	for _, id := range ids {
		_, err := conn.ExecContext(ctx, fmt.Sprintf("KILL CONNECTION %d", id))
		var gone *driver.MySQLError
		if errors.As(err, &gone) && gone.Number == errNoSuchThread {
			continue
		}
		if err != nil {
			return fmt.Errorf("end the app's connection %d: %w", id, err)
		}
	}
	return nil
}

const errNoSuchThread = 1094

// Querier is a pool or a connection.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// appConnections lists the connection ids of the app's account. SHOW PROCESSLIST works with the performance schema off.
func appConnections(ctx context.Context, q Querier) ([]uint64, error) {
	rows, err := Query(ctx, q, "SHOW PROCESSLIST")
	if err != nil {
		return nil, err
	}
	var ids []uint64
	for _, row := range rows {
		if row["User"] != wire.AccountApp {
			continue
		}
		id, err := strconv.ParseUint(row["Id"], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("connection id %q: %w", row["Id"], err)
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// QueryOne returns the first row, nil without one.
func QueryOne(ctx context.Context, q Querier, statement string) (map[string]string, error) {
	rows, err := Query(ctx, q, statement)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return rows[0], nil
}

// Query returns the rows of a SHOW statement, whose columns differ by version, as texts by column; NULL is empty.
func Query(ctx context.Context, q Querier, statement string) ([]map[string]string, error) {
	rows, err := q.QueryContext(ctx, statement)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	var all []map[string]string
	for rows.Next() {
		values, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		row := make(map[string]string, len(columns))
		for i, c := range columns {
			row[c] = values[i].String
		}
		all = append(all, row)
	}
	return all, rows.Err()
}
