package agent

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/internal/wire"
)

// settles is for how long a node must be seen in its place until it counts as back, since the first of these looks: a standby says that it
// streams while it only asks to, and is refused a moment later where the other one has no such log.
const settles = 500 * time.Millisecond

// move notes whether the node is in its place. rewinds are in their order; a node that is in its place is not rewound. What happens before it
// first is in its place is no absence.
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

// anew tells whether the server is the one that an agent before this one saw, and has not told this agent yet where it is; or its manager
// has not told whose the lock is. Then the node need not have left its place.
func (n *note) anew(s Observation) bool {
	switch {
	case s.Server == "" || s.Server != n.Server:
		return false
	case s.Position == nil:
		return s.Unanswered
	}
	return s.Position.Writable && s.Untold
}

// knows tells whether it is known whom a node has to follow since a moment; the writer follows nobody.
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
