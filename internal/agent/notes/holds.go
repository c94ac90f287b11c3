package notes

import (
	"slices"
	"time"
)

// Hold keeps a server from being started: the agent puts it, the start wrapper waits while it stands. It outlives container and pod, and has
// its end in it, so that the server comes back on time even without an agent.
type Hold struct {
	Fault string     `json:"fault"`           // name of the fault that it belongs to
	Until *time.Time `json:"until,omitempty"` // absent: until it is removed
}

// PutHold writes a hold, or replaces the one of the same fault.
func PutHold(dir string, h Hold) error { return holds(dir).Save(h.Fault, h) }

// RemoveHold ends the hold of a fault; there may be none.
func RemoveHold(dir, fault string) error { return holds(dir).File(fault).Remove() }

// StandingHolds returns the holds that are not over at the given time, by name.
func StandingHolds(dir string, now time.Time) ([]Hold, error) {
	all, err := holds(dir).Load()
	return slices.DeleteFunc(all, func(h Hold) bool { return h.Until != nil && !now.Before(*h.Until) }), err
}

func holds(dir string) Folder[Hold] { return Folder[Hold]{Dir: dir} }
