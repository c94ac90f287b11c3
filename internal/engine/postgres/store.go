package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

// Statements that every connection of a pool has prepared, so that each use is one round trip: over a distance it is the round trips that
// are measured.
const (
	prepareWrites = `PREPARE register AS INSERT INTO ` + wire.UsersTable + `
(write_id, first_name, last_name, birthdate, biography, city, password) VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING id;
PREPARE update (text, bigint) AS UPDATE ` + wire.UsersTable + ` SET biography = $1 WHERE id = $2 RETURNING id;
PREPARE probe AS INSERT INTO ` + wire.ProbeTable + ` (id, payload) VALUES ($1, $2);`
	prepareReads = `PREPARE profile (bigint) AS SELECT ` + profileColumns + ` FROM ` + wire.UsersTable + ` WHERE id = $1;
PREPARE password (bigint) AS SELECT password FROM ` + wire.UsersTable + ` WHERE id = $1;`
	profileColumns = `id, first_name, last_name, to_char(birthdate, 'YYYY-MM-DD'), biography, city`
)

// search is not prepared: it is planned with its values, as only then an index serves the prefix. By a last name it finds before it orders,
// for left alone the planner may read the whole table by id, whenever its statistics of the moment promise 100 matches early on.
func search(last string) string {
	how := "MATERIALIZED"
	if last == "" { // the index does not help
		how = "NOT MATERIALIZED"
	}
	return `WITH found AS ` + how + ` (SELECT * FROM ` + wire.UsersTable + ` WHERE last_name LIKE $1 ESCAPE '|' AND first_name LIKE $2 ESCAPE '|')
SELECT ` + profileColumns + ` FROM found ORDER BY id LIMIT $3`
}

// Store is the app's queries.
type Store struct {
	writes, reads *pgxpool.Pool
}

// NewStore returns a store with a pool for each endpoint of cfg. It opens no connection yet. Close it after use.
func NewStore(cfg wire.SocialConfig, password string) (*Store, error) {
	writes, err := newPool(cfg, cfg.Writes, password, prepareWrites)
	if err != nil {
		return nil, err
	}
	reads, err := newPool(cfg, cfg.Reads, password, prepareReads)
	if err != nil {
		writes.Close()
		return nil, err
	}
	return &Store{writes: writes, reads: reads}, nil
}

// Collectors are the figures of the connection pools (pgxpool_*, label db_name: writes and reads).
func (s *Store) Collectors() []prometheus.Collector {
	return []prometheus.Collector{poolCollector{s.writes, "writes"}, poolCollector{s.reads, "reads"}}
}

// Close closes all connections.
func (s *Store) Close() error {
	s.writes.Close()
	s.reads.Close()
	return nil
}

// Ping does as social.Store says.
func (s *Store) Ping(ctx context.Context) error {
	conn, err := s.writes.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("no connection to the write endpoint: %w", err)
	}
	defer release(conn)
	return conn.Ping(ctx)
}

// Register does as social.Store says with one autocommitted INSERT: one write is one transaction, which the audit counts on.
func (s *Store) Register(ctx context.Context, u engine.NewUser) (uint64, string, error) {
	values := texts("", u.FirstName, u.LastName, u.Birthdate, u.Biography, u.City, string(u.PasswordHash))
	values[0] = nil
	if u.WriteID != nil {
		values[0] = strconv.AppendUint(nil, *u.WriteID, 10)
	}
	if u.Birthdate == "" {
		values[3] = nil
	}
	made, node, err := s.write(ctx, "register", values)
	if err != nil {
		return 0, node, fmt.Errorf("insert the user: %w", err)
	}
	if len(made) != 1 {
		return 0, node, fmt.Errorf("insert the user: the server answered with %d rows", len(made))
	}
	id, err := strconv.ParseUint(string(made[0][0]), 10, 64)
	return id, node, err
}

// Update does as social.Store says.
func (s *Store) Update(ctx context.Context, userID uint64, biography string) (string, error) {
	changed, node, err := s.write(ctx, "update", texts(biography, strconv.FormatUint(userID, 10)))
	switch {
	case err != nil:
		return node, fmt.Errorf("update user %d: %w", userID, err)
	case len(changed) == 0:
		return node, engine.ErrNoUser
	}
	return node, nil
}

