package agent

import (
	"path/filepath"

	"replab.dev/internal/agent/notes"
	"replab.dev/internal/wire"
)

// Notes are what a node's start wrapper tells the agent beside it, by files in a folder of both. The folder goes with the pod.
type Notes struct{ Dir string }

// noteMost bounds what the agent reads of what the server's container has written, in bytes.
const noteMost = 1 << 20

func (n Notes) start() notes.File[wire.GroupStart] {
	return notes.File[wire.GroupStart]{Path: filepath.Join(n.Dir, "group-start.json"), Most: noteMost}
}

func (n Notes) transfers() notes.File[[]wire.StateTransfer] {
	return notes.File[[]wire.StateTransfer]{Path: filepath.Join(n.Dir, "group-transfers.json"), Most: noteMost}
}

// PutStart notes how far the wrapper is.
func (n Notes) PutStart(s wire.GroupStart) error { return n.start().Save(s) }

// RemoveStart takes the note back: nobody may count on the node's data any more.
func (n Notes) RemoveStart() error { return n.start().Remove() }

// Start is the wrapper's last note, nil without one.
func (n Notes) Start() (*wire.GroupStart, error) { return n.start().Load() }

// PutTransfers notes all transfers since the pod began.
func (n Notes) PutTransfers(all []wire.StateTransfer) error { return n.transfers().Save(all) }

// Transfers are those that the wrapper has noted.
func (n Notes) Transfers() ([]wire.StateTransfer, error) {
	all, err := n.transfers().Load()
	if all == nil {
		return nil, err
	}
	return *all, err
}
