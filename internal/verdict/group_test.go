package verdict

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/figure"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/wire"
)

// grouped is the run of sound, whose two nodes are members of a group.
func grouped(e *evidence.Run) {
	e.Grouped, e.Recorder.Commits = true, nil
	e.Recorder.Rejections = map[string]int64{
		wire.RejectedDeadlock: 3, wire.RejectedNotSent: 1, wire.RejectedReadOnly: 20, wire.RejectedValidation: 40, wire.RejectedOverload: 80, wire.RejectedRefused: 160,
	}
	e.Recorder.Group = &wire.GroupResult{Nodes: []wire.NodeGroup{
		{
			Name: "db-0", Samples: 60, CertificationFailures: 2, ForcedAborts: 5, Deadlocks: ptr.To[int64](1),
			CoveredMicroseconds: 60_000_000, FlowControlPausedMicroseconds: 749_999,
			ReceiveQueueMeanThousandths: ptr.To[int64](40), ReceiveQueueMax: ptr.To[int64](3), ReceiveQueueMaxAtMost: ptr.To[int64](3),
		},
		{
			Name: "db-1", Samples: 58, CertificationFailures: 1, Deadlocks: ptr.To[int64](0), CoveredMicroseconds: 50_000_000,
			ReceiveQueueMeanThousandths: ptr.To[int64](1200), ReceiveQueueMax: ptr.To[int64](17), ReceiveQueueMaxAtMost: ptr.To[int64](60),
		},
	}}
}

// members are the figures of a group with their upper bounds.
type members struct {
	v1alpha1.GroupFigures
	pausedAtMost, queueAtMost *int64
}

