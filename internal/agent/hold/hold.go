// Package hold keeps a server from being started: the agent puts a hold, the start wrapper waits while one stands. Each
// hold is a file on the node's volume, so it outlives the container and the pod, and has its end in it, so that the
// server comes back on time even where no agent does. The agent writes the folder, the server's container reads it.
package hold

import (
	"slices"
	"time"

	"replab.dev/internal/agent/notes"
)

// Hold is one reason to wait.
type Hold struct {
	Fault string     `json:"fault"`           // name of the fault that it belongs to
	Until *time.Time `json:"until,omitempty"` // absent: until it is removed
}

// Put writes a hold, or replaces the one of the same fault.
func Put(dir string, h Hold) error { return in(dir).Save(h.Fault, h) }

// Remove ends the hold of a fault; there may be none.
func Remove(dir, fault string) error { return in(dir).File(fault).Remove() }

// Standing returns the holds that are not over at the given time, by name.
func Standing(dir string, now time.Time) ([]Hold, error) {
	all, err := in(dir).Load()
	return slices.DeleteFunc(all, func(h Hold) bool { return h.Until != nil && !now.Before(*h.Until) }), err
}

func in(dir string) notes.Folder[Hold] { return notes.Folder[Hold]{Dir: dir} }
