package verdict

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/figure"
	"replab.dev/internal/topology"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/evidencetest"
	"replab.dev/internal/wire"
)

func TestJudge(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*evidence.Run)
		want   v1alpha1.Verdict
		reason string
	}{
		{"sound evidence whose goals are met is Passed", func(*evidence.Run) {}, "Passed", "The goal was met."},
		{"without goals a measured run is Passed", func(e *evidence.Run) { e.Spec.Goals = nil }, "Passed", "sets no goals"},
		{"a lost write against a goal of none is Failed", func(e *evidence.Run) { e.Audit.Writes.Lost = 2 }, "Failed", "lostWrites (max 0) was missed: measured 2"},
		{"a lower limit that is missed is Failed", func(e *evidence.Run) {
			e.Spec.Goals = []v1alpha1.Goal{{Metric: "lostWrites", Min: ptr.To[int64](1)}}
		}, "Failed", "lostWrites (min 1) was missed"},
		{"a latency of 12.001 ms does not meet a limit of 12 ms", func(e *evidence.Run) {
			e.Spec.Goals = []v1alpha1.Goal{{Metric: "p99Microseconds", Max: ptr.To[int64](12_000)}}
		}, "Failed", "measured 12001"},
		{"a goal whose figure is absent is Inconclusive", func(e *evidence.Run) {
			e.Spec.Goals = []v1alpha1.Goal{{Metric: "lagP99Microseconds", Max: ptr.To[int64](1)}}
		}, "Inconclusive", "lagP99Microseconds (max 1) is unknown"},
		{"a fault that was not confirmed is Inconclusive", func(e *evidence.Run) {
			e.Faults[0].Confirmed, e.Faults[0].Evidence = "False", "the pod was gone"
		}, "Inconclusive", "crash on pod db-0 is not confirmed: the pod was gone"},
		{"a fault that is not known to be confirmed is Inconclusive", func(e *evidence.Run) { e.Faults[0].Confirmed = "Unknown" }, "Inconclusive", "not confirmed"},
		{"missing evidence is Inconclusive", func(e *evidence.Run) { e.Audit, e.Missing = nil, []string{"no audit"} }, "Inconclusive", "no audit"},
		{"a failed recorder is Inconclusive", func(e *evidence.Run) { e.Recorder.Failed = "no space left" }, "Inconclusive", "no space left"},
		{"a failed audit is Inconclusive", func(e *evidence.Run) { e.Audit.Writes, e.Audit.Failed = nil, "primary away" }, "Inconclusive", "primary away"},
		{"sets that do not add up are Invalid", func(e *evidence.Run) { e.Audit.Writes.Balanced = false }, "Invalid", "do not add up"},
		{"an unexpected write is Invalid", func(e *evidence.Run) { e.Audit.Writes.Unexpected = 1 }, "Invalid", "rejected or never sent"},
		{"a duplicate is Invalid", func(e *evidence.Run) { e.Audit.Writes.Duplicates = 1 }, "Invalid", "more than once"},
		{"ghost rows without their transactions are Invalid", func(e *evidence.Run) { e.Audit.Nodes[0].GhostTransactions = ptr.To[int64](4) }, "Invalid", "3 rows of its own (1 writes, 2 probe rows) but 4 transactions"},
		{"a client that counts more than the ledger is Invalid", func(e *evidence.Run) { e.K6.Registered = 991 }, "Invalid", "The clients count 991"},
		{"a ledger that counts far more than the client is Invalid", func(e *evidence.Run) { e.K6.Registered = 979 }, "Invalid", "The clients count 979"},
		{"a recorder that was restarted before the load vouches for all of it", func(e *evidence.Run) { e.K6.Registered, e.Recorder.Restarts = 1, 1 }, "Invalid", "clients count 1 acknowledged"},
		{"after a restart in the load the client's count is not compared", func(e *evidence.Run) {
			e.K6.Registered, e.Recorder.Restarts, e.Recorder.Incomplete = 1, 1, "restarted"
		}, "Inconclusive", "figures are incomplete: restarted"},
		{"a topology that cannot be asked is Inconclusive", func(e *evidence.Run) { e.State = topology.State{Why: "no answer"} }, "Inconclusive", "did not answer: no answer"},
		{"a fault that came long after its time is Inconclusive", func(e *evidence.Run) { e.Faults[0].PlannedTime = evidencetest.At(15_000) }, "Inconclusive", "came 15s late"},
		{"a fault that came a little late is none the worse", func(e *evidence.Run) { e.Faults[0].PlannedTime = evidencetest.At(29_000) }, "Passed", "The goal was met."},
		{"a latency that looks met is not when requests were dropped", func(e *evidence.Run) {
			e.Spec.Goals = []v1alpha1.Goal{{Metric: "p99Microseconds", Max: ptr.To[int64](500_000)}}
			e.K6.Stages[0].DroppedIterations = 1
		}, "Inconclusive", "the measured 12001 is a lower bound"},
		{"a latency that is not met stays so when requests were dropped", func(e *evidence.Run) {
			e.Spec.Goals = []v1alpha1.Goal{{Metric: "p99Microseconds", Max: ptr.To[int64](12_000)}}
			e.K6.Stages[0].DroppedIterations = 1
		}, "Failed", "measured at least 12001"},
		{"a latency that looks met is not when more requests failed than the percentile leaves out", func(e *evidence.Run) {
			e.Spec.Goals = []v1alpha1.Goal{{Metric: "p99Microseconds", Max: ptr.To[int64](500_000)}}
			evidencetest.Failed(e, 31, v1alpha1.P99, v1alpha1.Max)
		}, "Inconclusive", "the measured 12001 is a lower bound, because 31 of 3000 requests failed, more than the 1% that it leaves out"},
		{"a latency is met when the percentile leaves all failed requests out", func(e *evidence.Run) {
			e.Spec.Goals = []v1alpha1.Goal{{Metric: "p99Microseconds", Max: ptr.To[int64](500_000)}}
			evidencetest.Failed(e, 30, v1alpha1.Max)
		}, "Passed", "The goal was met."},
		{"a latency that is not met stays so when requests failed", func(e *evidence.Run) {
			e.Spec.Goals = []v1alpha1.Goal{{Metric: "p99Microseconds", Max: ptr.To[int64](12_000)}}
			evidencetest.Failed(e, 31, v1alpha1.P99, v1alpha1.Max)
		}, "Failed", "measured at least 12001"},
		{"a latency that looks met is not when the recorder was paused for more than the percentile leaves out", func(e *evidence.Run) {
			e.Spec.Goals = []v1alpha1.Goal{{Metric: "p99Microseconds", Max: ptr.To[int64](500_000)}}
			e.Recorder.Load.PausedMicroseconds, e.Recorder.Load.PausedRequests = 700_100, 36
			e.Recorder.Load.Latency.LowerBounds = []v1alpha1.Percentile{v1alpha1.P99, v1alpha1.Max}
		}, "Inconclusive", "the measured 12001 is unreliable, because the recorder was paused for 701 of 60000 ms"},
		{"the 95th percentile leaves five in a hundred out", func(e *evidence.Run) {
			e.Spec.Goals = []v1alpha1.Goal{{Metric: "p95Microseconds", Max: ptr.To[int64](500_000)}}
			evidencetest.Failed(e, 150, v1alpha1.P99, v1alpha1.Max)
		}, "Passed", "The goal was met."},
		{"the 95th percentile leaves no more than five in a hundred out", func(e *evidence.Run) {
			e.Spec.Goals = []v1alpha1.Goal{{Metric: "p95Microseconds", Max: ptr.To[int64](500_000)}}
			evidencetest.Failed(e, 151, v1alpha1.P95, v1alpha1.P99, v1alpha1.Max)
		}, "Inconclusive", "more than the 5%"},
		{"the median leaves half out", func(e *evidence.Run) {
			e.Spec.Goals = []v1alpha1.Goal{{Metric: "p50Microseconds", Max: ptr.To[int64](500_000)}}
			evidencetest.Failed(e, 1501, v1alpha1.P50, v1alpha1.P95, v1alpha1.P99, v1alpha1.Max)
		}, "Inconclusive", "more than the 50%"},
		{"a latency of nothing is not measured", func(e *evidence.Run) {
			e.Spec.Goals = []v1alpha1.Goal{{Metric: "p99Microseconds", Max: ptr.To[int64](500_000)}}
			e.Recorder.Load.Failures, e.Recorder.Load.Succeeded, e.Recorder.Load.Latency = 3000, 0, nil
		}, "Inconclusive", "it was not measured"},
		{"failed requests do not count for a throughput", func(e *evidence.Run) {
			e.Spec.Goals = []v1alpha1.Goal{{Metric: "requestsPerSecond", Min: ptr.To[int64](50)}}
			e.Recorder.Load.Failures, e.Recorder.Load.Succeeded = 60, 2938
		}, "Failed", "requestsPerSecond (min 50) was missed: measured 48.967"},
		{"a throughput that the recorder held up", func(e *evidence.Run) {
			e.Spec.Goals = []v1alpha1.Goal{{Metric: "requestsPerSecond", Min: ptr.To[int64](50)}}
			e.Recorder.Load.Failures, e.Recorder.Load.Succeeded, e.Recorder.Load.PausedMicroseconds = 60, 2938, 1_500_000
		}, "Inconclusive", "it is between 48.967 and 50.222, because the recorder was paused for 1500 of 60000 ms"},
		{"a throughput that the recorder held up, and that would not have been enough", func(e *evidence.Run) {
			e.Spec.Goals = []v1alpha1.Goal{{Metric: "requestsPerSecond", Min: ptr.To[int64](51)}}
			e.Recorder.Load.Failures, e.Recorder.Load.Succeeded, e.Recorder.Load.PausedMicroseconds = 60, 2938, 1_500_000
		}, "Failed", "requestsPerSecond (min 51) was missed: measured 48.967"},
		{"requests dropped in warm-up do not matter", func(e *evidence.Run) {
			e.Spec.Goals = []v1alpha1.Goal{{Metric: "droppedIterations", Max: ptr.To[int64](0)}}
			e.Spec.Load.Stages = append(e.Spec.Load.Stages, v1alpha1.Stage{Name: "warmup", Discard: true, Users: new(int64(1))})
			e.K6.Stages = append(e.K6.Stages, wire.K6StageSummary{Name: "warmup", DroppedIterations: 9})
		}, "Passed", "The goal was met."},
		{"a lag that looks met is not while a replica has not shown writes", func(e *evidence.Run) {
			e.Spec.Goals = []v1alpha1.Goal{{Metric: "lagMaxMicroseconds", Max: ptr.To[int64](100)}}
			e.Recorder.Lag = evidencetest.LagOf("db-1", 5, 2)
		}, "Inconclusive", "the measured 50 is a lower bound"},
		{"writes that an old primary missed while it was away do not matter to the lag", func(e *evidence.Run) {
			e.Spec.Goals = []v1alpha1.Goal{{Metric: "lagMaxMicroseconds", Max: ptr.To[int64](100)}}
			e.Recorder.Lag = evidencetest.LagOf("db-1", 0, 0)
			e.Recorder.Lag.Nodes = append(e.Recorder.Lag.Nodes, wire.NodeLag{Name: "db-0", Away: 35})
		}, "Passed", "The goal was met."},
		{"a lag goal is unknown while no replica was watched", func(e *evidence.Run) {
			unwatched(e, nil)
		}, "Inconclusive", "the measured 50 is a lower bound, because no replica was there for 3 of 300 probe rows"},
		{"a lag goal is met by what an old primary showed late", func(e *evidence.Run) { unwatched(e, ptr.To[int64](90)) }, "Passed", "The goal was met."},
		{"a lag goal is unknown by what an old primary showed too late", func(e *evidence.Run) {
			unwatched(e, ptr.To[int64](900))
		}, "Inconclusive", "it is between 50 and 900"},
		{"lost writes do not matter to the lag", func(e *evidence.Run) {
			e.Spec.Goals = []v1alpha1.Goal{{Metric: "lagMaxMicroseconds", Max: ptr.To[int64](100)}}
			e.Recorder.Lag = evidencetest.LagOf("db-1", 5, 5)
		}, "Passed", "The goal was met."},
		{"unacknowledged commits are a lower bound once a primary died", func(e *evidence.Run) {
			e.Spec.Goals = []v1alpha1.Goal{{Metric: "degradedCommits", Max: ptr.To[int64](0)}}
		}, "Inconclusive", "the measured 0 is a lower bound"},
		{"unacknowledged commits are exact when samples cover all writes", func(e *evidence.Run) {
			e.Recorder.Commits.Nodes[0].UncountedMicroseconds = 0
			e.Spec.Goals = []v1alpha1.Goal{{Metric: "degradedCommits", Max: ptr.To[int64](0)}}
		}, "Passed", "The goal was met."},
		{"unacknowledged commits of a primary that was never sampled are not known", func(e *evidence.Run) {
			e.Recorder.Commits.Nodes[1].Samples = 0
			e.Spec.Goals = []v1alpha1.Goal{{Metric: "degradedCommits", Max: ptr.To[int64](0)}}
		}, "Inconclusive", "it was not measured"},
		{"a lower limit is met by a lower bound", func(e *evidence.Run) {
			e.Recorder.Commits.DegradedCommits = 3
			e.Spec.Goals = []v1alpha1.Goal{{Metric: "degradedCommits", Min: ptr.To[int64](1)}}
		}, "Passed", "The goal was met."},
		{"a lower limit that a lower bound misses cannot be judged", func(e *evidence.Run) {
			e.Spec.Goals = []v1alpha1.Goal{{Metric: "degradedCommits", Min: ptr.To[int64](1)}}
		}, "Inconclusive", "the measured 0 is a lower bound"},
		{"Invalid comes before Inconclusive and Failed", func(e *evidence.Run) {
			e.Audit.Writes.Unexpected, e.Audit.Writes.Lost, e.Faults[0].Confirmed = 1, 1, "False"
		}, "Invalid", "rejected or never sent"},
		{"Inconclusive comes before Failed", func(e *evidence.Run) { e.Audit.Writes.Lost, e.Faults[0].Confirmed = 1, "False" }, "Inconclusive", "not confirmed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, s := evidencetest.Sound(), v1alpha1.ReplicationExperimentStatus{}
			c.change(&e)
			Judge(e, &s)
			if s.Verdict != c.want || !strings.Contains(s.Reasons[0], c.reason) {
				t.Fatalf("verdict %s, reasons %q; want %s with %q first", s.Verdict, s.Reasons, c.want, c.reason)
			}
		})
	}
}

