package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"replab.dev/internal/dataset"
	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

const (
	loaderDialTimeout = 5 * time.Second
	// loaderAnswerTimeout bounds one chunk: a server that was lost without a word must not hold the seeding up.
	loaderAnswerTimeout = 2 * time.Minute
	// vacuumTimeout is that of the whole table, once.
	vacuumTimeout = 30 * time.Minute
)

// Loader fills the users table through one connection. It is used by one goroutine.
type Loader struct {
	app  account
	conn *pgconn.PgConn // nil without one
}

// NewLoader returns a loader through a write endpoint. It opens no connection yet. Close it after use.
func NewLoader(endpoint wire.Endpoint, password string) (*Loader, error) {
	return &Loader{app: account{name: wire.AccountApp, password: password, endpoint: endpoint, database: wire.Database, program: "replab-seed"}}, nil
}

// Close closes the connection.
func (l *Loader) Close() error {
	if l.conn == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), loaderDialTimeout)
	defer cancel()
	return l.conn.Close(ctx)
}

// do has the connection used for at most a time. One that failed is not used again: a transaction may be under way in it.
func (l *Loader) do(ctx context.Context, atMost time.Duration, use func(context.Context, *pgconn.PgConn) error) error {
	ctx, cancel := context.WithTimeout(ctx, atMost)
	defer cancel()
	if l.conn == nil || l.conn.IsClosed() {
		conn, err := l.app.connect(ctx, loaderDialTimeout)
		if err != nil {
			return marked(err)
		}
		l.conn = conn
	}
	err := use(ctx, l.conn)
	if err != nil {
		_ = l.conn.Close(ctx)
	}
	return marked(err)
}

// marked returns err, marked as permanent when trying again does not cure it. A key that is taken is not permanent: an earlier attempt's
// COMMIT, given up for lost, was carried out after all.
func marked(err error) error {
	var refused *pgconn.PgError
	if !errors.As(err, &refused) || refused.Code == uniqueViolation {
		return err
	}
	for _, class := range []string{"22", "23", "28", "3D", "42"} { // data, constraints, log-in, no such database, statements and rights
		if strings.HasPrefix(refused.Code, class) {
			return engine.Permanent(err)
		}
	}
	return err
}

// Last does as seed.Loader says.
func (l *Loader) Last(ctx context.Context, users int64) (id int64, u dataset.User, err error) {
	err = l.do(ctx, loaderAnswerTimeout, func(ctx context.Context, c *pgconn.PgConn) error {
		found, err := rows(ctx, c, `SELECT id, first_name, last_name, coalesce(to_char(birthdate, 'YYYY-MM-DD'), ''), biography, city
FROM `+wire.UsersTable+` WHERE id <= `+strconv.FormatInt(users, 10)+` ORDER BY id DESC LIMIT 1`)
		if err != nil {
			return fmt.Errorf("find the last seeded user: %w", err)
		}
		if len(found) == 0 {
			return nil
		}
		r := found[0]
		u = dataset.User{FirstName: string(r[1]), LastName: string(r[2]), Birthdate: string(r[3]), Biography: string(r[4]), City: string(r[5])}
		id, err = strconv.ParseInt(string(r[0]), 10, 64)
		return err
	})
	return id, u, err
}

// Count does as seed.Loader says. Once all users are there it cleans the table up as well, so that no run begins with the server doing that.
func (l *Loader) Count(ctx context.Context, users int64) (count int64, err error) {
	err = l.do(ctx, loaderAnswerTimeout, func(ctx context.Context, c *pgconn.PgConn) error {
		if err := scan(ctx, c, "SELECT count(*) FROM "+wire.UsersTable+" WHERE id <= "+strconv.FormatInt(users, 10), &count); err != nil {
			return fmt.Errorf("count the users: %w", err)
		}
		return nil
	})
	if err != nil || count != users {
		return count, err
	}
	return count, l.do(ctx, vacuumTimeout, func(ctx context.Context, c *pgconn.PgConn) error {
		if err := c.Exec(ctx, "VACUUM (FREEZE, ANALYZE) "+wire.UsersTable).Close(); err != nil {
			return fmt.Errorf("clean the table of users up: %w", err)
		}
		return nil
	})
}

// Load does as seed.Loader says, by COPY, whose text format the rows have.
func (l *Loader) Load(ctx context.Context, columns string, text io.Reader, rows int64, passwordHash string) error {
	if strings.ContainsAny(passwordHash, "\t\n\\") {
		return engine.Permanent(errors.New("the password's hash has a character that would need an escape"))
	}
	return l.do(ctx, loaderAnswerTimeout, func(ctx context.Context, c *pgconn.PgConn) error {
		if err := c.Exec(ctx, "BEGIN").Close(); err != nil {
			return fmt.Errorf("begin: %w", err)
		}
		statement := "COPY " + wire.UsersTable + " (" + columns + ", password) FROM STDIN"
		source := &lineEnder{from: text, end: []byte("\t" + passwordHash + "\n")}
		done, err := c.CopyFrom(ctx, source, statement)
		if err != nil {
			return fmt.Errorf("COPY: %w", errors.Join(err, source.failed))
		}
		if done.RowsAffected() != rows {
			return engine.Permanent(fmt.Errorf("COPY took %d rows of %d", done.RowsAffected(), rows))
		}
		// Later rows without an id go on behind these.
		const last = "SELECT setval(pg_get_serial_sequence('" + wire.UsersTable + "', 'id'), max(id)) FROM " + wire.UsersTable
		if err := c.Exec(ctx, last).Close(); err != nil {
			return fmt.Errorf("set the next id: %w", err)
		}
		if err := c.Exec(ctx, "COMMIT").Close(); err != nil {
			return fmt.Errorf("commit: %w", err)
		}
		return nil
	})
}

// lineEnder gives each line of a text another end: a column more. Newlines within values are escaped.
type lineEnder struct {
	from   io.Reader
	end    []byte
	left   []byte // of what was read
	failed error  // why there was no more, nil at the end of the text
	buffer [32 << 10]byte
}

func (l *lineEnder) Read(into []byte) (int, error) {
	for len(l.left) == 0 {
		n, err := l.from.Read(l.buffer[:])
		l.left = bytes.ReplaceAll(l.buffer[:n], []byte("\n"), l.end)
		if err != nil && !errors.Is(err, io.EOF) {
			l.failed = err
		}
		if err != nil && n == 0 {
			return 0, err
		}
	}
	n := copy(into, l.left)
	l.left = l.left[n:]
	return n, nil
}
