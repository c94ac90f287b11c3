package seed

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/go-sql-driver/mysql"

	"replab.dev/internal/dataset"
	"replab.dev/internal/wire"
)

const (
	dialTimeout = 5 * time.Second
	// answerTimeout bounds the wait for one chunk: a server that was lost without a word must not hold the seeding up.
	answerTimeout = 2 * time.Minute
)

// open returns a pool of one connection to the write endpoint.
func open(endpoint wire.Endpoint, password string) (*sql.DB, error) {
	c := mysql.NewConfig()
	c.User, c.Passwd, c.DBName = wire.AccountApp, password, wire.Database
	c.Net, c.Addr = "tcp", net.JoinHostPort(endpoint.Host, strconv.Itoa(endpoint.Port))
	c.Timeout, c.ReadTimeout, c.WriteTimeout = dialTimeout, answerTimeout, answerTimeout
	c.InterpolateParams = true // LOAD DATA cannot be prepared
	c.Logger = &mysql.NopLogger{}
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return nil, fmt.Errorf("configure the connection to %s: %w", c.Addr, err)
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(1)
	return db, nil
}

// permanentError is one that trying again does not cure.
type permanentError struct{ error }

func (p permanentError) Unwrap() error { return p.error }

// permanentNumbers are MySQL's errors that concern the set-up: rights, schema, LOCAL switched off.
var permanentNumbers = []uint16{1044, 1045, 1049, 1054, 1064, 1142, 1146, 1148, 3948}

func isPermanent(err error) bool {
	var p permanentError
	var m *mysql.MySQLError
	return errors.As(err, &p) || errors.As(err, &m) && slices.Contains(permanentNumbers, m.Number)
}

// seeded returns how many users the table holds: ids 1 to that number. Chunks are transactions, so there is no gap. It
// checks the last one, since a table that was filled with another seed or locale must not be taken for this one's.
func seeded(ctx context.Context, db *sql.DB, d *dataset.Dataset, users int64) (int64, error) {
	var last int64
	if err := db.QueryRowContext(ctx, "SELECT COALESCE(MAX(id), 0) FROM "+wire.UsersTable+" WHERE id <= ?", users).Scan(&last); err != nil {
		return 0, fmt.Errorf("find the last seeded user: %w", err)
	}
	if last == 0 {
		return 0, nil
	}
	var got dataset.User
	row := db.QueryRowContext(ctx, "SELECT first_name, last_name, COALESCE(birthdate, ''), biography, city FROM "+wire.UsersTable+" WHERE id = ?", last)
	if err := row.Scan(&got.FirstName, &got.LastName, &got.Birthdate, &got.Biography, &got.City); err != nil {
		return 0, fmt.Errorf("read user %d: %w", last, err)
	}
	if want := d.User(last); got != want {
		return 0, permanentError{fmt.Errorf("user %d is %s %s where this seed and locale have %s %s: the table was filled otherwise; empty it first",
			last, got.FirstName, got.LastName, want.FirstName, want.LastName)}
	}
	return last, nil
}

const duplicateKey = 1062

var readers atomic.Int64 // the driver's registry of readers is global: each gets a name of its own

// loadChunk loads rows from r as one transaction. All of them are committed, or an error is returned; after an error the
// transaction may still have been committed, if it is the answer to COMMIT that was lost.
func loadChunk(ctx context.Context, db *sql.DB, r io.Reader, rows int64, passwordHash string) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // without effect after Commit
	name := "replab-seed-" + strconv.FormatInt(readers.Add(1), 10)
	mysql.RegisterReaderHandler(name, func() io.Reader { return r })
	defer mysql.DeregisterReaderHandler(name)
	result, err := tx.ExecContext(ctx, loadStatement("Reader::"+name), passwordHash)
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
		return permanentError{fmt.Errorf("LOAD DATA took %d rows of %d", loaded, rows)}
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// loadStatement loads columns from source. write_id stays NULL. The password is the statement's parameter: it is the same
// for all rows, and need not be sent with each.
func loadStatement(source string) string {
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
	return permanentError{err}
}

// verify counts the seeded users.
func verify(ctx context.Context, db *sql.DB, users int64) error {
	var rows int64
	if err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+wire.UsersTable+" WHERE id <= ?", users).Scan(&rows); err != nil {
		return fmt.Errorf("count the users: %w", err)
	}
	if rows != users {
		return permanentError{fmt.Errorf("the table holds %d of the users 1 to %d: rows are missing; empty it first", rows, users)}
	}
	return nil
}