func TestGhostsAreAbsentWhenANodeWasNotCounted(t *testing.T) {
	e, s := evidencetest.Sound(), v1alpha1.ReplicationExperimentStatus{}
	if Judge(e, &s); s.GhostWrites == nil || *s.GhostWrites != 1 {
		t.Fatalf("ghosts are %v, want 1", s.GhostWrites)
	}
	e.Audit.Nodes[0] = wire.AuditedNode{Name: "db-0", Role: wire.RoleDown, Failed: "no answer"}
	if Judge(e, &s); s.GhostWrites != nil {
		t.Fatalf("ghosts are %d though a node was not counted", *s.GhostWrites)
	}
}

func TestWithoutARecorderNoFigureIsShown(t *testing.T) {
	e, s := evidencetest.Sound(), v1alpha1.ReplicationExperimentStatus{}
	e.Recorder, e.Audit = nil, nil
	if Judge(e, &s); s.Load != nil || s.Writes != nil || s.Replication != nil || s.Failover != nil {
		t.Fatalf("status has figures: %+v", s)
	}
}

func TestEveryMetricOfTheAPIHasAFigure(t *testing.T) {
	e, s := evidencetest.Sound(), v1alpha1.ReplicationExperimentStatus{}
	e.Recorder.Lag = &wire.LagResult{LagDistribution: wire.LagDistribution{Samples: 1, P50Microseconds: ptr.To[int64](1), P99Microseconds: ptr.To[int64](1), MaxMicroseconds: ptr.To[int64](1)}}
	commits := e.Recorder.Commits
	grouped(&e)
	e.Recorder.Commits = commits
	e.Independent, e.Audit.Divergence = true, &wire.Divergence{}
	Judge(e, &s)
	e.Recorder.Lag.Nodes = nil
	for _, entry := range figure.All() {
		if entry.Goal && figure.At(&s, entry.Path) == nil {
			t.Errorf("metric %s has no figure though all was measured", entry.Name)
		}
	}
}

