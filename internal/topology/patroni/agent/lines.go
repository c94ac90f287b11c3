package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"replab.dev/internal/wire"
)

// linesMost bounds what the agent reads of what the server's container has written.
const linesMost = 1 << 20

// lines are the notes in a file that others append to, a line each.
type lines[T any] struct {
	file  string
	parse func(line string) (T, error)

	size int64 // of the file when it was read
	all  []T
}

// read returns those that are whole. One that cannot be read is an error, and passed over.
func (l *lines[T]) read() ([]T, error) {
	info, err := os.Stat(l.file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		l.size, l.all = 0, nil
		return nil, nil
	case err != nil:
		return l.all, fmt.Errorf("read notes: %w", err)
	case info.Size() == l.size:
		return l.all, nil
	case info.Size() > linesMost:
		return l.all, fmt.Errorf("read notes: %s has %d bytes, which are no notes", l.file, info.Size())
	}
	text, err := os.ReadFile(l.file)
	if err != nil {
		return l.all, fmt.Errorf("read notes: %w", err)
	}
	l.size, l.all = int64(len(text)), nil
	var wrong error
	for line := range strings.Lines(string(text)) {
		if !strings.HasSuffix(line, "\n") {
			break // it is being written
		}
		one, err := l.parse(strings.TrimSpace(line))
		if err != nil {
			wrong = fmt.Errorf("read notes: %s holds %q: %w", l.file, line, err)
			continue
		}
		l.all = append(l.all, one)
	}
	return l.all, wrong
}

// promotionsIn are the moments at which the manager had decided to promote the server.
func promotionsIn(runDir string) *lines[time.Time] {
	return &lines[time.Time]{file: filepath.Join(runDir, wire.PromotionsFile), parse: unixTime}
}

// rewindsIn are the attempts to take back what the node had by itself.
func rewindsIn(runDir string) *lines[wire.RewindNote] {
	return &lines[wire.RewindNote]{file: filepath.Join(runDir, wire.RewindsFile), parse: func(line string) (n wire.RewindNote, err error) {
		err = json.Unmarshal([]byte(line), &n)
		return n, err
	}}
}

// unixTime reads seconds of Unix time with nine digits behind the point, or with none.
func unixTime(text string) (time.Time, error) {
	whole, fraction, _ := strings.Cut(text, ".")
	seconds, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return time.Time{}, err
	}
	if fraction == "" {
		return time.Unix(seconds, 0), nil
	}
	nanoseconds, err := strconv.ParseUint(fraction, 10, 32)
	if err != nil || len(fraction) != 9 {
		return time.Time{}, fmt.Errorf("%q is no time", text)
	}
	return time.Unix(seconds, int64(nanoseconds)), nil
}
