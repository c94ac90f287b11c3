package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"replab.dev/internal/durable"
	"replab.dev/internal/wire"
)

// Notes are what a node's start wrapper tells the agent beside it, by files in a folder of both. The folder goes with the pod.
type Notes struct{ Dir string }

// noteMost bounds what the agent reads of what the server's container has written.
const noteMost = 1 << 20

func (n Notes) start() string     { return filepath.Join(n.Dir, "group-start.json") }
func (n Notes) transfers() string { return filepath.Join(n.Dir, "group-transfers.json") }

// PutStart notes how far the wrapper is.
func (n Notes) PutStart(s wire.GroupStart) error { return put(n.start(), s) }

// RemoveStart takes the note back: nobody may count on the node's data any more.
func (n Notes) RemoveStart() error {
	if err := os.Remove(n.start()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("take back what is told to the other members: %w", err)
	}
	return nil
}

// Start is the wrapper's last note, nil without one.
func (n Notes) Start() (*wire.GroupStart, error) {
	var s wire.GroupStart
	found, err := get(n.start(), &s)
	if err != nil || !found {
		return nil, err
	}
	return &s, nil
}

// PutTransfers notes all transfers since the pod began.
func (n Notes) PutTransfers(all []wire.StateTransfer) error { return put(n.transfers(), all) }

// Transfers are those that the wrapper has noted.
func (n Notes) Transfers() (all []wire.StateTransfer, err error) {
	_, err = get(n.transfers(), &all)
	return all, err
}

func put(file string, document any) error {
	text, err := json.Marshal(document)
	if err != nil {
		return fmt.Errorf("note %s: %w", file, err)
	}
	return durable.WriteFile(file, text, 0o644)
}

func get(file string, into any) (bool, error) {
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil && info.Size() > noteMost {
		err = fmt.Errorf("it has %d bytes, which is no note", info.Size())
	}
	if err != nil {
		return false, fmt.Errorf("read note: %w", err)
	}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read note: %w", err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		return false, fmt.Errorf("read note %s: %w", file, err)
	}
	return true, nil
}
