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

// ends tells whether the term that lasts is over: its server is gone, or takes no writes any more. One that does not answer may still.
func (n *note) ends(s Observation) bool {
	return n.Writing != "" && (s.Server != n.Writing || s.Position != nil && !s.Position.Writable)
}

// follow notes who else is the leader, and on which timeline it and those that follow it are. While this node's term lasts, what its manager
// told of another one is old news.
func (n *note) follow(self string, s Observation) {
	if s.Leader != "" && s.Leader != self && n.Writing == "" {
		n.Writer = s.Leader
		n.Timeline = max(n.Timeline, s.LeaderTimeline)
	}
	if s.Position != nil && !s.Position.Writable {
		n.Timeline = max(n.Timeline, s.Position.Timeline)
	}
}

// promote notes when a standby was seen to become writable. Managers promote those alone that hold the lock, but what this one says of the
// lock comes later than what the server does.
func (n *note) promote(s Observation) {
	switch {
	case s.Position == nil:
	case !s.Position.Writable:
		n.Standby, n.Promoted = s.Server, time.Time{}
	case n.Standby == s.Server && n.Promoted.IsZero():
		n.Promoted = s.At
	}
}

// term is one that begins. Each promotion begins a timeline: where more than one has begun since the last leader that is known, somebody
// led whom nobody here saw, and who that was is not said.
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
