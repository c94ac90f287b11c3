package family

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	driver "github.com/go-sql-driver/mysql"

	"replab.dev/internal/dataset"
	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

const (
	loaderDialTimeout = 5 * time.Second
	// loaderAnswerTimeout bounds the wait for one chunk: a server that was lost without a word must not hold the seeding up.
	loaderAnswerTimeout = 2 * time.Minute
)

// Loader fills the users table through one connection.
type Loader struct {
	db        *sql.DB
	permanent []uint16 // numbers of errors that no retry cures
}

// NewLoader returns a loader through a write endpoint. It opens no connection yet. Close it after use.
// own are the engine's errors, by number, that trying again does not cure, beside the family's.
func NewLoader(endpoint wire.Endpoint, password string, own ...uint16) (*Loader, error) {
	app := Account{Name: wire.AccountApp, Password: password, Address: EndpointAddress(endpoint), Database: wire.Database}
	db, err := app.Pool(1, func(c *driver.Config) {
		c.Timeout, c.ReadTimeout, c.WriteTimeout = loaderDialTimeout, loaderAnswerTimeout, loaderAnswerTimeout
		c.InterpolateParams = true // LOAD DATA cannot be prepared
	})
	if err != nil {
		return nil, err
	}
	return &Loader{db: db, permanent: slices.Concat(permanent, own)}, nil
}

// Close closes the connection.
func (l *Loader) Close() error { return l.db.Close() }

// marked returns err, marked as permanent when trying again does not cure it.
func (l *Loader) marked(err error) error {
	var m *driver.MySQLError
	if errors.As(err, &m) && slices.Contains(l.permanent, m.Number) {
		return engine.Permanent(err)
	}
	return err
}

// Last does as seed.Loader says.
func (l *Loader) Last(ctx context.Context, users int64) (int64, dataset.User, error) {
	var last int64
	var u dataset.User
	if err := l.db.QueryRowContext(ctx, "SELECT COALESCE(MAX(id), 0) FROM "+wire.UsersTable+" WHERE id <= ?", users).Scan(&last); err != nil {
		return 0, u, l.marked(fmt.Errorf("find the last seeded user: %w", err))
	}
	if last == 0 {
		return 0, u, nil
	}
	row := l.db.QueryRowContext(ctx, "SELECT first_name, last_name, COALESCE(birthdate, ''), biography, city FROM "+wire.UsersTable+" WHERE id = ?", last)
	if err := row.Scan(&u.FirstName, &u.LastName, &u.Birthdate, &u.Biography, &u.City); err != nil {
		return 0, u, l.marked(fmt.Errorf("read user %d: %w", last, err))
	}
	return last, u, nil
}

// Count does as seed.Loader says.
func (l *Loader) Count(ctx context.Context, users int64) (int64, error) {
	var rows int64
	if err := l.db.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+wire.UsersTable+" WHERE id <= ?", users).Scan(&rows); err != nil {
		return 0, l.marked(fmt.Errorf("count the users: %w", err))
	}
	return rows, nil
}

var readers atomic.Int64 // the driver's registry of readers is global: each gets a name of its own

// Load does as seed.Loader says, by LOAD DATA, whose default format the rows have.
func (l *Loader) Load(ctx context.Context, columns string, text io.Reader, rows int64, passwordHash string) error {
	return l.marked(l.load(ctx, columns, text, rows, passwordHash))
}

func (l *Loader) load(ctx context.Context, columns string, text io.Reader, rows int64, passwordHash string) error {
	tx, err := l.db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // without effect after Commit
	name := "replab-seed-" + strconv.FormatInt(readers.Add(1), 10)
	driver.RegisterReaderHandler(name, func() io.Reader { return text })
	defer driver.DeregisterReaderHandler(name)
	result, err := tx.ExecContext(ctx, loadStatement("Reader::"+name, columns), passwordHash)
	if err != nil {
		return fmt.Errorf("LOAD DATA: %w", err)
	}
	loaded, err := result.RowsAffected()
	if err != nil {
		return fmt.Errorf("LOAD DATA: %w", err)
	}
	// LOCAL turns errors in the data into warnings: the rows are then skipped or cut.
	if err := firstWarning(ctx, tx); err != nil {
		return err
	}
	if loaded != rows {
		return engine.Permanent(fmt.Errorf("LOAD DATA took %d rows of %d", loaded, rows))
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// loadStatement loads columns from source. write_id stays NULL. The password is the statement's parameter: it is the same
// for all rows, and need not be sent with each.
func loadStatement(source, columns string) string {
	return "LOAD DATA LOCAL INFILE '" + source + "' INTO TABLE " + wire.UsersTable +
		" CHARACTER SET utf8mb4 (" + columns + ") SET password = ?"
}

func firstWarning(ctx context.Context, tx *sql.Tx) error {
	var level, message string
	var code int
	switch err := tx.QueryRowContext(ctx, "SHOW WARNINGS LIMIT 1").Scan(&level, &code, &message); {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		return fmt.Errorf("look for warnings: %w", err)
	}
	err := fmt.Errorf("LOAD DATA: %s %d: %s", level, code, message)
	if code == duplicateKey { // an earlier attempt's COMMIT, given up for lost, was carried out after all
		return err
	}
	return engine.Permanent(err)
}
