package family

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// known are the quoted columns of a table, each of which ends where it ends, also where it is NULL.
func known(table string) (names []string, quoted string, err error) {
	names, ok := columns[table]
	if !ok {
		return nil, "", fmt.Errorf("the columns of table %s are not known", table)
	}
	return names, "CONCAT_WS(',', QUOTE(" + strings.Join(names, "), QUOTE(") + "))", nil
}

// hashed is 64 bits of a row's hash. Servers have no MD5 any more.
func hashed(quoted string) string {
	return "CAST(CONV(LEFT(SHA2(" + quoted + ", 256), 16), 16, 10) AS UNSIGNED)"
}

// Chunks does as audit.RowSums says.
func (r *Reader) Chunks(ctx context.Context, table string, size uint64, visit func(chunk, sum uint64) error) error {
	_, quoted, err := known(table)
	if err != nil {
		return err
	}
	return r.sums(ctx, visit, "SELECT id DIV ?, BIT_XOR("+hashed(quoted)+") FROM "+table+" GROUP BY 1", size)
}

// Rows does as audit.RowSums says.
func (r *Reader) Rows(ctx context.Context, table string, first, last uint64, visit func(id, sum uint64) error) error {
	_, quoted, err := known(table)
	if err != nil {
		return err
	}
	return r.sums(ctx, visit, "SELECT id, "+hashed(quoted)+" FROM "+table+" WHERE id BETWEEN ? AND ?", first, last)
}

func (r *Reader) sums(ctx context.Context, visit func(of, sum uint64) error, query string, args ...any) error {
	rows, err := r.conn.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var of, sum uint64
		if err := rows.Scan(&of, &sum); err != nil {
			return err
		}
		if err := visit(of, sum); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Values does as audit.RowSums says.
func (r *Reader) Values(ctx context.Context, table string, id uint64) (map[string]string, error) {
	names, _, err := known(table)
	if err != nil {
		return nil, err
	}
	texts, into := make([]sql.NullString, len(names)), make([]any, len(names))
	for i := range texts {
		into[i] = &texts[i]
	}
	if err := r.Row(ctx, "SELECT "+strings.Join(names, ", ")+" FROM "+table+" WHERE id = ?", []any{id}, into...); err != nil {
		return nil, err
	}
	values := map[string]string{}
	for i, name := range names {
		if values[name] = "NULL"; texts[i].Valid {
			values[name] = texts[i].String
		}
	}
	return values, nil
}
