package ledger

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"replab.dev/internal/atomicfile"
)

// Open creates the ledger at path, or continues the one that is there: a torn last record is cut off, and a restart is
// recorded. A ledger that is damaged, or that another process holds open, is an error and stays untouched. now is the
// epoch of a new ledger, and the base of the times that Record is given.
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
