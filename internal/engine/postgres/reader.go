package postgres

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

// readerTimeout bounds the connection and its end; statements have no time limit but their context.
const readerTimeout = 5 * time.Second

// Reader reads one node for the audit, by one connection.
type Reader struct{ conn *pgconn.PgConn }

// OpenReader connects to a node, which has answered a query then. host may name a port.
func OpenReader(ctx context.Context, host, password string) (*Reader, error) {
	a, err := probe(host, password, "replab-audit")
	if err != nil {
		return nil, err
	}
	return openReader(ctx, a)
}

func openReader(ctx context.Context, a account) (*Reader, error) {
	conn, err := a.connect(ctx, readerTimeout)
	if err != nil {
		return nil, err
	}
	r := &Reader{conn}
	if err := r.Ping(ctx); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// Close ends the snapshot with its connection.
func (r *Reader) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), readerTimeout)
	defer cancel()
	return r.conn.Close(ctx)
}

// Ping does as audit.Session says. After an error the server refuses it for the rest of the transaction.
func (r *Reader) Ping(ctx context.Context) error { return r.conn.Exec(ctx, "SELECT 1").Close() }

// Begin does as audit.Reader says. The snapshot is that of the first query.
func (r *Reader) Begin(ctx context.Context) error {
	return r.conn.Exec(ctx, `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = 0; SET LOCAL work_mem = '64MB';
SELECT set_config(name, '0', true) FROM pg_settings WHERE name IN ('lock_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout')`).Close()
}

// Count does as audit.Reader says.
func (r *Reader) Count(ctx context.Context, table string) (count int64, err error) {
	err = scan(ctx, r.conn, "SELECT count(*) FROM "+table, &count)
	return count, err
}

// Checksum does as audit.Checker says: the sum of the rows' 64-bit hashes. A row's text has quotes and commas where they are needed, so
// that a column ends where it ends.
func (r *Reader) Checksum(ctx context.Context, table string) (sum string, err error) {
	err = scan(ctx, r.conn, `SET datestyle = 'ISO, YMD'; SET bytea_output = 'hex';
SELECT coalesce(sum(hashtextextended(t::text, 0)::numeric), 0)::text FROM `+table+" t", &sum)
	return sum, err
}

// blockBits is how many ids one row of blocks has: those of a bigint.
const blockBits = 64

// idColumns are the columns of ids, by table.
var idColumns = map[[2]string]bool{{wire.UsersTable, "write_id"}: true, {wire.ProbeTable, "id"}: true}

// IDs does as audit.Reader says. The server sends which of 64 ids there are as the bits of one number, which takes less than sending the
// ids. Where ids are there more than once a block is read again, one by one.
func (r *Reader) IDs(ctx context.Context, table, column string, visit func(id uint64, null bool) error) error {
	if !idColumns[[2]string{table, column}] {
		return fmt.Errorf("column %s of table %s is not one of ids", column, table)
	}
	several, err := r.blocks(ctx, table, column, visit)
	if err != nil {
		return err
	}
	for _, block := range several {
		if err := r.block(ctx, table, column, block, visit); err != nil {
			return err
		}
	}
	return nil
}

// blocksQuery has the number of each block, its ids as bits, and the count of its rows; rows without an id are a block of their own. OFFSET hides
// the column's statistics from the planner, which then uses parallel workers; '0' as a number would prevent them.
func blocksQuery(table, column string) string {
	return "SELECT block, bit_or(1::bigint << bit), count(*) FROM (SELECT " + column + " >> 6 AS block, (" + column + " & 63)::int AS bit FROM " + table +
		" OFFSET '0') AS ids GROUP BY block"
}

// blocks visits the ids of all blocks but those which have an id more than once, and returns these.
func (r *Reader) blocks(ctx context.Context, table, column string, visit func(id uint64, null bool) error) (several []int64, err error) {
	err = r.integers(ctx, blocksQuery(table, column), nil, 3, func(v []int64, null bool) error {
		block, mask, rows := v[0], uint64(v[1]), v[2] // the last id of a block makes the number negative
		if null {
			for range rows {
				if err := visit(0, true); err != nil {
					return err
				}
			}
			return nil
		}
		if int64(bits.OnesCount64(mask)) != rows {
			several = append(several, block)
			return nil
		}
		for ; mask != 0; mask &= mask - 1 {
			if err := visit(uint64(block)*blockBits+uint64(bits.TrailingZeros64(mask)), false); err != nil {
				return err
			}
		}
		return nil
	})
	return several, err
}

