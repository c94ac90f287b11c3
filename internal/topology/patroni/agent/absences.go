package agent

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/internal/wire"
)

// settles is how long a node must be seen in its place until it counts as back, from the first look. A standby says that it streams as soon as
// it asks for the log, and is refused a moment later if the other server does not have that log.
const settles = 500 * time.Millisecond

// move notes whether the node is in its place. rewinds are in their order. Absences begin after the node was first in its place.
func (n *note) move(s Observation, rewinds []wire.RewindNote) {
	in, anew := s.inPlace(), n.anew(s)
	n.Saw(s.Server)
	switch {
	case in:
		n.Was = true
	case !anew:
		n.Leave(s.At)
	}
	a := n.Away()
	if a == nil {
		return
	}
	for _, r := range rewinds {
		if r.BeganAt.After(n.LastBack()) {
			a.Rewind = ptr.To(r)
		}
	}
	n.copied(a, s)
	switch {
	case !in || !knows(s, a.LeftAt.Time):
		n.Backing = time.Time{}
	case n.Backing.IsZero():
		n.Backing = s.At
	case s.At.Sub(n.Backing) >= settles:
		n.Back(n.Backing)
		n.Backing, n.CopyingSince = time.Time{}, nil
	}
}

// anew tells whether an earlier agent saw the same server, and the server or its manager has not answered this agent yet. Then the node need
// not have left its place.
func (n *note) anew(s Observation) bool {
	switch {
	case s.Server == "" || s.Server != n.Server:
		return false
	case s.Position == nil:
		return s.Unanswered
	}
	return s.Position.Writable && s.Untold
}

// knows tells whether the manager has named the leader since a moment. The writer needs none.
func knows(s Observation, since time.Time) bool {
	return s.writes() || s.Leader != "" && s.LeaderAsked.After(since)
}

// copied notes the making of a copy. A manager that does not answer says nothing of it.
func (n *note) copied(a *wire.Absence, s Observation) {
	switch {
	case !s.Answers:
	case s.Copying && n.CopyingSince == nil:
		n.CopyingSince = ptr.To(metav1.NewMicroTime(s.At))
		a.Copied, a.CopyMilliseconds = true, nil
	case !s.Copying && n.CopyingSince != nil:
		a.CopyMilliseconds = ptr.To(s.At.Sub(n.CopyingSince.Time).Milliseconds())
		n.CopyingSince = nil
	}
}
