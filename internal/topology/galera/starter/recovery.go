package starter

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"replab.dev/internal/engine"
	"replab.dev/internal/starter"
	"replab.dev/internal/wire"
)

// recoveryOutputMost bounds what is kept of what a recovery writes.
const recoveryOutputMost = 1 << 20

// unfinished tells whether the data are a part of what another member was handing over.
func (m *member) unfinished() (bool, error) {
	how := m.engine.Recovery(m.Config.Server)
	for _, marks := range []struct {
		names []string
		there bool // the data are a part where one of them is there, or else where one is missing
	}{{how.Unfinished, true}, {how.Whole, false}} {
		for _, name := range marks.names {
			_, err := os.Stat(filepath.Join(m.Config.DataDir, name))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return false, fmt.Errorf("look for an unfinished transfer: %w", err)
			}
			if (err == nil) == marks.there {
				return true, nil
			}
		}
	}
	return false, nil
}

// findPosition finds out how far the data have come; empty data never belonged to a agent. It leaves them recovered: what a start after it
// reads is what the position stands for.
func (m *member) findPosition(ctx context.Context, empty bool) (wire.GroupPosition, error) {
	if empty {
		return wire.GroupPosition{}, nil
	}
	how := m.engine.Recovery(m.Config.Server)
	note, err := m.note(how.Note)
	if err != nil {
		return wire.GroupPosition{}, err
	}
	var output tail
	if err := starter.Execute(ctx, how.Start, io.MultiWriter(os.Stderr, &output)); err != nil { // to kill it changes nothing that the next start would not
		return wire.GroupPosition{}, fmt.Errorf("find out how far the data have come: %w", err)
	}
	return toldPosition(how, &output, note)
}

// toldPosition reads what a recovery wrote. That data were not closed in order, so that the note may be of a moment before, is said at its
// beginning: where that is not kept the note is not believed.
func toldPosition(how engine.Recovery, output *tail, note string) (wire.GroupPosition, error) {
	if output.cut {
		note = ""
	}
	return how.Position(output.String(), note)
}

// note is what a file of the data says, "" without one.
func (m *member) note(name string) (string, error) {
	if name == "" {
		return "", nil
	}
	text, err := os.ReadFile(filepath.Join(m.Config.DataDir, name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("find out how far the data have come: %w", err)
	}
	return string(text), nil
}

// tail keeps the last part of what is written to it.
type tail struct {
	bytes.Buffer
	cut bool // there was more before it
}

func (t *tail) Write(p []byte) (int, error) {
	n, err := t.Buffer.Write(p)
	if over := t.Len() - recoveryOutputMost; over > 0 {
		t.Next(over)
		t.cut = true
	}
	return n, err
}
