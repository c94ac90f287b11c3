package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"replab.dev/internal/wire"
)

// recoveryOutputMost bounds what is kept of what a recovery writes.
const recoveryOutputMost = 1 << 20

// unfinished tells whether the data are a part of what another member was handing over.
func (m *member) unfinished() (bool, error) {
	if m == nil {
		return false, nil
	}
	for _, name := range m.engine.Recovery(m.cfg.Server).Unfinished {
		_, err := os.Stat(filepath.Join(m.cfg.DataDir, name))
		if err == nil {
			return true, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return false, fmt.Errorf("look for an unfinished transfer: %w", err)
		}
	}
	return false, nil
}

// findPosition finds out how far the data have come; empty data never belonged to a group. It leaves them recovered: what a start after it
// reads is what the position stands for.
func (m *member) findPosition(ctx context.Context, empty bool) (wire.GroupPosition, error) {
	if m == nil || empty {
		return wire.GroupPosition{}, nil
	}
	how := m.engine.Recovery(m.cfg.Server)
	if err := removeAll(how.Remove); err != nil {
		return wire.GroupPosition{}, err
	}
	note, err := m.note(how.Note)
	if err != nil {
		return wire.GroupPosition{}, err
	}
	var output tail
	c, err := start(how.Argv, how.Env, io.MultiWriter(os.Stderr, &output))
	if err != nil {
		return wire.GroupPosition{}, fmt.Errorf("find out how far the data have come: %w", err)
	}
	stop := context.AfterFunc(ctx, c.kill) // it changes nothing that the next start would not
	defer stop()
	if code := c.wait(); code != 0 {
		return wire.GroupPosition{}, fmt.Errorf("find out how far the data have come: %s ended with exit code %d; its messages are above", how.Argv[0], code)
	}
	return how.Position(output.String(), note)
}

// note is what a file of the data says, "" without one.
func (m *member) note(name string) (string, error) {
	if name == "" {
		return "", nil
	}
	text, err := os.ReadFile(filepath.Join(m.cfg.DataDir, name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("find out how far the data have come: %w", err)
	}
	return string(text), nil
}

// tail keeps the last part of what is written to it.
type tail struct{ bytes.Buffer }

func (t *tail) Write(p []byte) (int, error) {
	n, err := t.Buffer.Write(p)
	if over := t.Len() - recoveryOutputMost; over > 0 {
		t.Next(over)
	}
	return n, err
}
