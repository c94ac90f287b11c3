package agent

import (
	"path/filepath"

	"replab.dev/internal/agent/notes"
	"replab.dev/internal/wire"
)

// noteMost bounds what the agent reads of what the server's container has written, in bytes.
const noteMost = 1 << 20

// Notes are what a node's start wrapper tells the agent beside it.
type Notes struct {
	Start     notes.File[wire.GroupStart]      // how far the wrapper is
	Transfers notes.File[[]wire.StateTransfer] // all since the pod began
}

// NotesIn are those in a folder of both, which goes with the pod.
func NotesIn(dir string) Notes {
	return Notes{
		Start:     notes.File[wire.GroupStart]{Path: filepath.Join(dir, "group-start.json"), Most: noteMost},
		Transfers: notes.File[[]wire.StateTransfer]{Path: filepath.Join(dir, "group-transfers.json"), Most: noteMost},
	}
}

// AllTransfers are those that the wrapper has noted.
func (n Notes) AllTransfers() ([]wire.StateTransfer, error) {
	all, err := n.Transfers.Load()
	if all == nil {
		return nil, err
	}
	return *all, err
}
