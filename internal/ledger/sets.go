package ledger

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
)

// Sets are the ids of a ledger by what became of them. Acknowledged, Rejected and Indeterminate share no id, and
// together they are Sent.
type Sets struct {
	Sent          Bitmap
	Acknowledged  Bitmap
	Rejected      Bitmap
	Indeterminate Bitmap
	Restarts      int64
	Epoch         time.Time
}

// Load reads a ledger's sets. An id that was leased, not closed away, and has no outcome is indeterminate. Two outcomes
// of one id are an error, as is everything that Read reports.
func Load(r io.Reader) (Sets, error) {
	var s Sets
	var known Bitmap // ids that have an outcome
	outcome := func(set *Bitmap, id uint64) error {
		if !known.Add(id) {
			return fmt.Errorf("a second outcome of write %d", id)
		}
		set.Add(id)
		return nil
	}
	var c checker
	var leased uint64 // first id whose lease is not in Sent yet
	leased = 1
	err := read(r, &c, func(record Record) error {
		switch record.Kind {
		case KindAcknowledged:
			return outcome(&s.Acknowledged, record.ID)
		case KindRejected:
			return outcome(&s.Rejected, record.ID)
		case KindIndeterminate:
			return outcome(&s.Indeterminate, record.ID)
		case KindClosed:
			s.Sent.AddRange(leased, record.ID)
			leased = c.limit
		case KindRestart:
			s.Sent.AddRange(leased, c.limit)
			leased = c.limit
		}
		return nil
	})
	if err != nil {
		return Sets{}, err
	}
	s.Sent.AddRange(leased, c.limit)
	if unsent := AndNot(known, s.Sent); unsent.Count() > 0 {
		return Sets{}, fmt.Errorf("ledger: outcomes of %d writes that it says were not sent, the first is %d", unsent.Count(), unsent.First(1)[0])
	}
	s.Indeterminate = Or(s.Indeterminate, AndNot(s.Sent, known))
	s.Restarts, s.Epoch = c.restarts, c.epoch
	return s, nil
}

// Bitmap is an exact set of ids; the zero value is empty. Ids dealt out without gaps take a bit each or less, single ones more: see Bytes.
// A copy shares its content with the original.
type Bitmap struct {
	ids roaring64.Bitmap
}

// Add puts id into the set, and returns whether it is new there.
func (b *Bitmap) Add(id uint64) bool { return b.ids.CheckedAdd(id) }

// AddRange puts the ids from first up to, and without, limit into the set.
func (b *Bitmap) AddRange(first, limit uint64) {
	if first < limit { // the library takes an end below the beginning for a mistake
		b.ids.AddRange(first, limit)
	}
}

// Has reports whether id is in the set.
func (b Bitmap) Has(id uint64) bool { return b.ids.Contains(id) }

// Count returns how many ids are in the set.
func (b Bitmap) Count() int64 { return int64(b.ids.GetCardinality()) }

// containerBytes is what a container of the library takes beside its content, with an id of its own in each: the worst that
// ids can do. [M] 524,288 random ids of 64 bits take 79 MiB.
const containerBytes = 160

// Bytes is about how much memory the set takes, rather too much than too little. Bound a Bitmap that is filled from a source that
// may be wrong bounds it. It takes a millisecond with 100,000 ids that stand alone, and far less with dense ones.
func (b Bitmap) Bytes() int64 {
	return int64(b.ids.GetSizeInBytes() + containerBytes*b.ids.Stats().Containers)
}

// First returns the n smallest ids, or all when there are fewer, in rising order.
func (b Bitmap) First(n int) []uint64 {
	var ids []uint64
	for i := b.ids.Iterator(); len(ids) < n && i.HasNext(); {
		ids = append(ids, i.Next())
	}
	return ids
}

// And returns the ids that are in both sets.
func And(a, b Bitmap) Bitmap { return Bitmap{*roaring64.And(&a.ids, &b.ids)} }

// AndNot returns the ids of a that are not in b.
func AndNot(a, b Bitmap) Bitmap { return Bitmap{*roaring64.AndNot(&a.ids, &b.ids)} }

// Or returns the ids that are in either set.
func Or(a, b Bitmap) Bitmap { return Bitmap{*roaring64.Or(&a.ids, &b.ids)} }

// WriteTo writes the set as a 64-bit roaring bitmap in its portable form.
func (b Bitmap) WriteTo(w io.Writer) (int64, error) { return b.ids.WriteTo(w) }

// ReadBitmap reads what WriteTo has written, to the end. What is cut short, or has more behind it, is an error.
func ReadBitmap(r io.Reader) (Bitmap, error) {
	var b Bitmap
	if _, err := b.ids.ReadFrom(r); err != nil {
		return Bitmap{}, fmt.Errorf("read a set of ids: %w", err)
	}
	var more [1]byte
	if n, err := io.ReadFull(r, more[:]); n > 0 || err != io.EOF {
		return Bitmap{}, fmt.Errorf("read a set of ids: more follows than one set")
	}
	return b, nil
}

// Comparison holds the sizes of the sets of writes that docs/internals.md defines, from exact sets: two errors of the same
// size cannot hide each other.
type Comparison struct {
	Sent          int64
	Acknowledged  int64
	Rejected      int64
	Indeterminate int64
	Present       int64 // different ids that the database has
	Lost          int64 // acknowledged and not present
	Recovered     int64 // indeterminate and present
	Vanished      int64 // indeterminate and not present
	Unexpected    int64 // present though rejected, or never sent
	Duplicates    int64 // rows beyond the first of their id
	// Balanced: sent = acknowledged + rejected + indeterminate, and
	// present = acknowledged - lost + recovered + unexpected.
	Balanced bool
	// LostIDs are the lost ones themselves.
	LostIDs Bitmap
}

// Compare compares a ledger with the ids that a database has, and the number of rows that repeat an id.
func Compare(sets Sets, present Bitmap, duplicates int64) Comparison {
	lost := AndNot(sets.Acknowledged, present)
	c := Comparison{
		Sent:          sets.Sent.Count(),
		Acknowledged:  sets.Acknowledged.Count(),
		Rejected:      sets.Rejected.Count(),
		Indeterminate: sets.Indeterminate.Count(),
		Present:       present.Count(),
		Lost:          lost.Count(),
		Recovered:     And(sets.Indeterminate, present).Count(),
		Vanished:      AndNot(sets.Indeterminate, present).Count(),
		Unexpected:    Or(And(sets.Rejected, present), AndNot(present, sets.Sent)).Count(),
		Duplicates:    duplicates,
		LostIDs:       lost,
	}
	c.Balanced = c.Sent == c.Acknowledged+c.Rejected+c.Indeterminate &&
		c.Present == c.Acknowledged-c.Lost+c.Recovered+c.Unexpected
	return c
}

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
