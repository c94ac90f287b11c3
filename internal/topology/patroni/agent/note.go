package agent

import (
	"path/filepath"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/agent/history"
	"replab.dev/internal/agent/notes"
)

// note is what an agent knows of its node beyond its own life.
type note struct {
	history.History
	// Writing is the server's process of the last term while that lasts, else "".
	Writing string `json:"writing,omitempty"`
	// Timeline is the latest one that was seen of the last writer, or of those that follow it.
	Timeline int64 `json:"timeline,omitempty"`
	// Standby is the server's process that last answered as a standby. Promoted is when it was first seen writable, zero while it is a standby.
	Standby  string    `json:"-"`
	Promoted time.Time `json:"-"`
	// CopyingSince is when the node was first seen to become the copy that it still is to become.
	CopyingSince *metav1.MicroTime `json:"copyingSince,omitempty"`
	// Backing is since when an absent node has been seen in its place again, zero if it was not in the last observation.
	Backing time.Time `json:"-"`
}

// Clone returns a note that can be changed without changing this one.
func (n note) Clone() note {
	n.History = n.History.Clone()
	return n
}

func openNote(stateDir string) (*notes.Kept[note], error) {
	return notes.Open[note](filepath.Join(stateDir, "manager.json"))
}
