package agent

import (
	"path/filepath"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/agent/history"
	"replab.dev/internal/agent/notes"
	"replab.dev/internal/wire"
)

// note is what an agent knows of its node beyond its own life.
type note struct {
	history.History
	// Writing is the server's process of the last term while that lasts, else "".
	Writing string `json:"writing,omitempty"`
	// Timeline is the latest one that was seen of the last writer, or of those that follow it. WriterTimeline is the one at which Writer was
	// found to be it.
	Timeline       int64 `json:"timeline,omitempty"`
	WriterTimeline int64 `json:"writerTimeline,omitempty"`
	// CopyingSince is when the node was first seen to become the copy that it still is to become.
	CopyingSince *metav1.MicroTime `json:"copyingSince,omitempty"`
	// Backing is since when an absent node has been seen in its place again, zero if it was not in the last observation.
	Backing time.Time `json:"-"`
}

// standby is what the agent saw of the server's process that last answered as a standby. It changes with each look, so it is not kept.
type standby struct {
	server   string
	closed   time.Time // when it was asked, and last answered so
	promoted time.Time // when it was first seen writable, zero while it is a standby
}

// see notes when a standby was first seen writable. Managers promote only the holder of the lock, and the manager's answer about the lock comes
// later than the server's.
func (b *standby) see(s Observation) {
	switch {
	case s.Position == nil:
	case !s.Position.Writable:
		*b = standby{server: s.Server, closed: s.Asked}
	case b.server == s.Server && b.promoted.IsZero():
		b.promoted = s.At
	}
}

// Clone returns a note that can be changed without changing this one.
func (n note) Clone() note {
	n.History = n.History.Clone()
	return n
}

func openNote(stateDir string) (*notes.Kept[note], error) {
	return notes.Open[note](filepath.Join(stateDir, "manager.json"))
}

// turn notes what an observation says about the writer, by which a term of this node may begin or end. before is what was seen of the server as
// a standby. promotions are the moments at which the manager had decided to promote the server, in their order.
func (n *note) turn(self string, s Observation, before standby, promotions []time.Time) {
	if n.ends(s) {
		n.Writing = ""
		if !s.First {
			n.EndTerm(s.At)
		}
	}
	n.follow(self, s)
	if n.Writing == "" && s.writes() {
		n.BeginTerm(n.term(s, before, promotions))
		n.Writing, n.Writer, n.Timeline, n.WriterTimeline = s.Server, self, s.Position.Timeline, s.Position.Timeline
	}
}

// ends tells whether the term is over: its server is gone or read-only. A server that does not answer may still take writes.
func (n *note) ends(s Observation) bool {
	return n.Writing != "" && (s.Server != n.Writing || s.Position != nil && !s.Position.Writable)
}

// follow notes another leader and its timeline. While this node's term lasts, another leader in the manager's answer is outdated. A node that
// holds the lock is the writer once a timeline began with it: it may give the lock up before it is promoted.
func (n *note) follow(self string, s Observation) {
	other := s.Leader != "" && s.Leader != self && n.Writing == ""
	if other {
		n.Timeline = max(n.Timeline, s.LeaderTimeline)
	}
	if s.Position != nil && !s.Position.Writable {
		n.Timeline = max(n.Timeline, s.Position.Timeline)
	}
	switch {
	case !other:
	case s.Leader == n.Writer:
		n.WriterTimeline = max(n.WriterTimeline, s.LeaderTimeline)
	case n.Writer == "" || n.Timeline > n.WriterTimeline:
		n.Writer, n.WriterTimeline = s.Leader, n.Timeline
	}
}

// term is a new term. Each promotion begins a timeline. If more than one timeline began since the last known leader, another leader was missed,
// and After is unknown.
func (n *note) term(s Observation, before standby, promotions []time.Time) wire.WriterTerm {
	from := s.At
	var closed *metav1.MicroTime
	if before.server == s.Server {
		from, closed = before.promoted, ptr.To(metav1.NewMicroTime(before.closed))
	}
	t := wire.WriterTerm{From: metav1.NewMicroTime(from), After: n.Writer, ClosedAt: closed}
	if s.Position.Timeline > n.Timeline+1 {
		t.After = ""
	}
	for _, at := range promotions {
		if !at.After(from) && at.After(n.LastTerm()) {
			noticed := metav1.NewMicroTime(at)
			t.NoticedAt = &noticed
		}
	}
	return t
}

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
