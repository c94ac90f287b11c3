package agent

import (
	"path/filepath"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/agent/history"
	"replab.dev/internal/agent/notes"
	"replab.dev/internal/wire"
)

// note is what an agent knows of its member beyond its own life.
type note struct {
	history.History
	Resigned  int64                `json:"resigned,omitempty"` // as in wire.GroupState
	Transfers []wire.StateTransfer `json:"transfers,omitempty"`
}

// Clone returns a note that can be changed without changing this one.
func (n note) Clone() note {
	n.History, n.Transfers = n.History.Clone(), slices.Clone(n.Transfers)
	return n
}

func openNote(stateDir string) (*notes.Kept[note], error) {
	return notes.Open[note](filepath.Join(stateDir, "group.json"))
}

// turn notes the writer from now on, which may begin or end a term of this member. asked is the switchover that caused it, "" for none.
// noticed is when the switchover was asked for, or when the writer before was lost.
func (n *note) turn(self, writer, asked string, noticed, now time.Time) {
	open := len(n.Terms) > 0 && n.Terms[len(n.Terms)-1].To == nil
	switch {
	case open && writer != self:
		n.EndTerm(now)
	case !open && writer == self:
		term := wire.WriterTerm{From: metav1.NewMicroTime(now), After: n.Writer}
		if n.Writer != "" && n.Writer != self {
			at := metav1.NewMicroTime(noticed)
			term.NoticedAt, term.Switchover = &at, asked
		}
		n.BeginTerm(term)
	}
	if writer != "" {
		n.Writer = writer
	}
}

// counts notes for a term that has just begun whether the group still counts the writer before.
func (n *note) counts(own *wire.GroupView) {
	if i := len(n.Terms) - 1; i >= 0 && n.Terms[i].To == nil && own != nil {
		n.Terms[i].AfterCounts = slices.Contains(own.Members, n.Terms[i].After)
	}
}

// move notes whether the member is in its place.
func (n *note) move(inPlace bool, now time.Time) {
	if !inPlace {
		n.Leave(now)
		return
	}
	a := n.Back(now)
	if last := len(n.Transfers) - 1; a != nil && last >= 0 && n.Transfers[last].BeganAt.After(a.LeftAt.Time) && n.Transfers[last].EndedAt != nil {
		t := n.Transfers[last]
		a.Resync = &v1alpha1.ResyncStatus{Method: t.Kind, DurationMilliseconds: t.Milliseconds, NetworkReceivedBytes: t.NetworkReceivedBytes}
	}
}
