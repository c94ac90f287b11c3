package agent

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/wire"
)

// toldAbsences are absences as "left-back" with what happened in them.
func toldAbsences(all []wire.Absence) string {
	var texts []string
	for _, a := range all {
		text := since(a.LeftAt) + "-"
		if a.BackAt != nil {
			text += since(*a.BackAt)
		}
		if a.RequestedAt != nil {
			text += " read until " + since(*a.RequestedAt)
		}
		if r := a.Resync; r != nil {
			text += " " + string(r.Method)
			if r.DurationMilliseconds != nil {
				text += fmt.Sprintf(" %d ms", *r.DurationMilliseconds)
			}
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "; ")
}

func TestAbsences(t *testing.T) {
	for name, c := range map[string]struct {
		observations []Observation
		rewinds      []float64 // when they began
		exitCode     int       // of the rewinds
		want         string
	}{
		"what comes before its first place is none": {
			observations: []Observation{gone(0), gone(1).but(copying), streaming(5, "p1", 1, "a-db-0").but(alone), streaming(6, "p1", 1, "a-db-0")},
		},
		"a standby whose leader is lost, until it streams from the next": {
			observations: []Observation{
				streaming(0, "p1", 1, "a-db-0"), streaming(10, "p1", 1, "a-db-0").but(alone), streaming(31, "p1", 2, "a-db-2"), streaming(40, "p1", 2, "a-db-2"),
			},
			want: "10-31",
		},
		"its server knows of a promotion before its manager does": {
			observations: []Observation{streaming(0, "p1", 1, "a-db-0"), streaming(10, "p1", 2, "a-db-0").but(func(s *Observation) { s.LeaderTimeline = 1 })},
		},
		"it still streams on the timeline before": {
			observations: []Observation{streaming(0, "p1", 1, "a-db-0"), streaming(10, "p1", 1, "a-db-2").but(func(s *Observation) { s.LeaderTimeline = 2 }), streaming(12, "p1", 2, "a-db-2")},
			want:         "10-12",
		},
		"the writer is killed and rewound": {
			observations: []Observation{writer(0, "p1", 1), gone(10), gone(50), streaming(56, "p2", 2, "a-db-2")},
			rewinds:      []float64{51},
			want:         "10-56 read until 51.5 Rewind 500 ms",
		},
		"it is rewound twice": {
			observations: []Observation{writer(0, "p1", 1), gone(10), gone(60), streaming(66, "p2", 2, "a-db-2")},
			rewinds:      []float64{51, 61},
			want:         "10-66 read until 61.5 Rewind 500 ms",
		},
		"rewinds before are none of this absence": {
			observations: []Observation{writer(0, "p1", 1), gone(10), streaming(56, "p2", 2, "a-db-2"), gone(70), streaming(80, "p3", 2, "a-db-2")},
			rewinds:      []float64{51},
			want:         "10-56 read until 51.5 Rewind 500 ms; 70-80",
		},
		"the agent was started anew within it, after the rewind had begun": {
			observations: []Observation{writer(0, "p1", 1), gone(52).but(newAgent), streaming(56, "p2", 2, "a-db-2")},
			rewinds:      []float64{51},
			want:         "52-56 read until 51.5 Rewind 500 ms",
		},
		"it cannot be rewound": {
			observations: []Observation{writer(0, "p1", 1), gone(10), gone(60), streaming(66, "p2", 2, "a-db-2")},
			rewinds:      []float64{51}, exitCode: 1,
			want: "10-66 read until 51.5",
		},
		"it cannot be rewound, and becomes a copy": {
			observations: []Observation{
				writer(0, "p1", 1), gone(10), gone(53).but(copying), gone(55), streaming(66, "p2", 2, "a-db-2"),
			},
			rewinds: []float64{51}, exitCode: 1,
			want: "10-66 read until 51.5 Backup 2000 ms",
		},
		"it becomes a copy": {
			observations: []Observation{
				streaming(0, "p1", 1, "a-db-0"), gone(10), gone(20).but(copying), gone(22).but(copying).but(mute), gone(23).but(mute), gone(25.5),
				streaming(30, "p2", 1, "a-db-0"),
			},
			want: "10-30 Backup 5500 ms",
		},
		"a copy fails and another one is made": {
			observations: []Observation{
				streaming(0, "p1", 1, "a-db-0"), gone(10), gone(20).but(copying), gone(21), gone(30).but(copying), gone(32), streaming(35, "p2", 1, "a-db-0"),
			},
			want: "10-35 Backup 2000 ms",
		},
		"nobody saw the end of the second": {
			observations: []Observation{
				streaming(0, "p1", 1, "a-db-0"), gone(10), gone(20).but(copying), gone(21), gone(30).but(copying), streaming(35, "p2", 1, "a-db-0").but(mute),
			},
			want: "10-35 Backup",
		},
		"nobody saw the end of the copy": {
			observations: []Observation{
				streaming(0, "p1", 1, "a-db-0"), gone(10).but(copying), streaming(35, "p2", 1, "a-db-0").but(mute), gone(40), streaming(45, "p3", 1, "a-db-0"),
			},
			want: "10-35 Backup; 40-45",
		},
		"a server that does not answer is not in its place": {
			observations: []Observation{writer(0, "p1", 1), writer(5, "p1", 1).but(silent), writer(9, "p1", 1)},
			want:         "5-9",
		},
		"nor is one that has lost its lock": {
			observations: []Observation{writer(0, "p1", 1), writer(5, "p1", 1).but(unlocked)},
			want:         "5-",
		},
		"a server that an agent which is started anew has not heard yet, nor its manager": {
			observations: []Observation{writer(0, "p1", 1), writer(5, "p1", 1).but(unanswered).but(untold), writer(6, "p1", 1).but(untold), writer(9, "p1", 1)},
		},
		"a standby that such an agent has not heard yet": {
			observations: []Observation{streaming(0, "p1", 1, "a-db-0"), streaming(5, "p1", 1, "a-db-0").but(unanswered).but(untold), streaming(9, "p1", 1, "a-db-0")},
		},
		"another server than the last one that was seen": {
			observations: []Observation{writer(0, "p1", 1), writer(5, "p2", 1).but(unanswered).but(untold), streaming(9, "p2", 2, "a-db-2")},
			want:         "5-9",
		},
		"no server": {
			observations: []Observation{writer(0, "p1", 1), gone(5).but(unanswered).but(untold), streaming(9, "p2", 2, "a-db-2")},
			want:         "5-9",
		},
		"a standby that follows nobody, whatever its manager will say": {
			observations: []Observation{streaming(0, "p1", 1, "a-db-0"), streaming(5, "p1", 1, "a-db-0").but(alone).but(untold), streaming(9, "p1", 2, "a-db-2")},
			want:         "5-9",
		},
		"whom to follow was told before it was away": {
			observations: []Observation{
				streaming(0, "p1", 1, "a-db-0"), gone(10), streaming(20, "p2", 1, "a-db-0").but(func(s *Observation) { s.LeaderAsked = at(9) }),
				streaming(30, "p3", 2, "a-db-2"),
			},
			want: "10-30",
		},
		"a writer follows nobody": {
			observations: []Observation{writer(0, "p1", 1), gone(10), writer(14, "p2", 2).but(leaderless)},
			want:         "10-14",
		},
		"nobody is there to follow": {
			observations: []Observation{streaming(0, "p1", 1, "a-db-0"), gone(10), streaming(20, "p2", 1, "a-db-0").but(leaderless), streaming(30, "p2", 1, "a-db-0")},
			want:         "10-30",
		},
		"a manager that is silent has its standby where it is": {
			observations: []Observation{streaming(0, "p1", 1, "a-db-0"), streaming(60, "p1", 1, "a-db-0").but(mute).but(leaderless)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var n note
			var rewinds []wire.RewindNote
			for _, r := range c.rewinds {
				rewinds = append(rewinds, wire.RewindNote{BeganAt: metav1.NewMicroTime(at(r)), EndedAt: metav1.NewMicroTime(at(r + 1)), InspectedMilliseconds: 500, ExitCode: c.exitCode})
			}
			for _, s := range c.observations {
				n.move(s, rewinds)
				n.move(s.but(func(s *Observation) { s.At = s.At.Add(settles) }), rewinds)
			}
			if diff := cmp.Diff(c.want, toldAbsences(n.Absences)); diff != "" {
				t.Errorf("absences (-want +got):\n%s", diff)
			}
		})
	}
}

// TestANodeIsBackOnceItStays: since its first look of those that followed one another.
func TestANodeIsBackOnceItStays(t *testing.T) {
	var n note
	for _, s := range []Observation{
		streaming(0, "p1", 1, "a-db-0"), gone(10),
		streaming(20, "p2", 1, "a-db-0"), streaming(20.2, "p2", 1, "a-db-0"), streaming(20.3, "p2", 1, "a-db-0").but(alone), // it was refused
		streaming(25, "p2", 1, "a-db-0"), streaming(25.2, "p2", 1, "a-db-0"), streaming(25.6, "p2", 1, "a-db-0"),
	} {
		n.move(s, nil)
	}
	if diff := cmp.Diff("10-25", toldAbsences(n.Absences)); diff != "" {
		t.Errorf("absences (-want +got):\n%s", diff)
	}
}