func TestWhatMembersOfAGroupCounted(t *testing.T) {
	db1 := func(e *evidence.Run) *wire.NodeGroup { return &e.Recorder.Group.Nodes[1] }
	whole := members{GroupFigures: v1alpha1.GroupFigures{
		CertificationFailures: ptr.To[int64](3), ForcedAborts: ptr.To[int64](5), Deadlocks: ptr.To[int64](1), FlowControlPausedPermille: ptr.To[int64](13),
		ReceiveQueueMeanThousandths: ptr.To[int64](1200), ReceiveQueueMax: ptr.To[int64](17),
	}, pausedAtMost: ptr.To[int64](13), queueAtMost: ptr.To[int64](60)}
	without := func(change func(*members)) *members {
		g := whole
		change(&g)
		return &g
	}
	for name, c := range map[string]struct {
		change func(*evidence.Run)
		want   *members
		says   string // "" for nothing
	}{
		"the sums, and the highest": {func(*evidence.Run) {}, &whole, ""},
		"without a group nothing is said": {
			func(e *evidence.Run) { e.Recorder.Group = nil }, nil, "",
		},
		"of a recorder that was restarted nothing is said": {
			func(e *evidence.Run) { e.Recorder.Incomplete = "it was restarted" }, nil, "",
		},
		"no member could be read": {
			func(e *evidence.Run) { e.Recorder.Group.Nodes = nil }, nil, "The counters of the group are not reported",
		},
		"a member that wrote was never read": {
			func(e *evidence.Run) { e.Recorder.Group.Nodes = e.Recorder.Group.Nodes[1:] },
			without(func(g *members) {
				g.CertificationFailures, g.ForcedAborts, g.Deadlocks, g.FlowControlPausedPermille = nil, nil, nil, ptr.To[int64](0)
				g.pausedAtMost = ptr.To[int64](1000)
			}),
			"Conflicts are not reported: node db-0 may have taken writes",
		},
		"nobody knows which members wrote, and one was never read": {
			func(e *evidence.Run) {
				e.Recorder.Writers = nil
				*db1(e) = wire.NodeGroup{Name: "db-1", UncountedMicroseconds: 60_000_000, UncoveredMicroseconds: 60_000_000}
			},
			without(func(g *members) {
				g.CertificationFailures, g.ForcedAborts, g.Deadlocks, g.pausedAtMost = nil, nil, nil, ptr.To[int64](1000)
				g.ReceiveQueueMeanThousandths, g.ReceiveQueueMax, g.queueAtMost = ptr.To[int64](40), ptr.To[int64](3), nil
			}),
			"Conflicts are not reported: node db-1 may have taken writes",
		},
		"a load without a write": {
			func(e *evidence.Run) { e.Recorder.Writes, e.Recorder.Writers = wire.LedgerCounts{}, nil }, nil, "are not reported: the load sent no write",
		},
		"a member that took no writes was never read": {
			func(e *evidence.Run) {
				e.Recorder.Writers = []string{"db-0"}
				*db1(e) = wire.NodeGroup{Name: "db-1", UncountedMicroseconds: 60_000_000, UncoveredMicroseconds: 60_000_000}
			},
			without(func(g *members) {
				g.CertificationFailures, g.ReceiveQueueMeanThousandths, g.ReceiveQueueMax, g.queueAtMost = ptr.To[int64](2), ptr.To[int64](40), ptr.To[int64](3), nil
			}), "The counters of node db-1 were not sampled for 60000 of 60000 ms",
		},
		"a member that died": {
			func(e *evidence.Run) { db1(e).UncountedMicroseconds = 900_001 }, &whole, "Conflicts are a lower bound: node db-1 was not sampled for up to 901 ms",
		},
		"a member that took no writes died": {
			func(e *evidence.Run) { db1(e).UncountedMicroseconds, e.Recorder.Writers = 900_001, []string{"db-0"} }, &whole, "",
		},
		"a member that was away for a part of the time": {
			func(e *evidence.Run) { db1(e).UncoveredMicroseconds = 10_000_000 },
			without(func(g *members) {
				g.pausedAtMost, g.queueAtMost = ptr.To[int64](167), nil
			}),
			"The counters of node db-1 were not sampled for 10000 of 60000 ms",
		},
		"a member that took no writes was paused longest": {
			func(e *evidence.Run) {
				db1(e).FlowControlPausedMicroseconds, e.Recorder.Writers = 1_000_001, []string{"db-0"}
			},
			without(func(g *members) {
				g.FlowControlPausedPermille, g.pausedAtMost = ptr.To[int64](21), ptr.To[int64](21)
			}), "",
		},
		"a member that took no writes was away": {
			func(e *evidence.Run) { db1(e).UncoveredMicroseconds, e.Recorder.Writers = 10_000_000, []string{"db-0"} },
			without(func(g *members) { g.queueAtMost = nil }), "were not sampled for 10000 of 60000 ms",
		},
		"a member that wrote was not read while a stage ran that counts": {
			func(e *evidence.Run) { db1(e).CoveredMicroseconds, db1(e).UncoveredMicroseconds = 0, 50_000_000 },
			without(func(g *members) {
				g.pausedAtMost, g.queueAtMost = ptr.To[int64](1000), nil
			}),
			"were not sampled for 50000 of 50000 ms",
		},
		"a server that does not count deadlocks": {
			func(e *evidence.Run) { db1(e).Deadlocks = nil }, without(func(g *members) { g.Deadlocks = nil }), "",
		},
		"a member that no stage covers has no share of the time": {
			func(e *evidence.Run) {
				for i := range e.Recorder.Group.Nodes {
					e.Recorder.Group.Nodes[i].CoveredMicroseconds = 0
				}
			}, without(func(g *members) {
				g.FlowControlPausedPermille, g.pausedAtMost = nil, nil
			}), "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := judged(func(e *evidence.Run) { grouped(e); c.change(e) })
			var got *v1alpha1.GroupFigures
			if s.Replication != nil {
				got = s.Replication.Group
			}
			var want *v1alpha1.GroupFigures
			if c.want != nil {
				want = &c.want.GroupFigures
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if c.want != nil {
				atMost(t, s, "flowControlPausedPermille", c.want.FlowControlPausedPermille, c.want.pausedAtMost)
				atMost(t, s, "receiveQueueMax", c.want.ReceiveQueueMax, c.want.queueAtMost)
			}
			text := strings.Join(allSaid(s), " ")
			if !strings.Contains(text, c.says) || c.says == "" && (strings.Contains(text, "counted") || strings.Contains(text, "group")) {
				t.Errorf("the reasons are %q, want %q", s.Reasons, c.says)
			}
		})
	}
}

