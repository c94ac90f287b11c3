package agent

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
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
			rewound(a, r)
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

// rewound notes that the node's own commits were taken back. It was read before, and was kept apart for as long. A copy replaces what a rewind
// has left.
func rewound(a *wire.Absence, r wire.RewindNote) {
	inspected := metav1.NewMicroTime(r.BeganAt.Add(time.Duration(r.InspectedMilliseconds) * time.Millisecond))
	a.RequestedAt = &inspected
	switch {
	case a.Resync != nil && a.Resync.Method == v1alpha1.ResyncBackup:
	case r.ExitCode != 0:
		a.Resync = nil
	default:
		took := max(r.EndedAt.Sub(inspected.Time), 0).Milliseconds()
		a.Resync = &v1alpha1.ResyncStatus{Method: v1alpha1.ResyncRewind, DurationMilliseconds: &took}
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
		a.Resync = &v1alpha1.ResyncStatus{Method: v1alpha1.ResyncBackup}
	case !s.Copying && n.CopyingSince != nil:
		a.Resync = &v1alpha1.ResyncStatus{Method: v1alpha1.ResyncBackup, DurationMilliseconds: ptr.To(s.At.Sub(n.CopyingSince.Time).Milliseconds())}
		n.CopyingSince = nil
	}
}
