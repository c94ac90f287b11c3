package verdict

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/topology"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/evidencetest"
	"replab.dev/internal/wire"
)

// withoutDistance gives a run a baseline without distance, of 4 ms a request.
func withoutDistance(e *evidence.Run) {
	x := &v1alpha1.ReplicationExperiment{Spec: e.Spec}
	x.Spec.Topology.Zones, x.Spec.Topology.Links = nil, nil
	x.Status.Verdict = v1alpha1.VerdictPassed
	x.Status.Load = &v1alpha1.LoadStatus{
		StageFigures: v1alpha1.StageFigures{RequestsPerSecondMilli: ptr.To[int64](2500000)},
		Stages:       []v1alpha1.StageStatus{{Name: "steady", StageFigures: v1alpha1.StageFigures{Latency: &v1alpha1.LatencyStatus{MeanMicroseconds: 4_000}}}},
	}
	e.Spec.Baseline, e.Baseline = &v1alpha1.BaselineReference{Name: "calm"}, x
}

func TestThroughputAgainstTheDistance(t *testing.T) {
	calm := withoutDistance
	dead := func(from, back int64) func(*evidence.Run) {
		return func(e *evidence.Run) {
			e.Spec.Faults = []v1alpha1.Fault{{Name: "crash", Action: v1alpha1.ActionKill}}
			f := evidencetest.Hit("crash", "db-1", from)
			f.Clock = &v1alpha1.ClockStatus{}
			e.Faults = []v1alpha1.FaultStatus{f}
			e.State.Absences = []topology.Absence{{Node: "db-1", Clock: "director", Absence: wire.Absence{LeftAt: evidencetest.At(from + 100)}}}
			if back > 0 {
				e.State.Absences[0].BackAt = evidencetest.AtPtr(back)
			}
		}
	}
	reads := v1alpha1.StageDistance{
		RoundTripMicroseconds: 20_400, WritesPermille: 500, BaseMicroseconds: 2_000, BaseFrom: v1alpha1.BaseFromReads, BoundMilliRequestsPerSecond: 819_672, OfBoundPermille: 976,
	}
	based := v1alpha1.StageDistance{
		RoundTripMicroseconds: 20_000, WritesPermille: 500, BaseMicroseconds: 4_000, BaseFrom: v1alpha1.BaseFromBaseline, BoundMilliRequestsPerSecond: 714_286, OfBoundPermille: 1120,
	}
	for _, c := range []struct {
		name   string
		change func(*evidence.Run)
		want   *v1alpha1.StageDistance
		why    string // the reasons say, where there is none
	}{
		{"by the reads", func(*evidence.Run) {}, &reads, ""},
		{"by the same without distance", calm, &based, ""},
		{"updates, which wait as well", func(e *evidence.Run) {
			calm(e)
			e.Recorder.Stages[0].Operations[1].Name = wire.OperationUpdate
		}, &v1alpha1.StageDistance{
			RoundTripMicroseconds: 20_000, WritesPermille: 750, BaseMicroseconds: 4_000, BaseFrom: v1alpha1.BaseFromBaseline, BoundMilliRequestsPerSecond: 526_316, OfBoundPermille: 1520,
		}, ""},
		{"updates, which are no reads", func(e *evidence.Run) {
			e.Recorder.Stages[0].Operations[1].Name = wire.OperationUpdate
		}, &v1alpha1.StageDistance{
			RoundTripMicroseconds: 20_400, WritesPermille: 750, BaseMicroseconds: 3_000, BaseFrom: v1alpha1.BaseFromReads, BoundMilliRequestsPerSecond: 546_448, OfBoundPermille: 1464,
		}, ""},
		{"by the same with links of 0 ms", func(e *evidence.Run) {
			calm(e)
			e.Baseline.Spec.Topology.Links = []v1alpha1.Link{{From: "here", To: "there"}}
		}, &based, ""},
		{"a baseline that is at a distance itself is none", func(e *evidence.Run) { calm(e); e.Baseline.Spec.Topology.Links = e.Spec.Topology.Links }, &reads, ""},
		{"links of 0 ms", func(e *evidence.Run) {
			e.Spec.Topology.Links = []v1alpha1.Link{{From: "here", To: "there"}}
			for i := range e.Distance.RoundTrips {
				r := &e.Distance.RoundTrips[i]
				r.RequestedMicroseconds, r.Before, r.After = 0, &v1alpha1.RoundTripFigures{P50Microseconds: 300}, &v1alpha1.RoundTripFigures{P50Microseconds: 300}
			}
		}, nil, "no commit waits for a node at a distance"},
		{"nor is one of another topology", func(e *evidence.Run) { calm(e); e.Baseline.Spec.Topology.Type = v1alpha1.TopologyAsync }, &reads, ""},
		{"nor is one with another routing", func(e *evidence.Run) { calm(e); e.Baseline.Spec.Routing.Proxy = v1alpha1.ProxyProxySQL }, &reads, ""},
		{"nor is one with other pods", func(e *evidence.Run) {
			calm(e)
			e.Baseline.Spec.Pods = &v1alpha1.PodsSpec{Nodes: &v1alpha1.PodSettings{}}
		}, &reads, ""},
		{"nor is one whose servers have other resources", func(e *evidence.Run) {
			calm(e)
			e.Baseline.Spec.Topology.Resources.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
		}, &reads, ""},
		{"by the same whose proxy asks less often", func(e *evidence.Run) { calm(e); e.Baseline.Spec.Routing.Check.IntervalMilliseconds = 500 }, &based, ""},
		{"nor is one with another load", func(e *evidence.Run) { calm(e); e.Baseline.Spec.Load.Mix.Register = 7 }, &reads, ""},
		{"without reads and without a baseline", func(e *evidence.Run) {
			e.Recorder.Stages[0].Operations = e.Recorder.Stages[0].Operations[:1]
		}, nil, "no stage, baseline or read shows"},
		{"by reads that wait for the group", func(e *evidence.Run) { e.ReadsWait = true }, nil, "the latency without distance"},
		{"an open loop", func(e *evidence.Run) {
			e.Spec.Load.Stages[0] = v1alpha1.Stage{Name: "steady", DurationSeconds: 60, RequestsPerSecond: 100}
		}, nil, ""},
		{"commits that wait for nobody", func(e *evidence.Run) { e.CommitWaits = 0 }, nil, "no commit waits for another node"},
		{"a script of one's own", func(e *evidence.Run) { e.Spec.Load.Script = &v1alpha1.ScriptSource{} }, nil, "a custom script"},
		{"another primary", func(e *evidence.Run) { e.State.Failovers = evidencetest.Sound().State.Failovers }, nil, "another node took over"},
		{"a writer that lent its place before the load", func(e *evidence.Run) { evidencetest.Lent(e, "db-0") }, &reads, ""},
		{"a writer that lent its place by a clock that nobody measured", func(e *evidence.Run) {
			evidencetest.Lent(e, "db-0")
			e.State.Failovers[1].Clock = "unheard-of"
		}, nil, "another node took over"},
		{"a writer that lent its place before the load, for good", func(e *evidence.Run) { evidencetest.Lent(e, "db-1") }, nil, "another node took over"},
		{"a proxy that had another node write", func(e *evidence.Run) { e.Recorder.Writers = []string{"db-1"} }, nil, "another node took over"},
		{"a proxy that had two nodes write", func(e *evidence.Run) { e.Recorder.Writers = []string{"db-0", "db-1"} }, nil, "another node took over"},
		{"a writer that is another one", func(e *evidence.Run) { e.State.Writers = []string{"db-1"} }, nil, "another node took over"},
		{"commits that nobody counted", func(e *evidence.Run) { e.Recorder.Commits.Nodes[0].Samples = 0 }, nil, "whether commits waited for an acknowledgement is unknown"},
		{"commits that did not wait", func(e *evidence.Run) { e.Recorder.Commits.DegradedCommits = 3 }, nil, "3 commits did not wait"},
		{"commits that may not have waited", func(e *evidence.Run) { e.Recorder.Commits.DegradedCommitsAtMost = 3 }, nil, "whether up to 3 commits waited for an acknowledgement is unknown"},
		{"commits that were not sampled", func(e *evidence.Run) { e.Recorder.Commits.Nodes[0].UncountedMicroseconds = 120_001 }, nil, "node db-0 was not sampled for up to 121 ms"},
		{"commits that may not have waited, and others that were not sampled", func(e *evidence.Run) {
			e.Recorder.Commits.DegradedCommitsAtMost, e.Recorder.Commits.Nodes[0].UncountedMicroseconds = 3, 120_001
		}, nil, "node db-0 was not sampled for up to 121 ms"},
		{"commits of servers that do not count them", func(e *evidence.Run) { e.Recorder.Commits = nil }, &reads, ""},
		{"a topology that does not answer", func(e *evidence.Run) { e.State = topology.State{Why: "no answer"} }, nil, "the topology did not report when nodes were away"},
		{"a node that does not tell when it left", func(e *evidence.Run) { e.State.Nodes[1].Role = topology.Down }, nil, "node db-1 is away since an unknown time"},
		{"one that left after it", func(e *evidence.Run) {
			dead(61_000, 0)(e)
			e.State.Nodes[1].Role, e.Recorder.Stages[0].StartedAt = topology.Down, evidencetest.AtPtr(0)
		}, &reads, ""},
		{"a pod that came into another's place", func(e *evidence.Run) { e.Distance.Nodes[1].Interruptions = 1 }, nil, "the links of db-1 were set again for a pod that was replaced"},
		{"links of which nothing is known", func(e *evidence.Run) { e.Distance = nil }, nil, ""},
		{"a replica that is dead in the middle of it", dead(30_000, 40_000), nil, "stage steady is not compared with the distance: fault crash may have kept node db-1 away"},
		{"a replica that died in it and did not come back", dead(30_000, 0), nil, "may have kept node db-1 away"},
		{"a replica that was back before it", func(e *evidence.Run) {
			dead(30_000, 40_000)(e)
			e.Recorder.Stages[0].StartedAt = evidencetest.AtPtr(41_000)
		}, &reads, ""},
		{"a replica that died after it", func(e *evidence.Run) {
			dead(61_000, 70_000)(e)
			e.Recorder.Stages[0].StartedAt = evidencetest.AtPtr(0)
		}, &reads, ""},
		{"a replica whose death nobody saw the end of", func(e *evidence.Run) {
			dead(30_000, 40_000)(e)
			e.State.Absences, e.Recorder.Stages[0].StartedAt = nil, evidencetest.AtPtr(41_000)
		}, nil, "fault crash may have kept node db-1 away"},
		{"a replica that was dead, and a stage of which nobody knows when it ran", func(e *evidence.Run) {
			dead(30_000, 40_000)(e)
			e.Recorder.LoadEndedAt = nil
		}, nil, "when it ran is unknown, and fault crash may have kept node db-1 away"},
		{"a node that left its place of itself, and a stage of which nobody knows when it ran", func(e *evidence.Run) {
			dead(30_000, 40_000)(e)
			e.Faults, e.Spec.Faults, e.Recorder.LoadEndedAt = nil, nil, nil
		}, nil, "when it ran is unknown, and node db-1 was away"},
		{"a stage of which nobody knows when it ran, and no node out of its place", func(e *evidence.Run) { e.Recorder.LoadEndedAt = nil }, &reads, ""},
		{"a fault that was not injected, and a stage of which nobody knows when it ran", func(e *evidence.Run) {
			dead(30_000, 40_000)(e)
			e.State.Absences, e.Faults[0].InjectedTime, e.Recorder.LoadEndedAt = nil, nil, nil
		}, &reads, ""},
		{"a pause that is over", func(e *evidence.Run) {
			dead(30_000, 40_000)(e)
			e.State.Absences, e.Recorder.Stages[0].StartedAt = nil, evidencetest.AtPtr(41_000)
			e.Spec.Faults[0].Action, e.Spec.Faults[0].HoldSeconds, e.Faults[0].ReleasedTime = v1alpha1.ActionPause, 5, evidencetest.AtPtr(35_000)
		}, &reads, ""},
		{"a pause that was over in the midst of it", func(e *evidence.Run) {
			dead(30_000, 40_000)(e)
			e.State.Absences, e.Recorder.Stages[0].StartedAt = nil, evidencetest.AtPtr(34_000)
			e.Spec.Faults[0].Action, e.Spec.Faults[0].HoldSeconds, e.Faults[0].ReleasedTime = v1alpha1.ActionPause, 5, evidencetest.AtPtr(35_000)
		}, nil, "away"},
		{"a partition until the audit", func(e *evidence.Run) {
			dead(30_000, 40_000)(e)
			e.State.Absences, e.Recorder.Stages[0].StartedAt = nil, evidencetest.AtPtr(41_000)
			e.Spec.Faults[0].Action, e.Spec.Faults[0].HoldSeconds = v1alpha1.ActionPartition, -1
		}, nil, "away"},
		{"a node that left its place of itself", func(e *evidence.Run) {
			dead(30_000, 40_000)(e)
			e.Faults, e.Spec.Faults = nil, nil
		}, nil, "node db-1 was away"},
		{"packets that came late in it", func(e *evidence.Run) { e.Recorder.Links[0].LatePackets = 11 }, nil, "stage steady is not compared with the distance: 11 of 1000 delayed packets reached db-0 late in it"},
		{"packets of which nobody knows how late they came", func(e *evidence.Run) { e.Recorder.Links = nil }, nil, "stage steady is not compared with the distance: how many packets reached db-0 late in it is unknown"},
		{"an app away from a node that it reads from", func(e *evidence.Run) { e.Spec.App.Zone = "here" }, nil, "the app is at a distance"},
		{"an app that reads from the primary beside it", func(e *evidence.Run) {
			e.Spec.App.Zone, e.Spec.Routing.Reads = "here", v1alpha1.ReadsPrimary
		}, &reads, ""},
		{"an app away from the primary", func(e *evidence.Run) { e.Spec.App.Zone, e.Spec.Routing.Reads = "there", v1alpha1.ReadsPrimary }, nil, "the app is at a distance"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := judgedApart(c.change)
			got := s.Load.Stages[0].Distance
			if (got == nil) != (c.want == nil) || got != nil && *got != *c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
			const begins = "is not compared with the distance: "
			if all := strings.Join(allSaid(s), "\n"); strings.Contains(all, begins) != (c.why != "") || !strings.Contains(all, c.why) {
				t.Errorf("reasons %q, want one: %q", s.Reasons, c.why)
			}
		})
	}
}
