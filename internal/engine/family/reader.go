package family

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"io"
	"time"

	driver "github.com/go-sql-driver/mysql"

	"replab.dev/internal/wire"
)

// stallTimeout bounds how long a server may send nothing in the midst of a statement. COUNT(*) of a table that is not
// in memory is silent for as long as the disk takes.
const stallTimeout = 10 * time.Minute

// Reader reads one node for the audit, by one connection.
type Reader struct {
	db    *sql.DB
	conn  *sql.Conn
	words ReaderWords
}

// ReaderWords are the statements in which the engines of a family differ.
type ReaderWords struct {
	NoTimeLimit string // a statement that takes the session's limit on a query's time away, whatever the experiment's parameters set
	Index       string // a hint, with the table and the index, after SELECT; "" for none
	Executed    string // the query of what the server has executed
}

// OpenReader connects to a node, which has answered a query then. host may name a port.
func OpenReader(ctx context.Context, host, password string, words ReaderWords) (*Reader, error) {
	r, err := newReader(ctx, probe(host, password), 0, words)
	if err != nil {
		return nil, err
	}
	if err = r.Ping(ctx); err != nil { // a handshake can succeed before the server takes queries
		_ = r.Close()
		return nil, err
	}
	return r, nil
}

// OpenSocketReader connects to a server on a unix socket as the administrator.
func OpenSocketReader(ctx context.Context, socket, password string, words ReaderWords) (*Reader, error) {
	return newReader(ctx, Account{Name: wire.AccountAdmin, Password: password, Address: socket}, dialTimeout, words)
}

// newReader holds one connection for as long as it lives.
func newReader(ctx context.Context, a Account, dial time.Duration, words ReaderWords) (*Reader, error) {
	a.Database = wire.Database
	db, err := a.Pool(1, func(c *driver.Config) { c.Timeout, c.ReadTimeout, c.WriteTimeout = dial, stallTimeout, stallTimeout })
	if err != nil {
		return nil, err
	}
	r := &Reader{db: db, words: words}
	if r.conn, err = r.db.Conn(ctx); err != nil {
		_ = r.db.Close()
		return nil, err
	}
	return r, nil
}

// Close ends the snapshot with its connection. The pool closes only what was given back to it.
func (r *Reader) Close() error {
	return errors.Join(r.conn.Close(), r.db.Close())
}

// Ping does as audit.Session says.
func (r *Reader) Ping(ctx context.Context) error {
	_, err := r.conn.ExecContext(ctx, "DO 1")
	return err
}

// Begin does as audit.Reader says.
func (r *Reader) Begin(ctx context.Context) error {
	for _, statement := range []string{
		r.words.NoTimeLimit,
		"SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
		"START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
	} {
		if _, err := r.conn.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}

// Count does as audit.Reader says.
func (r *Reader) Count(ctx context.Context, table string) (int64, error) {
	var rows int64
	err := r.conn.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+table).Scan(&rows)
	return rows, err
}

// columns of the app's tables, all of them.
var columns = map[string][]string{
	wire.UsersTable: {"id", "write_id", "first_name", "last_name", "birthdate", "biography", "city", "password"},
}

// Checksum does as audit.Checker says: the sum of the rows' CRC-32.
func (r *Reader) Checksum(ctx context.Context, table string) (string, error) {
	_, quoted, err := known(table)
	if err != nil {
		return "", err
	}
	var sum string
	query := "SELECT COALESCE(SUM(CRC32(" + quoted + ")), 0) FROM " + table
	err = r.conn.QueryRowContext(ctx, query).Scan(&sum)
	return sum, err
}

// indexes name the index on a column of ids, by table and column; other columns have no known index.
var indexes = map[[2]string]string{
	{wire.UsersTable, "write_id"}: "write_id",
	{wire.ProbeTable, "id"}:       "PRIMARY",
}

// IDs does as audit.Reader says, by the covering index. [M] Of 10,000,000 rows that takes 1.6 times as long as COUNT(*); BIT_OR with GROUP BY
// takes 4 times as long. The hint, unlike FORCE INDEX, is no error where the index is missing.
func (r *Reader) IDs(ctx context.Context, table, column string, visit func(id uint64, null bool) error) error {
	index, ok := indexes[[2]string{table, column}]
	if !ok {
		return fmt.Errorf("column %s of table %s is not one of ids", column, table)
	}
	query := "SELECT " + column + " FROM " + table
	if r.words.Index != "" {
		query = "SELECT " + fmt.Sprintf(r.words.Index, table, index) + " " + column + " FROM " + table
	}
	return r.conn.Raw(func(raw any) error { // below database/sql, whose conversions would cost as much again
		queryer, ok := raw.(sqldriver.QueryerContext)
		if !ok {
			return fmt.Errorf("driver connection %T cannot query", raw)
		}
		rows, err := queryer.QueryContext(ctx, query, nil)
		if err != nil {
			return err
		}
		return errors.Join(eachID(rows, visit), rows.Close())
	})
}

func eachID(rows sqldriver.Rows, visit func(id uint64, null bool) error) error {
	value := make([]sqldriver.Value, 1)
	for {
		err := rows.Next(value)
		if err == io.EOF { //nolint:errorlint // itself is the end of the rows; an error that wraps it is a torn packet
			return nil
		}
		if errors.Is(err, driver.ErrInvalidConn) {
			return fmt.Errorf("the server went away, or said nothing for %s: %w", stallTimeout, err)
		}
		if err != nil {
			return err
		}
		switch v := value[0].(type) {
		case nil:
			err = visit(0, true)
		case uint64:
			err = visit(v, false)
		case int64:
			err = visit(uint64(v), false)
		default:
			err = fmt.Errorf("the server sent an id of type %T", v)
		}
		if err != nil {
			return err
		}
	}
}

// Row scans the only row of a query.
func (r *Reader) Row(ctx context.Context, query string, args []any, into ...any) error {
	return r.conn.QueryRowContext(ctx, query, args...).Scan(into...)
}

// Executed returns what the node has executed, in the engine's words.
func (r *Reader) Executed(ctx context.Context) (string, error) {
	var executed string
	err := r.Row(ctx, r.words.Executed, nil, &executed)
	return executed, err
}
