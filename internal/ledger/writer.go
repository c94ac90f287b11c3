package ledger

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"replab.dev/internal/atomicfile"
)

var (
	// ErrClosed is returned by Next and Record after Close.
	ErrClosed = errors.New("the ledger is closed")
	// ErrFailed is wrapped by every error of a Writer that could not write: it refuses everything from then on.
	ErrFailed = errors.New("the ledger can no longer be written")
)

// Writer appends to a ledger. Its methods may be called concurrently.
type Writer struct {
	epoch    time.Time
	base     time.Time // `now` of Open, with its monotonic reading
	restarts int64
	first    uint64 // of the ids that this writer may hand out

	leasing sync.Mutex // taken before appending
	next    atomic.Uint64
	limit   uint64 // first id that is not leased

	appending sync.Mutex
	file      *appendFile
	err       error // why nothing is written any more
	buf       [RecordBytes]byte
}

// Restarts returns how often a writer came up on this ledger after the one that made it, this one included.
func (w *Writer) Restarts() int64 { return w.restarts }

// Epoch returns the time that the ledger's times count from: when it was made, in whole milliseconds.
func (w *Writer) Epoch() time.Time { return w.epoch }

// Next hands out an id that was never handed out before: 1, 2, 3 and so on. After a restart it goes on with a new block,
// since the writer before may have used any id of its last one. Once in BlockIDs ids it waits for the disk.
func (w *Writer) Next() (uint64, error) {
	w.leasing.Lock()
	defer w.leasing.Unlock()
	if err := w.failure(); err != nil {
		return 0, err
	}
	id := w.next.Load()
	if id == w.limit {
		if err := w.lease(); err != nil {
			return 0, err
		}
	}
	w.next.Store(id + 1)
	return id, nil
}

// lease makes one more block durable. w.leasing is held; outcomes may be recorded meanwhile.
func (w *Writer) lease() error {
	if w.limit > MaxID-BlockIDs {
		return fmt.Errorf("lease from id %d: a ledger holds at most %d ids", w.limit, uint64(MaxID))
	}
	if err := w.append(w.limit, KindLease, 0); err != nil {
		return err
	}
	if err := w.file.sync(); err != nil {
		return w.fail(err)
	}
	w.limit += BlockIDs
	return nil
}

// Record appends the outcome of a write that Next handed out, once for each, before the outcome is reported. The record has reached the kernel
// when it returns. Monotonic readings of at and of Open's time count, so setting the clock does not reorder the ledger.
func (w *Writer) Record(id uint64, o Outcome, at time.Time) error {
	if id < w.first || id >= w.next.Load() {
		return fmt.Errorf("record the outcome of write %d: this writer did not hand it out", id)
	}
	if o < Acknowledged || o > Indeterminate {
		return fmt.Errorf("record the outcome of write %d: there is no outcome %d", id, o)
	}
	stamp, err := microseconds(w.base.Round(0).Sub(w.epoch) + at.Sub(w.base))
	if err != nil {
		return fmt.Errorf("record the outcome of write %d: %w", id, err)
	}
	return w.append(id, Kind(o), stamp)
}

// Close takes back the ids that were not handed out, flushes the ledger and closes it. Closing again does nothing; a
// writer that failed has nothing to take back and says again why.
func (w *Writer) Close() error {
	w.leasing.Lock()
	defer w.leasing.Unlock()
	if errors.Is(w.failure(), ErrClosed) {
		return nil
	}
	err := w.appendLast(w.next.Load())
	if err == nil {
		if err = w.file.sync(); err != nil {
			err = w.fail(err)
		}
	}
	if closeErr := w.file.close(); err == nil {
		err = closeErr
	}
	return err
}

func (w *Writer) append(id uint64, kind Kind, stamp int64) error {
	w.appending.Lock()
	defer w.appending.Unlock()
	return w.appendLocked(id, kind, stamp)
}

// appendLast appends the closed record, and lets nothing follow it.
func (w *Writer) appendLast(id uint64) error {
	w.appending.Lock()
	defer w.appending.Unlock()
	if err := w.appendLocked(id, KindClosed, 0); err != nil {
		return err
	}
	w.err = ErrClosed
	return nil
}

