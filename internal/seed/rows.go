package seed

import (
	"context"
	"io"
	"strconv"

	"replab.dev/internal/dataset"
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
