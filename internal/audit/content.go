package audit

import (
	"context"
	"fmt"

	"replab.dev/internal/ledger"
	"replab.dev/internal/wire"
)

// column is a column of ids.
type column struct{ table, name string }

var (
	writeIDs = column{table: wire.UsersTable, name: "write_id"}
	probeIDs = column{table: wire.ProbeTable, name: "id"}
)

// maxSetBytes bounds the memory of one set: 25 MiB are 200 million dense ids, or 150,000 that no ledger can have leased. It is
// looked at every lookRows rows.
const (
	maxSetBytes = 25 << 20
	lookRows    = 1 << 15
)

// ids are the values of one id column.
type ids struct {
	set        ledger.Bitmap
	rows       int64
	nulls      int64 // rows without an id
	duplicates int64 // rows beyond the first of their id
}

func (s *ids) add(id uint64, null bool) error {
	s.rows++
	switch {
	case null:
		s.nulls++
	case !s.set.Add(id):
		s.duplicates++
	}
	if s.rows%lookRows == 0 && s.set.Bytes() > maxSetBytes {
		return fmt.Errorf("%w: too many ids of which no ledger can know, such as %d perhaps; was the table written by somebody else?", errFound, id)
	}
	return nil
}

// content is what the audit knows of one node's tables.
type content struct {
	users    ids
	probes   ids
	checksum string // of users, where it was asked for
	unsummed error  // why there is none
}

// read takes a node's content in one snapshot.
func read(ctx context.Context, s Reader) (*content, error) {
	if err := s.Begin(ctx); err != nil {
		return nil, fmt.Errorf("begin a snapshot: %w", err)
	}
	var c content
	if err := readIDs(ctx, s, writeIDs, &c.users); err != nil {
		return nil, err
	}
	if err := readIDs(ctx, s, probeIDs, &c.probes); err != nil {
		return nil, err
	}
	counted, err := s.Count(ctx, wire.UsersTable)
	if err != nil {
		return nil, fmt.Errorf("count the rows of table %s: %w", wire.UsersTable, err)
	}
	if counted != c.users.rows {
		return nil, fmt.Errorf("table %s has %d rows when counted and %d when scanned by index %s: %w for corruption",
			wire.UsersTable, counted, c.users.rows, writeIDs.name, errFound)
	}
	return &c, nil
}

func readIDs(ctx context.Context, s Reader, c column, into *ids) error {
	if err := s.IDs(ctx, c.table, c.name, into.add); err != nil {
		return fmt.Errorf("read column %s of table %s: %w", c.name, c.table, err)
	}
	return nil
}
