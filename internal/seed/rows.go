package seed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"replab.dev/internal/dataset"
	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

const (
	// blockBytes is how much is made up at a time, and blocksAhead how far the making may run ahead of the sending: the
	// server is busy with the last rows while the next are made.
	blockBytes  = 128 << 10
	blocksAhead = 32
)

// block is a run of rows as text, in the format that databases load in bulk: columns end with a tab, rows with a newline, \
// escapes.
type block struct {
	text     []byte
	endsPart bool // the chunk is complete with this block
}

// produce makes up the rows of the users first to last, for chunks of the given number of rows that begin at first. It
// stops when ctx ends.
func produce(ctx context.Context, d *dataset.Dataset, first, last, chunkRows int64) <-chan block {
	blocks := make(chan block, blocksAhead)
	go func() {
		defer close(blocks)
		for id := first; id <= last; {
			end := min(id+chunkRows-1, last)
			for id <= end {
				b := block{text: make([]byte, 0, blockBytes+4<<10)}
				for ; id <= end && len(b.text) < blockBytes; id++ {
					b.text = appendRow(b.text, id, d.User(id))
				}
				b.endsPart = id > end
				select {
				case blocks <- b:
				case <-ctx.Done():
					return
				}
			}
		}
	}()
	return blocks
}

// columns are what a row holds, in its order.
const columns = "id, first_name, last_name, birthdate, biography, city"

func appendRow(row []byte, id int64, u dataset.User) []byte {
	row = strconv.AppendInt(row, id, 10)
	for _, value := range [...]string{u.FirstName, u.LastName, u.Birthdate, u.Biography, u.City} {
		row = append(row, '\t')
		for i := range len(value) { // by bytes: those of other characters are never below 0x80
			switch c := value[i]; c {
			case '\t', '\n', '\\', 0:
				row = append(row, '\\', escaped(c))
			default:
				row = append(row, c)
			}
		}
	}
	return append(row, '\n')
}

func escaped(c byte) byte {
	switch c {
	case '\t':
		return 't'
	case '\n':
		return 'n'
	case 0:
		return '0'
	}
	return c
}

// chunkReader reads one chunk off the blocks. It fails with io.ErrUnexpectedEOF when they end within it.
type chunkReader struct {
	blocks <-chan block
	left   []byte
	done   bool
}

func (r *chunkReader) Read(p []byte) (int, error) {
	for len(r.left) == 0 {
		if r.done {
			return 0, io.EOF
		}
		b, ok := <-r.blocks
		if !ok {
			return 0, io.ErrUnexpectedEOF
		}
		r.left, r.done = b.text, b.endsPart
	}
	n := copy(p, r.left)
	r.left = r.left[n:]
	return n, nil
}

// Loader fills the users table of a database. Errors that trying again does not cure are engine.ErrPermanent.
type Loader interface {
	// Last returns the last of the users 1 to users that is in the table, and what the table holds of him; 0 without
	// none.
	Last(ctx context.Context, users int64) (id int64, user dataset.User, err error)
	// Load takes rows from text, as appendRow writes them, as one transaction and with one password. After an error the transaction may still have
	// been committed, if the answer to its end was lost.
	Load(ctx context.Context, columns string, text io.Reader, rows int64, passwordHash string) error
	// Count returns how many of the users 1 to users are in the table.
	Count(ctx context.Context, users int64) (int64, error)
}

// LoaderCloser is a Loader that is closed after use.
type LoaderCloser interface {
	Loader
	io.Closer
}

// Open returns a loader through the write endpoint, and need not connect yet.
type Open func(writes wire.Endpoint, password string) (LoaderCloser, error)

// Opens makes an engine's constructor an Open. The result means nothing beside an error.
func Opens[L LoaderCloser](open func(wire.Endpoint, string) (L, error)) Open {
	return func(writes wire.Endpoint, password string) (LoaderCloser, error) { return open(writes, password) }
}

func isPermanent(err error) bool { return errors.Is(err, engine.ErrPermanent) }

// seeded returns how many users the table holds: ids 1 to that number. Chunks are transactions, so there is no gap. It
// checks the last one, since a table that was filled with another seed or locale must not be taken for this one's.
func seeded(ctx context.Context, l Loader, d *dataset.Dataset, users int64) (int64, error) {
	last, got, err := l.Last(ctx, users)
	if err != nil || last == 0 {
		return 0, err
	}
	if want := d.User(last); got != want {
		return 0, engine.Permanent(fmt.Errorf("user %d is %s %s where this seed and locale have %s %s: the table was filled otherwise; empty it first",
			last, got.FirstName, got.LastName, want.FirstName, want.LastName))
	}
	return last, nil
}

// verify counts the seeded users.
func verify(ctx context.Context, l Loader, users int64) error {
	rows, err := l.Count(ctx, users)
	if err != nil {
		return err
	}
	if rows != users {
		return engine.Permanent(fmt.Errorf("the table holds %d of the users 1 to %d: rows are missing; empty it first", rows, users))
	}
	return nil
}
