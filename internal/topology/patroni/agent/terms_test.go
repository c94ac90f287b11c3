package agent

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

const self = "a-db-1"

var began = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// at is a moment of a test, in seconds since it began.
func at(seconds float64) time.Time {
	return began.Add(time.Duration(seconds * float64(time.Second)))
}

func since(m metav1.MicroTime) string { return fmt.Sprint(m.Sub(began).Seconds()) }

// writer is a node that takes the writes, by a process of its server.
func writer(seconds float64, server string, timeline int64) Observation {
	return Observation{
		At: at(seconds), Server: server, Position: &engine.ServerPosition{Writable: true, Timeline: timeline}, Holds: true, Answers: true,
		Leader: self, LeaderTimeline: timeline, LeaderAsked: at(seconds),
	}
}

// streaming is a standby on a timeline, that of its leader.
func streaming(seconds float64, server string, timeline int64, leader string) Observation {
	return Observation{
		At: at(seconds), Server: server, Position: &engine.ServerPosition{Streaming: true, Timeline: timeline}, Answers: true,
		Leader: leader, LeaderTimeline: timeline, LeaderAsked: at(seconds),
	}
}

// gone is a node without a server, that knows of nobody who leads.
func gone(seconds float64) Observation { return Observation{At: at(seconds), Answers: true} }

// but changes an observation.
func (s Observation) but(change func(*Observation)) Observation {
	if s.Position != nil {
		position := *s.Position
		s.Position = &position
	}
	change(&s)
	return s
}

func silent(s *Observation)     { s.Position = nil }
func unlocked(s *Observation)   { s.Holds = false }
func newAgent(s *Observation)   { s.First = true }
func alone(s *Observation)      { s.Position.Streaming = false }
func leaderless(s *Observation) { s.Leader = "" }
func copying(s *Observation)    { s.Copying = true }
func mute(s *Observation)       { s.Answers = false }
func unanswered(s *Observation) { s.Position, s.Unanswered = nil, true }
func untold(s *Observation)     { s.Holds, s.Leader, s.Answers, s.Untold = false, "", false, true }