func (w *Writer) appendLocked(id uint64, kind Kind, stamp int64) error {
	if w.err != nil {
		return w.err
	}
	encode(&w.buf, id, kind, stamp)
	if err := w.file.append(w.buf[:]); err != nil {
		w.err = fmt.Errorf("%w: %w", ErrFailed, err)
	}
	return w.err
}

func (w *Writer) fail(cause error) error {
	w.appending.Lock()
	defer w.appending.Unlock()
	if w.err == nil || errors.Is(w.err, ErrClosed) {
		w.err = fmt.Errorf("%w: %w", ErrFailed, cause)
	}
	return w.err
}

func (w *Writer) failure() error {
	w.appending.Lock()
	defer w.appending.Unlock()
	return w.err
}

// Open creates the ledger at path, or continues it: a torn last record is cut off, and a restart recorded. It fails on a ledger that is damaged or
// held open by another process. now is the epoch of a new ledger, and the base of Record's times.
func Open(path string, now time.Time) (*Writer, error) {
	w, err := open(path, now)
	if err != nil {
		return nil, fmt.Errorf("open the ledger %s: %w", path, err)
	}
	return w, nil
}

func open(path string, now time.Time) (*Writer, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	w, err := begin(f, now)
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return w, nil
}

func begin(f *os.File, now time.Time) (*Writer, error) {
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, fmt.Errorf("lock it: %w: does another recorder write to it?", err)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	var c checker
	if info.Size() >= RecordBytes {
		if err := read(f, &c, func(Record) error { return nil }); err != nil {
			return nil, err
		}
	}
	file := &appendFile{f: f, size: info.Size() - info.Size()%RecordBytes}
	if err := f.Truncate(file.size); err != nil {
		return nil, fmt.Errorf("cut off its torn last record: %w", err)
	}
	w := &Writer{base: now, file: file}
	if err := w.start(&c); err != nil {
		return nil, err
	}
	// Its name too: a ledger that is forgotten with its ids would deal them out again.
	if err := errors.Join(file.sync(), atomicfile.SyncDir(filepath.Dir(f.Name()))); err != nil {
		return nil, err
	}
	return w, nil
}

// start writes the header of a new ledger, or a restart into one that c has read.
func (w *Writer) start(c *checker) error {
	if !c.seen {
		c.epoch, c.limit = w.base.UTC().Truncate(time.Millisecond), 1
		header(&w.buf, c.epoch)
	} else {
		stamp, err := microseconds(w.base.Round(0).Sub(c.epoch))
		if err != nil {
			return err
		}
		c.restarts++
		encode(&w.buf, 0, KindRestart, stamp)
	}
	w.epoch, w.restarts, w.first, w.limit = c.epoch, c.restarts, c.limit, c.limit
	w.next.Store(c.limit)
	return w.file.append(w.buf[:])
}

// appendFile is a file of whole records.
type appendFile struct {
	f    *os.File
	size int64
}

// append writes one record. What a failed write left of it is cut off again, as far as the disk still allows: readers
// take a torn record for the end.
func (a *appendFile) append(record []byte) error {
	n, err := a.f.Write(record)
	if err == nil && n < len(record) {
		err = io.ErrShortWrite
	}
	if err == nil {
		a.size += int64(n)
		return nil
	}
	if n > 0 {
		err = errors.Join(err, a.f.Truncate(a.size))
	}
	return withSpaceHint(err)
}

func withSpaceHint(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("%w: give the recorder's volume more space", err)
	}
	return err
}

func (a *appendFile) sync() error {
	for {
		err := syscall.Fdatasync(int(a.f.Fd()))
		if err == nil {
			return nil
		}
		if !errors.Is(err, syscall.EINTR) {
			return withSpaceHint(&fs.PathError{Op: "fdatasync", Path: a.f.Name(), Err: err})
		}
	}
}

func (a *appendFile) close() error { return a.f.Close() }