func TestGhostsAreNotZeroBecauseTheTopologyIsSilent(t *testing.T) {
	e, s := evidencetest.Sound(), v1alpha1.ReplicationExperimentStatus{}
	e.State = topology.State{Why: "no answer"}
	if Judge(e, &s); len(s.Nodes) != 2 || s.GhostWrites == nil || *s.GhostWrites != 1 || s.Nodes[0].Rejoined != metav1.ConditionUnknown {
		t.Fatalf("nodes %+v, ghosts %v; the audit counted 1 on one of 2 nodes", s.Nodes, s.GhostWrites)
	}
}

// TestReasonsAreTheCauseAlone: what is weaker than the cause of the verdict is a note.
func TestReasonsAreTheCauseAlone(t *testing.T) {
	e, s := evidencetest.Sound(), v1alpha1.ReplicationExperimentStatus{}
	e.Spec.Goals = []v1alpha1.Goal{{Metric: "p99Microseconds", Max: ptr.To[int64](12_000)}}
	said := func(want v1alpha1.Verdict, reason string, notes ...string) {
		t.Helper()
		Judge(e, &s)
		if s.Verdict != want || len(s.Reasons) != 1 || !strings.Contains(s.Reasons[0], reason) || len(s.Notes) < len(notes) {
			t.Fatalf("%s, want %s: %q, %q", s.Verdict, want, s.Reasons, s.Notes)
		}
		for i, note := range notes {
			if !strings.Contains(s.Notes[i], note) {
				t.Errorf("%s: notes %q, want %q", want, s.Notes, note)
			}
		}
	}
	said(v1alpha1.VerdictFailed, "was missed")
	e.Faults[0].Confirmed = metav1.ConditionFalse
	said(v1alpha1.VerdictInconclusive, "is not confirmed", "was missed")
	e.Audit.Writes.Duplicates = 1
	said(v1alpha1.VerdictInvalid, "more than once", "is not confirmed", "was missed")
}

// allSaid are the reasons and notes of a run.
func allSaid(s v1alpha1.ReplicationExperimentStatus) []string {
	return slices.Concat(s.Reasons, s.Notes)
}
