package rewind

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"replab.dev/internal/agent/notes"
	"replab.dev/internal/wire"
)

// mark is a note beside a data directory while the program changes it, which stays when that came to no good end: data that are part of one
// history and part of another are none that can be read. They have committed nothing since.
type mark struct {
	dataDir string
	control string // as in engine.RewindCall
}

func (m mark) file() notes.File[string] {
	return notes.File[string]{Path: filepath.Join(filepath.Dir(m.dataDir), "replab-rewinding")}
}

// data tells those in the directory from others that take their place, and from themselves once a server has run on them.
func (m mark) data() (string, error) {
	var stat syscall.Stat_t
	file := filepath.Join(m.dataDir, m.control)
	if err := syscall.Stat(file, &stat); err != nil {
		return "", fmt.Errorf("look at %s: %w", file, err)
	}
	return fmt.Sprintf("%d %d.%09d", stat.Ino, stat.Mtim.Sec, stat.Mtim.Nsec), nil
}

func (m mark) put() error {
	data, err := m.data()
	if err != nil {
		return err
	}
	return m.file().Save(data)
}

// stands tells whether it is of these data as they are.
func (m mark) stands() bool {
	noted, err := m.file().Load()
	if err != nil || noted == nil {
		return false
	}
	data, err := m.data()
	return err == nil && *noted == data
}

func (m mark) remove() error { return m.file().Remove() }

// appendNote adds a line for the agent.
func appendNote(runDir string, note wire.RewindNote) error {
	text, err := json.Marshal(note)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(runDir, wire.RewindsFile), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	return errors.Join(err, f.Close())
}
