package plugin

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"replab.dev/internal/atomicfile"
	"replab.dev/internal/plain"
)

// resultFile is a file for a CI server, which was opened before the first run.
type resultFile struct {
	path string
	// stream is a pipe or a device, which takes its text once and stays open until then. It is nil for a regular file.
	stream *os.File
}

// open both files, so that one that cannot be written is an error before anything runs.
func (r *record) open() error {
	junit, err := r.junit.open()
	if err != nil {
		return err
	}
	summary, err := r.summary.open()
	if err != nil {
		return err
	}
	if junit != nil && summary != nil && junit.Mode().IsRegular() && os.SameFile(junit, summary) {
		return errors.New("--junit and --summary name the same file: name two")
	}
	if junit != nil && r.junit.stream == nil {
		return unwritten(os.Truncate(r.junit.path, 0)) // what an earlier command wrote is not of these runs
	}
	return nil
}

// open tells what is at the path, nil for no path. It keeps a stream open.
func (o *resultFile) open() (os.FileInfo, error) {
	if o.path == "" {
		return nil, nil
	}
	f, err := appending(o.path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, unwritten(errors.Join(err, f.Close()))
	}
	if isStream(o.path, info) {
		o.stream = f
		return info, nil
	}
	return info, unwritten(f.Close())
}

func appending(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	return f, unwritten(err)
}

// isStream is also true of names for open files, such as /dev/stdout: others write into these too.
func isStream(path string, info os.FileInfo) bool {
	path, _ = filepath.Abs(path)
	return !info.Mode().IsRegular() || slices.Contains([]string{"/dev", "/dev/fd", "/proc/self/fd"}, filepath.Dir(path))
}

func unwritten(err error) error {
	if err != nil {
		return fmt.Errorf("write the results of the runs: %w", err)
	}
	return nil
}

// replace the content of a regular file, so that its readers never see half of it.
func (o resultFile) replace(write func(io.Writer) error) error {
	if o.path == "" || o.stream != nil {
		return nil
	}
	var text bytes.Buffer
	if err := write(plain.Writer(&text)); err != nil {
		return unwritten(err)
	}
	path, err := filepath.EvalSymlinks(o.path)
	if err != nil {
		path = o.path
	}
	if atomicfile.WriteFile(path, text.Bytes(), 0o644) == nil {
		return nil
	}
	return unwritten(os.WriteFile(path, text.Bytes(), 0o644)) // no room or no right for a file beside it
}

// add a text to a file or a stream.
func (o resultFile) add(write func(io.Writer) error) error {
	if o.path == "" {
		return nil
	}
	f, err := o.stream, error(nil)
	if f == nil {
		f, err = appending(o.path)
	}
	if err != nil {
		return err
	}
	return unwritten(errors.Join(write(plain.Writer(f)), f.Close()))
}
