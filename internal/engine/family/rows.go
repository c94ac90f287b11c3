package family

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"

	"replab.dev/internal/wire"
)

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