// block visits the ids of one block, one by one.
func (r *Reader) block(ctx context.Context, table, column string, block int64, visit func(id uint64, null bool) error) error {
	query := "SELECT " + column + " FROM " + table + " WHERE " + column + " BETWEEN $1::bigint << 6 AND ($1::bigint << 6) | 63"
	return r.integers(ctx, query, texts(fmt.Sprint(block)), 1, func(v []int64, _ bool) error { return visit(uint64(v[0]), false) })
}

// integers runs a query whose columns are all of type bigint, and visits its rows, null telling of those whose first column is. It reads
// them as they come, in the server's own form.
func (r *Reader) integers(ctx context.Context, query string, values [][]byte, columns int, visit func(v []int64, null bool) error) error {
	reader := r.conn.ExecParams(ctx, query, values, nil, nil, []int16{1})
	v := make([]int64, columns)
	var failed error
	for failed == nil && reader.NextRow() {
		found := reader.Values()
		if failed = decode(found, v); failed == nil {
			failed = visit(v, found[0] == nil)
		}
	}
	if failed != nil { // the rest would be read to its end
		_ = r.Close()
		return failed
	}
	_, err := reader.Close()
	return err
}

// decode reads the columns of one row, all of type bigint. NULL is 0.
func decode(found [][]byte, into []int64) error {
	if len(found) != len(into) {
		return fmt.Errorf("the server sent %d columns where %d were asked for", len(found), len(into))
	}
	for i, value := range found {
		switch {
		case value == nil:
			into[i] = 0
		case len(value) != 8:
			return fmt.Errorf("the server sent %d bytes where a bigint was asked for", len(value))
		default:
			into[i] = int64(binary.BigEndian.Uint64(value))
		}
	}
	return nil
}

var _ engine.RowOpener = Server{}

// OpenRows implements engine.RowOpener. A server that runs alone has its socket in the folder of this one: see AloneSocket.
func (Server) OpenRows(ctx context.Context, socket, password string) (engine.Rows, error) {
	r, err := openReader(ctx, administrator(socket, password))
	if err != nil {
		return nil, err
	}
	if err := r.Begin(ctx); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return held{r}, nil
}

// administrator of a server that runs alone.
func administrator(socket, password string) account {
	return account{
		name: wire.AccountAdmin, password: password, database: wire.Database, program: "replab-inspection",
		endpoint: wire.Endpoint{Host: filepath.Dir(socket), Port: alonePort},
	}
}

// held is what a server that runs alone holds, at one moment.
type held struct{ *Reader }

// Executed is the timeline and how far the log was carried out, which is to its end. What a standby has followed since its last checkpoint
// may be of a later timeline than that.
func (h held) Executed(ctx context.Context) (executed string, err error) {
	err = scan(ctx, h.conn, `SELECT (SELECT greatest(c.timeline_id, r.min_recovery_end_timeline) FROM pg_control_checkpoint() c, pg_control_recovery() r)
 || ':' || CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_flush_lsn() END`, &executed)
	return executed, err
}

// Tables implements engine.Log. A file is named as in the log: tablespace, database and number.
func (Server) Tables(ctx context.Context, socket, password string, tables ...string) (map[string]string, error) {
	r, err := openReader(ctx, administrator(socket, password))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var names []string
	for _, table := range tables {
		names = append(names, quote(table))
	}
	found, err := rows(ctx, r.conn, `SELECT c.relname, format('%s/%s/%s', coalesce(nullif(c.reltablespace, 0), d.dattablespace), d.oid, pg_relation_filenode(c.oid))
FROM pg_class c, pg_database d WHERE d.datname = current_database() AND c.relnamespace = 'public'::regnamespace AND c.relkind = 'r'
 AND c.relname IN (`+strings.Join(names, ", ")+`)`)
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	for _, f := range found {
		files[string(f[0])] = string(f[1])
	}
	if len(files) != len(tables) {
		return nil, fmt.Errorf("of the tables %s the server has %d", strings.Join(tables, ", "), len(files))
	}
	return files, nil
}
