package ledger

import (
	"errors"
	"fmt"
	"io"
	"time"
)

const readBufferBytes = 1 << 16 // a multiple of RecordBytes

// Read visits the records of a ledger in their order, the header first. It holds 64 KiB whatever the ledger's size.
//
// A record that is cut short by the end of the file is left out. Everything else that is wrong is an error with the
// offset of the record: damage, a record out of order, an error of r (a connection that broke is no end of file) or of
// visit. Two outcomes of one id are not noticed here, see Load.
func Read(r io.Reader, visit func(Record) error) error {
	return read(r, &checker{}, visit)
}

func read(r io.Reader, c *checker, visit func(Record) error) error {
	buf := make([]byte, readBufferBytes)
	for offset, held := int64(0), 0; ; {
		n, readErr := r.Read(buf[held:])
		held += n
		used := 0
		for ; held-used >= RecordBytes; used += RecordBytes {
			record, err := c.next(buf[used : used+RecordBytes])
			if err == nil {
				record.Offset = offset
				err = visit(record)
			}
			if err != nil {
				return fmt.Errorf("ledger, record at offset %d: %w", offset, err)
			}
			offset += RecordBytes
		}
		held = copy(buf, buf[used:held])
		switch {
		case readErr == io.EOF && c.seen:
			return nil
		case readErr == io.EOF: // itself: a broken connection may wrap it
			return fmt.Errorf("ledger, record at offset 0: %w", errNoHeader)
		case readErr != nil:
			return fmt.Errorf("ledger, after offset %d: %w", offset, readErr)
		}
	}
}

var errNoHeader = errors.New("there is no header: the file is empty or cut short before its first record ended")

// checker follows the order of a ledger's records.
type checker struct {
	seen     bool // the header
	epoch    time.Time
	limit    uint64 // first id that is not leased; 0 before the header
	closed   bool
	restarts int64
}

func (c *checker) next(buf []byte) (Record, error) {
	id, kind, stamp, err := decode(buf)
	if err != nil {
		return Record{}, err
	}
	if kind == KindHeader || !c.seen {
		return c.header(buf, id, kind, stamp)
	}
	if c.closed && kind != KindRestart {
		return Record{}, fmt.Errorf("kind %d after the ledger was closed", kind)
	}
	record := Record{ID: id, Kind: kind}
	switch kind {
	case KindAcknowledged, KindRejected, KindIndeterminate:
		record.At = c.time(stamp)
		err = c.outcome(id)
	case KindLease:
		err = c.lease(id)
	case KindRestart:
		record.At = c.time(stamp)
		c.closed = false
		c.restarts++
	case KindClosed:
		err = c.close(id)
	default:
		err = fmt.Errorf("unknown kind %d", kind)
	}
	if err != nil {
		return Record{}, err
	}
	return record, nil
}

func (c *checker) outcome(id uint64) error {
	if id == 0 || id >= c.limit {
		return fmt.Errorf("an outcome of write %d, which was never leased", id)
	}
	return nil
}

func (c *checker) lease(id uint64) error {
	if id != c.limit {
		return fmt.Errorf("a lease from id %d, want one from %d", id, c.limit)
	}
	c.limit = id + BlockIDs
	return nil
}

func (c *checker) close(id uint64) error {
	if id == 0 || id > c.limit || id+BlockIDs < c.limit {
		return fmt.Errorf("closed at id %d, which is not in the last lease: it ends before %d", id, c.limit)
	}
	c.closed = true
	return nil
}

func (c *checker) header(buf []byte, id uint64, kind Kind, stamp int64) (Record, error) {
	if c.seen {
		return Record{}, errors.New("a second header")
	}
	if kind != KindHeader || string(buf[:idBytes]) != magic {
		return Record{}, errors.New("no header of a ledger of version 1")
	}
	c.seen, c.limit, c.epoch = true, 1, time.UnixMilli(stamp).UTC()
	return Record{ID: id, Kind: kind, At: c.epoch}, nil
}

func (c *checker) time(stamp int64) time.Time {
	return c.epoch.Add(time.Duration(stamp) * time.Microsecond)
}
