package audit

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"replab.dev/internal/wire"
)

// RowSums is a Session with hashes of rows, for engines whose nodes may take writes without asking each other.
type RowSums interface {
	// Chunks visits the hash of all rows of each range of ids: of chunk 2 it is 2*size to 3*size-1. Ranges without rows are left out.
	Chunks(ctx context.Context, table string, size uint64, visit func(chunk, sum uint64) error) error
	// Rows visits the hash of each row of some ids.
	Rows(ctx context.Context, table string, first, last uint64, visit func(id, sum uint64) error) error
	// Values are those of one row, as text by column.
	Values(ctx context.Context, table string, id uint64) (map[string]string, error)
}

// chunkRows is how many ids one hash covers. A chunk that differs is read row by row.
const chunkRows = 1000

// diverged compares the rows that two nodes have by the same id. The rest of the audit goes on where that fails.
func diverged(ctx context.Context, a, b *node) *wire.Divergence {
	d, err := compareRows(ctx, a, b)
	if err != nil {
		return &wire.Divergence{Failed: err.Error()}
	}
	return d
}

func compareRows(ctx context.Context, a, b *node) (*wire.Divergence, error) {
	chunks, err := bothSums(ctx, a, b, func(s RowSums, visit func(of, sum uint64) error) error {
		return s.Chunks(ctx, wire.UsersTable, chunkRows, visit)
	})
	if err != nil {
		return nil, err
	}
	d := &wire.Divergence{}
	for _, chunk := range chunks.differing() {
		rows, err := bothSums(ctx, a, b, func(s RowSums, visit func(of, sum uint64) error) error {
			return s.Rows(ctx, wire.UsersTable, chunk*chunkRows, (chunk+1)*chunkRows-1, visit)
		})
		if err != nil {
			return nil, err
		}
		ids := rows.shared()
		d.Rows += int64(len(ids))
		for _, id := range ids[:min(len(ids), wire.MaxDivergentSamples-len(d.Samples))] {
			sample, err := sampled(ctx, a, b, id)
			if err != nil {
				return nil, err
			}
			d.Samples = append(d.Samples, sample)
		}
	}
	return d, nil
}

// pairSums are the hashes that two nodes have of the same things.
type pairSums [2]map[uint64]uint64

func bothSums(ctx context.Context, a, b *node, visit func(RowSums, func(of, sum uint64) error) error) (pairSums, error) {
	var sums pairSums
	for i, n := range []*node{a, b} {
		err := n.sums(ctx, func(s RowSums) error {
			sums[i] = map[uint64]uint64{}
			return visit(s, func(of, sum uint64) error {
				sums[i][of] = sum
				return nil
			})
		})
		if err != nil {
			return sums, fmt.Errorf("hash the rows: %w", err)
		}
	}
	return sums, nil
}

// differing are the things that have not the same hash on both, or are on one node alone, in their order.
func (p pairSums) differing() []uint64 {
	var found []uint64
	for of, sum := range p[0] {
		if other, both := p[1][of]; !both || other != sum {
			found = append(found, of)
		}
	}
	for of := range p[1] {
		if _, both := p[0][of]; !both {
			found = append(found, of)
		}
	}
	slices.Sort(found)
	return found
}

// shared are those of differing that both nodes have.
func (p pairSums) shared() []uint64 {
	return slices.DeleteFunc(p.differing(), func(of uint64) bool {
		_, here := p[0][of]
		_, there := p[1][of]
		return !here || !there
	})
}

// sampled tells which columns of a row differ, and their values.
func sampled(ctx context.Context, a, b *node, id uint64) (wire.DivergentRow, error) {
	row := wire.DivergentRow{ID: id}
	var values [2]map[string]string
	for i, n := range []*node{a, b} {
		err := n.sums(ctx, func(s RowSums) (err error) {
			values[i], err = s.Values(ctx, wire.UsersTable, id)
			return err
		})
		if err != nil {
			return row, fmt.Errorf("read row %d: %w", id, err)
		}
	}
	for column, value := range values[0] {
		if values[1][column] != value {
			row.Columns = append(row.Columns, wire.DivergentColumn{Name: column, Values: map[string]string{a.Name: short(value), b.Name: short(values[1][column])}})
		}
	}
	slices.SortFunc(row.Columns, func(x, y wire.DivergentColumn) int { return slices.Compare([]string{x.Name}, []string{y.Name}) })
	return row, nil
}

// sampleRunes is how much of a value a sample shows.
const sampleRunes = 60

func short(value string) string {
	if r := []rune(value); len(r) > sampleRunes {
		return string(r[:sampleRunes]) + "..."
	}
	return value
}

func (n *node) sums(ctx context.Context, questions func(RowSums) error) error {
	return n.ask(ctx, func() error {
		s, ok := n.session.(RowSums)
		if !ok {
			return errors.New("its engine hashes no rows")
		}
		return questions(s)
	})
}