// Probe does as social.Store says.
func (s *Store) Probe(ctx context.Context, id uint64, payload []byte) (string, error) {
	values := [][]byte{strconv.AppendUint(nil, id, 10), bytea(payload)}
	_, node, err := s.write(ctx, "probe", values)
	if err != nil {
		return node, fmt.Errorf("insert the probe's row: %w", err)
	}
	return node, nil
}

// bytea is the text of bytes.
func bytea(b []byte) []byte { return fmt.Appendf(nil, `\x%x`, b) }

// write executes one prepared statement on one connection, at most once.
func (s *Store) write(ctx context.Context, statement string, values [][]byte) ([][][]byte, string, error) {
	conn, err := s.writes.Acquire(ctx)
	if err != nil {
		return nil, "", &engine.Rejection{Reason: wire.RejectedNotSent, Err: fmt.Errorf("no connection to the write endpoint: %w", err)}
	}
	defer release(conn)
	c := conn.Conn().PgConn()
	forgetWarning(c)
	result := c.ExecPrepared(ctx, statement, values, nil, nil).Read()
	if warned := lastWarning(c); result.Err == nil && warned != nil {
		return nil, nodeOf(c), notReplicated(warned)
	}
	if result.Err == nil {
		return result.Rows, nodeOf(c), nil
	}
	err = rejection(result.Err)
	var r *engine.Rejection
	if errors.As(err, &r) && r.Reason == wire.RejectedReadOnly {
		_ = c.Close(ctx) // the server is no primary any more: let the next request find the one that is
	}
	return nil, answeredBy(c, err), err
}

// Profile does as social.Store says.
func (s *Store) Profile(ctx context.Context, userID uint64) (wire.Profile, string, error) {
	found, node, err := s.profiles(ctx, prepared("profile", texts(strconv.FormatUint(userID, 10))))
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
	values := texts(likePrefix(last), likePrefix(first), strconv.Itoa(wire.SearchLimit))
	found, node, err := s.profiles(ctx, func(ctx context.Context, c *pgconn.PgConn) *pgconn.ResultReader {
		return c.ExecParams(ctx, search(last), values, nil, nil, nil)
	})
	if err != nil {
		return nil, node, fmt.Errorf("search users: %w", err)
	}
	return found, node, nil
}

// likePrefix is the LIKE pattern, with | as its escape, of everything that begins with s.
func likePrefix(s string) string { return likeEscape.Replace(s) + "%" }

var likeEscape = strings.NewReplacer("|", "||", "%", "|%", "_", "|_")

func (s *Store) profiles(ctx context.Context, ask question) ([]wire.Profile, string, error) {
	read, node, err := s.read(ctx, ask)
	if err != nil {
		return nil, node, err
	}
	found := make([]wire.Profile, len(read))
	for i, r := range read {
		found[i] = wire.Profile{
			ID: string(r[0]), FirstName: string(r[1]), LastName: string(r[2]), Birthdate: string(r[3]), Biography: string(r[4]), City: string(r[5]),
		}
	}
	return found, node, nil
}

// PasswordHash does as social.Store says.
func (s *Store) PasswordHash(ctx context.Context, userID uint64) ([]byte, string, error) {
	found, node, err := s.read(ctx, prepared("password", texts(strconv.FormatUint(userID, 10))))
	switch {
	case err != nil:
		return nil, node, fmt.Errorf("read the password of user %d: %w", userID, err)
	case len(found) == 0:
		return nil, node, engine.ErrNoUser
	}
	return found[0][0], node, nil
}

// question is one statement.
type question func(context.Context, *pgconn.PgConn) *pgconn.ResultReader

func prepared(statement string, values [][]byte) question {
	return func(ctx context.Context, c *pgconn.PgConn) *pgconn.ResultReader {
		return c.ExecPrepared(ctx, statement, values, nil, nil)
	}
}

// read asks on one connection of the read pool.
func (s *Store) read(ctx context.Context, ask question) ([][][]byte, string, error) {
	conn, err := s.reads.Acquire(ctx)
	if err != nil {
		return nil, "", fmt.Errorf("no connection to the read endpoint: %w", err)
	}
	defer release(conn)
	c := conn.Conn().PgConn()
	result := ask(ctx, c).Read()
	return result.Rows, answeredBy(c, result.Err), result.Err
}

// answeredBy names the server behind a connection if it gave an answer, be it a refusal, and is "" without an answer.
func answeredBy(c *pgconn.PgConn, err error) string {
	var refusal *pgconn.PgError
	if err == nil || errors.As(err, &refusal) {
		return nodeOf(c)
	}
	return ""
}
