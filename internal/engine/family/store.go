package family

import (
	"cmp"
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"time"

	driver "github.com/go-sql-driver/mysql"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

const (
	storeDialTimeout = 2 * time.Second
	// connectionLifetime is short enough that connections spread again over replicas that came back, and long enough
	// that reconnecting is not what is measured.
	connectionLifetime = 5 * time.Minute
	// readTimeoutMargin is what the driver grants a read beyond the request's own timeout. Only connections that the
	// pool opens on its own, without a request, run into it.
	readTimeoutMargin = time.Second
)

// questionHostname is a query that yields the server's name.
const questionHostname = "SELECT @@hostname"

// Store is the app's queries.
type Store struct {
	writes, reads *sql.DB
	notSent       []uint16 // see wire.SocialConfig
	refusals      Refusals
}

// NewStore returns a store with a pool for each endpoint of cfg. It opens no connection yet. Close it after use.
func NewStore(cfg wire.SocialConfig, password string, refusals Refusals) (*Store, error) {
	return newStore(cfg, password, questionHostname, refusals)
}

func newStore(cfg wire.SocialConfig, password, question string, refusals Refusals) (*Store, error) {
	writes, err := newPool(cfg, cfg.Writes, password, question)
	if err != nil {
		return nil, err
	}
	reads, err := newPool(cfg, cfg.Reads, password, question)
	if err != nil {
		return nil, err
	}
	return &Store{writes: writes, reads: reads, notSent: cfg.NotSent, refusals: refusals}, nil
}

func newPool(cfg wire.SocialConfig, endpoint wire.Endpoint, password, question string) (*sql.DB, error) {
	timeout := time.Duration(cfg.RequestTimeoutMilliseconds)*time.Millisecond + readTimeoutMargin
	app := Account{Name: wire.AccountApp, Password: password, Address: EndpointAddress(endpoint), Database: wire.Database}
	connector, err := app.Connector(func(c *driver.Config) {
		c.Timeout, c.ReadTimeout, c.WriteTimeout = storeDialTimeout, timeout, timeout
		c.ClientFoundRows = true   // an update that changes nothing has found its row
		c.InterpolateParams = true // one round trip a statement: over a distance it is the round trips that are measured
	})
	if err != nil {
		return nil, err
	}
	pool := sql.OpenDB(nodeConnector{Connector: connector, question: question})
	pool.SetMaxOpenConns(cfg.MaxConnections)
	pool.SetMaxIdleConns(cfg.MaxConnections)
	pool.SetConnMaxLifetime(connectionLifetime)
	return pool, nil
}

// Collectors are the figures of the connection pools (go_sql_*, label db_name: writes and reads).
func (s *Store) Collectors() []prometheus.Collector {
	return []prometheus.Collector{collectors.NewDBStatsCollector(s.writes, "writes"), collectors.NewDBStatsCollector(s.reads, "reads")}
}

// Close closes all connections.
func (s *Store) Close() error { return errors.Join(s.writes.Close(), s.reads.Close()) }

// Ping does as social.Store says.
func (s *Store) Ping(ctx context.Context) error { return s.writes.PingContext(ctx) }

// Register does as social.Store says with one autocommitted INSERT: one write is one transaction, which the audit counts on.
func (s *Store) Register(ctx context.Context, u engine.NewUser) (uint64, string, error) {
	result, node, err := s.write(ctx, `INSERT INTO `+wire.UsersTable+`
(write_id, first_name, last_name, birthdate, biography, city, password) VALUES (?, ?, ?, ?, ?, ?, ?)`,
		u.WriteID, u.FirstName, u.LastName, sql.NullString{String: u.Birthdate, Valid: u.Birthdate != ""},
		u.Biography, u.City, string(u.PasswordHash))
	if err != nil {
		return 0, node, fmt.Errorf("insert the user: %w", err)
	}
	id, err := result.LastInsertId()
	return uint64(id), node, err
}

// Update does as social.Store says.
func (s *Store) Update(ctx context.Context, userID uint64, biography string) (string, error) {
	result, node, err := s.write(ctx, `UPDATE `+wire.UsersTable+` SET biography = ? WHERE id = ?`, biography, userID)
	if err != nil {
		return node, fmt.Errorf("update user %d: %w", userID, err)
	}
	if found, err := result.RowsAffected(); err != nil || found == 0 {
		return node, cmp.Or(err, engine.ErrNoUser)
	}
	return node, nil
}

// Probe does as social.Store says.
func (s *Store) Probe(ctx context.Context, id uint64, payload []byte) (string, error) {
	if payload == nil {
		payload = []byte{} // the column is NOT NULL
	}
	_, node, err := s.write(ctx, `INSERT INTO `+wire.ProbeTable+` (id, payload) VALUES (?, ?)`, id, payload)
	if err != nil {
		return node, fmt.Errorf("insert the probe's row: %w", err)
	}
	return node, nil
}

// write executes one statement on one connection, at most once. database/sql would send a statement again on another
// connection when the driver calls the first one bad; taking the connection beforehand leaves it nothing to repeat.
func (s *Store) write(ctx context.Context, query string, args ...any) (sql.Result, string, error) {
	conn, err := s.writes.Conn(ctx)
	if err != nil {
		return nil, "", &engine.Rejection{Reason: wire.RejectedNotSent, Err: fmt.Errorf("no connection to the write endpoint: %w", err)}
	}
	defer conn.Close()
	node := nodeOf(conn)
	result, err := conn.ExecContext(ctx, query, args...)
	if err == nil {
		return result, node, nil
	}
	err = s.refusals.Rejection(err, s.notSent)
	var r *engine.Rejection
	if errors.As(err, &r) && r.Reason == wire.RejectedReadOnly {
		// The server is no primary any more: let the next request find the one that is. The driver could do this
		// itself (RejectReadOnly), but would report a bad connection and so hide the reason.
		discard(conn)
	}
	return nil, answeredBy(node, err), err
}

// Profile does as social.Store says.
func (s *Store) Profile(ctx context.Context, userID uint64) (wire.Profile, string, error) {
	found, node, err := s.profiles(ctx, `WHERE id = ?`, userID)
	switch {
	case err != nil:
		return wire.Profile{}, node, fmt.Errorf("read user %d: %w", userID, err)
	case len(found) == 0:
		return wire.Profile{}, node, engine.ErrNoUser
	}
	return found[0], node, nil
}

// Search does as social.Store says.
func (s *Store) Search(ctx context.Context, first, last string) ([]wire.Profile, string, error) {
	found, node, err := s.profiles(ctx, searchIndex(last)+` WHERE last_name LIKE ? ESCAPE '|' AND first_name LIKE ? ESCAPE '|' ORDER BY id LIMIT ?`,
		likePrefix(last), likePrefix(first), wire.SearchLimit)
	if err != nil {
		return nil, node, fmt.Errorf("search users: %w", err)
	}
	return found, node, nil
}

// searchIndex pins the plan of a search by last name. By its statistics of the moment the optimizer may read the whole table by id instead:
// 200 ms instead of 4 in a table of 300,000, and two runs would then compare statistics.
func searchIndex(last string) string {
	if last == "" {
		return ""
	}
	return "FORCE INDEX (name)"
}

// likePrefix is the LIKE pattern, with | as its escape, of everything that begins with s.
func likePrefix(s string) string { return likeEscape.Replace(s) + "%" }

var likeEscape = strings.NewReplacer("|", "||", "%", "|%", "_", "|_")

func (s *Store) profiles(ctx context.Context, where string, args ...any) ([]wire.Profile, string, error) {
	found := []wire.Profile{}
	query := `SELECT id, first_name, last_name, birthdate, biography, city FROM ` + wire.UsersTable + ` ` + where
	node, err := s.read(ctx, query, args, func(rows *sql.Rows) error {
		var p wire.Profile
		var birthdate sql.NullString
		if err := rows.Scan(&p.ID, &p.FirstName, &p.LastName, &birthdate, &p.Biography, &p.City); err != nil {
			return err
		}
		p.Birthdate = birthdate.String
		found = append(found, p)
		return nil
	})
	return found, node, err
}

// PasswordHash does as social.Store says.
func (s *Store) PasswordHash(ctx context.Context, userID uint64) ([]byte, string, error) {
	var hash []byte
	node, err := s.read(ctx, `SELECT password FROM `+wire.UsersTable+` WHERE id = ?`, []any{userID}, func(rows *sql.Rows) error {
		return rows.Scan(&hash)
	})
	switch {
	case err != nil:
		return nil, node, fmt.Errorf("read the password of user %d: %w", userID, err)
	case hash == nil:
		return nil, node, engine.ErrNoUser
	}
	return hash, node, nil
}

// read runs a query on one connection of the read pool and hands each row to scan.
func (s *Store) read(ctx context.Context, query string, args []any, scan func(*sql.Rows) error) (string, error) {
	conn, err := s.reads.Conn(ctx)
	if err != nil {
		return "", fmt.Errorf("no connection to the read endpoint: %w", err)
	}
	defer conn.Close()
	node := nodeOf(conn)
	rows, err := conn.QueryContext(ctx, query, args...)
	if err != nil {
		return answeredBy(node, err), err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return node, err
		}
	}
	return answeredBy(node, rows.Err()), rows.Err()
}

