package agent

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/wire"
)

// turn notes what an observation says of who takes the writes, by which a term of this node may begin or end. promotions are the moments at which
// the manager had decided to promote the server, in their order.
func (n *note) turn(self string, s Observation, promotions []time.Time) {
	if n.ends(s) {
		n.Writing = ""
		if !s.First {
			n.EndTerm(s.At)
		}
	}
	n.follow(self, s)
	n.promote(s)
	if n.Writing == "" && s.writes() {
		n.BeginTerm(n.term(s, promotions))
		n.Writing, n.Writer, n.Timeline = s.Server, self, s.Position.Timeline
	}
}

// ends tells whether the term is over: its server is gone or read-only. A server that does not answer may still take writes.
func (n *note) ends(s Observation) bool {
	return n.Writing != "" && (s.Server != n.Writing || s.Position != nil && !s.Position.Writable)
}

// follow notes another leader and its timeline. While this node's term lasts, another leader in the manager's answer is outdated.
func (n *note) follow(self string, s Observation) {
	if s.Leader != "" && s.Leader != self && n.Writing == "" {
		n.Writer = s.Leader
		n.Timeline = max(n.Timeline, s.LeaderTimeline)
	}
	if s.Position != nil && !s.Position.Writable {
		n.Timeline = max(n.Timeline, s.Position.Timeline)
	}
}

// promote notes when a standby was first seen writable. Managers promote only the holder of the lock, and the manager's answer about the lock
// comes later than the server's.
func (n *note) promote(s Observation) {
	switch {
	case s.Position == nil:
	case !s.Position.Writable:
		n.Standby, n.Promoted = s.Server, time.Time{}
	case n.Standby == s.Server && n.Promoted.IsZero():
		n.Promoted = s.At
	}
}

// term is a new term. Each promotion begins a timeline. If more than one timeline began since the last known leader, another leader was missed,
// and After is unknown.
func (n *note) term(s Observation, promotions []time.Time) wire.WriterTerm {
	from := s.At
	if n.Standby == s.Server {
		from = n.Promoted
	}
	t := wire.WriterTerm{From: metav1.NewMicroTime(from), After: n.Writer}
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