// toldTerms are terms as "from-to after whom, noticed when".
func toldTerms(all []wire.WriterTerm) string {
	var texts []string
	for _, t := range all {
		text := since(t.From) + "-"
		if t.To != nil {
			text += since(*t.To)
		}
		if t.After != "" {
			text += " after " + t.After
		}
		if t.NoticedAt != nil {
			text += ", noticed " + since(*t.NoticedAt)
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "; ")
}

func TestTerms(t *testing.T) {
	for name, c := range map[string]struct {
		observations []Observation
		promotions   []float64
		want         string
	}{
		"the first leader of all follows nobody": {
			observations: []Observation{gone(0), writer(3, "p1", 1).but(unlocked), writer(4, "p1", 1), writer(60, "p1", 1)},
			want:         "4-",
		},
		"a server that is killed ends its term, and what it does as a standby begins none": {
			observations: []Observation{writer(0, "p1", 1), gone(10), streaming(40, "p2", 2, "a-db-0")},
			want:         "0-10",
		},
		"a standby that is promoted follows the leader before": {
			observations: []Observation{streaming(0, "p1", 1, "a-db-0"), streaming(20, "p1", 1, "").but(alone), writer(21, "p1", 2).but(leaderless)},
			promotions:   []float64{20.2},
			want:         "21- after a-db-0, noticed 20.2",
		},
		"the lock is its own before it is promoted": {
			observations: []Observation{streaming(0, "p1", 1, "a-db-0"), streaming(20, "p1", 1, self).but(alone), writer(21, "p1", 2)},
			promotions:   []float64{20.2},
			want:         "21- after a-db-0, noticed 20.2",
		},
		"it is promoted before its manager was heard to hold the lock": {
			observations: []Observation{
				streaming(0, "p1", 1, "a-db-0"), streaming(20, "p1", 1, "").but(alone), writer(21, "p1", 2).but(unlocked),
				writer(21.1, "p1", 2).but(unlocked), writer(21.3, "p1", 2),
			},
			promotions: []float64{20.2, 21.2},
			want:       "21- after a-db-0, noticed 20.2",
		},
		"another process was a standby before": {
			observations: []Observation{streaming(0, "p1", 1, "a-db-0"), gone(10), writer(21, "p2", 2).but(unlocked), writer(21.3, "p2", 2)},
			want:         "21.3- after a-db-0",
		},
		"of several decisions the last before counts": {
			observations: []Observation{streaming(0, "p1", 1, "a-db-0"), writer(21, "p1", 2)},
			promotions:   []float64{15, 20.2, 21.5},
			want:         "21- after a-db-0, noticed 20.2",
		},
		"nobody noted the decision": {
			observations: []Observation{streaming(0, "p1", 1, "a-db-0"), writer(21, "p1", 2)},
			want:         "21- after a-db-0",
		},
		"all of a leader is killed, and it takes its lock again": {
			observations: []Observation{writer(0, "p1", 1), gone(10), streaming(13, "p2", 0, self).but(alone), writer(14, "p2", 2)},
			promotions:   []float64{13.5},
			want:         "0-10; 14- after a-db-1, noticed 13.5",
		},
		"its server alone is killed, and started again in place, on its timeline": {
			observations: []Observation{writer(0, "p1", 1), gone(10), writer(20, "p2", 1)},
			want:         "0-10; 20- after a-db-1",
		},
		"a decision of a term before is none of the next": {
			observations: []Observation{streaming(0, "p1", 1, "a-db-0"), writer(21, "p1", 2), gone(30), writer(33, "p2", 2)},
			promotions:   []float64{20.2},
			want:         "21-30 after a-db-0, noticed 20.2; 33- after a-db-1",
		},
		"nor is one from within it": {
			observations: []Observation{writer(0, "p1", 1), gone(10), writer(14, "p2", 1)},
			promotions:   []float64{5},
			want:         "0-10; 14- after a-db-1",
		},
		"a server that is replaced between two looks": {
			observations: []Observation{writer(0, "p1", 1), writer(1, "p2", 1)},
			want:         "0-1; 1- after a-db-1",
		},
		"another one led while the node was away, and nobody here saw it": {
			observations: []Observation{writer(0, "p1", 1), gone(10), writer(60, "p2", 3)},
			want:         "0-10; 60-",
		},
		"a third node held the lock, and was not promoted": {
			observations: []Observation{
				streaming(0, "p1", 1, "a-db-0"), streaming(20, "p1", 1, "a-db-2").but(alone), streaming(40, "p1", 1, self).but(alone), writer(41, "p1", 2),
			},
			want: "41- after a-db-0",
		},
		"a third node held the lock after this one, and was not promoted": {
			observations: []Observation{
				streaming(0, "p1", 1, "a-db-0"), writer(5, "p1", 2), gone(10), gone(20).but(func(s *Observation) { s.Leader, s.LeaderTimeline = "a-db-2", 2 }), writer(40, "p2", 3),
			},
			want: "5-10 after a-db-0; 40- after a-db-1",
		},
		"a third node held the lock after the leader had been promoted again": {
			observations: []Observation{
				streaming(0, "p1", 1, "a-db-0"), streaming(10, "p1", 2, "a-db-0"), streaming(20, "p1", 2, "a-db-2").but(alone), writer(41, "p1", 3),
			},
			want: "41- after a-db-0",
		},
		"a third node was promoted, and the log told of it before its manager": {
			observations: []Observation{
				streaming(0, "p1", 1, "a-db-0"), streaming(20, "p1", 2, "a-db-0").but(func(s *Observation) { s.LeaderTimeline = 1 }), streaming(21, "p1", 2, "a-db-2"), writer(41, "p1", 3),
			},
			want: "41- after a-db-2",
		},
		"two led after the last that was seen": {
			observations: []Observation{streaming(0, "p1", 4, "a-db-0"), gone(10), writer(60, "p2", 6)},
			want:         "60-",
		},
		"the leader's timeline is known by what a standby receives, when its manager has not heard of it": {
			observations: []Observation{
				streaming(0, "p1", 1, "a-db-0"), streaming(20, "p1", 2, "a-db-2").but(func(s *Observation) { s.LeaderTimeline = 1 }), writer(50, "p1", 3),
			},
			want: "50- after a-db-2",
		},
		"or by what its manager has heard, when it receives nothing": {
			observations: []Observation{
				streaming(0, "p1", 1, "a-db-0"), gone(20).but(func(s *Observation) { s.Leader, s.LeaderTimeline = "a-db-2", 2 }), writer(50, "p2", 3),
			},
			want: "50- after a-db-2",
		},
		"on which timeline the leader was is not known": {
			observations: []Observation{gone(0).but(func(s *Observation) { s.Leader = "a-db-0" }), writer(50, "p1", 3)},
			want:         "50-",
		},
		"a server that does not answer may take writes all the time": {
			observations: []Observation{writer(0, "p1", 1), writer(5, "p1", 1).but(silent), writer(50, "p1", 1)},
			want:         "0-",
		},
		"while it was silent another one took over": {
			observations: []Observation{writer(0, "p1", 1), writer(5, "p1", 1).but(silent), streaming(50, "p1", 1, "a-db-2").but(alone), streaming(60, "p2", 2, "a-db-2")},
			want:         "0-50",
		},
		"a lock that is lost for a moment ends nothing while the server takes writes": {
			observations: []Observation{writer(0, "p1", 1), writer(5, "p1", 1).but(unlocked), writer(6, "p1", 1)},
			want:         "0-",
		},
		"it leads, is demoted, and is promoted again": {
			observations: []Observation{
				writer(0, "p1", 1), gone(10), streaming(20, "p2", 2, "a-db-0"), streaming(40, "p2", 2, ""), writer(41, "p2", 3),
			},
			want: "0-10; 41- after a-db-0",
		},
		"old news of the leader before are none of one after it": {
			observations: []Observation{
				streaming(0, "p1", 1, "a-db-0"), writer(21, "p1", 2), writer(21.5, "p1", 2).but(func(s *Observation) { s.Leader = "a-db-0" }),
				writer(23, "p1", 2), gone(30), writer(33, "p2", 3),
			},
			want: "21-30 after a-db-0; 33- after a-db-1",
		},
		"an agent that is started anew beside its writer": {
			observations: []Observation{writer(0, "p1", 1), writer(100, "p1", 1).but(newAgent)},
			want:         "0-",
		},
		"an agent that is started anew with its server saw no end": {
			observations: []Observation{writer(0, "p1", 1), gone(90).but(newAgent), writer(100, "p2", 2)},
			want:         "0-; 100- after a-db-1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var n note
			var promotions []time.Time
			for _, p := range c.promotions {
				promotions = append(promotions, at(p))
			}
			var before standby
			for _, s := range c.observations {
				before.see(s)
				n.turn(self, s, before, promotions)
			}
			if diff := cmp.Diff(c.want, toldTerms(n.Terms)); diff != "" {
				t.Errorf("terms (-want +got):\n%s", diff)
			}
		})
	}
}

// TestATermTellsWhenItsServerWasLastClosed, when it was asked and not when it answered. Of another process nothing follows.
func TestATermTellsWhenItsServerWasLastClosed(t *testing.T) {
	for name, c := range map[string]struct {
		promoted Observation
		want     string
	}{
		"the same process": {writer(21, "p1", 2), "20.8"},
		"another process":  {writer(21, "p2", 2), "unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			var n note
			var before standby
			for _, s := range []Observation{streaming(0, "p1", 1, "a-db-0"), streaming(20.9, "p1", 1, "").but(func(s *Observation) { s.Asked = at(20.8) }), c.promoted} {
				before.see(s)
				n.turn(self, s, before, nil)
			}
			got := "unknown"
			if closed := n.Terms[0].ClosedAt; closed != nil {
				got = since(*closed)
			}
			if got != c.want {
				t.Errorf("last closed at %s, want %s", got, c.want)
			}
		})
	}
}