// answeredBy returns node if it answered, be it with a refusal, and "" otherwise.
func answeredBy(node string, err error) string {
	var refusal *driver.MySQLError
	if err == nil || errors.As(err, &refusal) {
		return node
	}
	return ""
}

// driverConn is every interface of the MySQL driver's connection that database/sql looks for. A wrapper that hid one would change the app
// silently: without SessionResetter, dead connections would be found only in use.
type driverConn interface {
	sqldriver.Conn
	sqldriver.ConnBeginTx
	sqldriver.ConnPrepareContext
	sqldriver.ExecerContext
	sqldriver.NamedValueChecker
	sqldriver.Pinger
	sqldriver.QueryerContext
	sqldriver.SessionResetter
	sqldriver.Validator
}

// nodeConn is a connection that knows which server is behind it.
type nodeConn struct {
	driverConn
	node string
}

// nodeConnector asks each new connection once for the server's name, so that an answer can say which server gave it:
// through a proxy, the address does not.
type nodeConnector struct {
	sqldriver.Connector
	question string // a query that yields the server's name in one row of one column
}

// Connect opens a connection and asks it.
func (c nodeConnector) Connect(ctx context.Context) (sqldriver.Conn, error) {
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

func ask(ctx context.Context, conn sqldriver.QueryerContext, question string) (string, error) {
	rows, err := conn.QueryContext(ctx, question, nil)
	if err != nil {
		return "", err
	}
	row := make([]sqldriver.Value, 1)
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
	_ = conn.Raw(func(any) error { return sqldriver.ErrBadConn })
}