// atMost checks the upper bound of a figure of the group that has a value.
func atMost(t *testing.T, s v1alpha1.ReplicationExperimentStatus, name string, value, want *int64) {
	t.Helper()
	if got := figure.Read(&s, "replication.group."+name).AtMost; value != nil && !ptr.Equal(got, want) {
		t.Errorf("%s is at most %v, want %v", name, text(got), text(want))
	}
}

func TestEachMembersOwnFigures(t *testing.T) {
	s := judged(grouped)
	if g := s.Nodes[1].Group; g == nil || *g.CertificationFailures != 1 || *g.FlowControlPausedPermille != 0 || *g.ReceiveQueueMax != 17 {
		t.Errorf("db-1 counted %+v", g)
	}
	if g := s.Nodes[0].Group; g == nil || *g.ForcedAborts != 5 || *g.FlowControlPausedPermille != 13 {
		t.Errorf("db-0 counted %+v", g)
	}
	if s := judged(func(*evidence.Run) {}); s.Nodes[0].Group != nil {
		t.Errorf("a node that is in no group has %+v", s.Nodes[0].Group)
	}
}

// TestConflictsAreToldFromOtherRejections.
func TestConflictsAreToldFromOtherRejections(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*evidence.Run)
		want   *int64
	}{
		"some":                            {func(*evidence.Run) {}, ptr.To[int64](3)},
		"none, and that is known":         {func(e *evidence.Run) { e.Recorder.Rejections = map[string]int64{} }, ptr.To[int64](0)},
		"a recorder that was restarted":   {func(e *evidence.Run) { e.Recorder.Incomplete = "it was restarted" }, nil},
		"a recorder that did not say":     {func(e *evidence.Run) { e.Recorder.Rejections = nil }, nil},
		"an audit that compared no write": {func(e *evidence.Run) { e.Audit.Writes = nil }, ptr.To[int64](3)},
	} {
		s := judged(func(e *evidence.Run) { grouped(e); c.change(e) })
		if diff := cmp.Diff(c.want, s.Writes.Conflicting); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestAGoalOnConflictsThatAreALowerBound cannot be met.
func TestAGoalOnConflictsThatAreALowerBound(t *testing.T) {
	for name, c := range map[string]struct {
		uncounted, uncovered int64 // milliseconds; flow control held up 1.05 percent of the time
		goal                 v1alpha1.Goal
		want                 v1alpha1.Verdict
	}{
		"all counted":            {0, 0, v1alpha1.Goal{Metric: "certificationFailures", Max: ptr.To[int64](3)}, v1alpha1.VerdictPassed},
		"perhaps not all":        {1, 0, v1alpha1.Goal{Metric: "certificationFailures", Max: ptr.To[int64](3)}, v1alpha1.VerdictInconclusive},
		"too many already":       {1, 0, v1alpha1.Goal{Metric: "forcedAborts", Max: ptr.To[int64](4)}, v1alpha1.VerdictFailed},
		"a share of the time":    {1, 0, v1alpha1.Goal{Metric: "flowControlPausedPercent", Max: ptr.To[int64](2)}, v1alpha1.VerdictPassed},
		"a share of a permille":  {1, 0, v1alpha1.Goal{Metric: "flowControlPausedPercent", Max: ptr.To[int64](1)}, v1alpha1.VerdictFailed},
		"a part of the time":     {0, 9_000, v1alpha1.Goal{Metric: "flowControlPausedPercent", Max: ptr.To[int64](15)}, v1alpha1.VerdictInconclusive},
		"all that it can be":     {0, 9_000, v1alpha1.Goal{Metric: "flowControlPausedPercent", Max: ptr.To[int64](16)}, v1alpha1.VerdictPassed},
		"held up enough already": {0, 9_000, v1alpha1.Goal{Metric: "flowControlPausedPercent", Max: ptr.To[int64](0)}, v1alpha1.VerdictFailed},
		"what the clients heard": {1, 0, v1alpha1.Goal{Metric: "conflictingWrites", Max: ptr.To[int64](2)}, v1alpha1.VerdictFailed},
	} {
		s := judged(func(e *evidence.Run) {
			grouped(e)
			e.Spec.Goals, e.Recorder.Group.Nodes[0].UncountedMicroseconds = []v1alpha1.Goal{c.goal}, c.uncounted*1000
			e.Recorder.Group.Nodes[0].FlowControlPausedMicroseconds, e.Recorder.Group.Nodes[1].UncoveredMicroseconds = 630_000, c.uncovered*1000
		})
		if s.Verdict != c.want {
			t.Errorf("%s: %s, want %s: %q", name, s.Verdict, c.want, s.Reasons)
		}
	}
}

// TestAPauseIsJudgedInPercent: 1.25 percent of the time, rounded up.
func TestAPauseIsJudgedInPercent(t *testing.T) {
	s := judged(func(e *evidence.Run) {
		grouped(e)
		e.Spec.Goals = []v1alpha1.Goal{{Metric: "flowControlPausedPercent", Max: ptr.To[int64](2)}}
	})
	want := v1alpha1.GoalStatus{
		Metric: "flowControlPausedPercent", Limit: "max 2", Measured: ptr.To[int64](1), MeasuredMilli: ptr.To[int64](1300), Met: metav1.ConditionTrue,
	}
	if diff := cmp.Diff(want, s.Goals[0]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestAPauseOfLessThanAPermilleIsNotNone: 24 ms of a minute do not meet a goal of none.
func TestAPauseOfLessThanAPermilleIsNotNone(t *testing.T) {
	for paused, want := range map[int64]metav1.ConditionStatus{0: metav1.ConditionTrue, 1: metav1.ConditionFalse, 24_000: metav1.ConditionFalse, 60_001: metav1.ConditionFalse} {
		s := judged(func(e *evidence.Run) {
			grouped(e)
			e.Recorder.Group.Nodes[0].UncoveredMicroseconds = 0
			e.Spec.Goals = []v1alpha1.Goal{{Metric: "flowControlPausedPercent", Max: ptr.To[int64](0)}}
			e.Recorder.Group.Nodes[0].FlowControlPausedMicroseconds = paused
		})
		if s.Goals[0].Met != want {
			t.Errorf("%d µs: %s, want %s: %q", paused, s.Goals[0].Met, want, s.Reasons)
		}
	}
}

// TestGoalsOnAGroupThatWroteNothing are not met by 0.
func TestGoalsOnAGroupThatWroteNothing(t *testing.T) {
	for _, m := range []v1alpha1.Metric{"certificationFailures", "forcedAborts", "flowControlPausedPercent", "conflictingWrites"} {
		s := judged(func(e *evidence.Run) {
			grouped(e)
			e.Spec.Goals, e.Audit.Writes = []v1alpha1.Goal{{Metric: m, Max: ptr.To[int64](0)}}, nil
			e.Recorder.Writes, e.Recorder.Rejections, e.Recorder.Writers = wire.LedgerCounts{}, map[string]int64{}, nil
			for i := range e.Recorder.Group.Nodes {
				e.Recorder.Group.Nodes[i] = wire.NodeGroup{Name: e.Recorder.Group.Nodes[i].Name, Samples: 60, CoveredMicroseconds: 60_000_000}
			}
		})
		if g := s.Goals[0]; g.Met != metav1.ConditionUnknown || g.Measured != nil {
			t.Errorf("%s: %+v, want unknown: %q", m, g, s.Reasons)
		}
	}
}
