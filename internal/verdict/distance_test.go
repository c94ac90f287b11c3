package verdict

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/topology"
	"replab.dev/internal/wire"
)

// farApart is sound evidence of nodes 20 ms from each other, of which one must acknowledge, with a closed loop and without a fault.
func farApart() Evidence {
	e := sound()
	e.Faults, e.State.Failovers = nil, nil
	e.Witness.Writers, e.State.Writers = []string{"db-1"}, []string{"db-1"}
	e.CommitWaits = 1
	e.Spec.Topology = v1alpha1.TopologySpec{
		Type: v1alpha1.TopologySemiSync, Replicas: 1, Zones: []v1alpha1.Zone{{Name: "here", Nodes: []int32{0}}, {Name: "there", Nodes: []int32{1}}},
		Links: []v1alpha1.Link{{From: "here", To: "there", RoundTripMilliseconds: 20}},
	}
	trip := &v1alpha1.RoundTripFigures{Samples: 50, P50Microseconds: 20_400, P99Microseconds: 21_000}
	e.Distance = &v1alpha1.DistanceStatus{
		Nodes: []v1alpha1.LinkedNodeStatus{{
			Name: "db-0", Method: v1alpha1.LinkPacketQueue, SetTime: atPtr(-1000), DelayedPackets: ptr.To[int64](1000), DroppedPackets: ptr.To[int64](0),
			LatePackets: ptr.To[int64](0), LatestMicroseconds: ptr.To[int64](900),
		}},
		RoundTrips: []v1alpha1.RoundTripStatus{{From: "db-0", To: "db-1", RequestedMicroseconds: 20_000, Before: trip, After: trip}},
	}
	// 10 users; half of the requests wait for 20 ms, and each for 2 ms: 833.333 a second at most.
	e.Witness.Stages[0] = wire.StageResult{
		Name: "steady", Requests: 48_000, DurationMicroseconds: 60_000_000, Answered: 48_000, Succeeded: 48_000,
		Operations: []wire.OperationResult{
			{Name: "register", Requests: 24_000, Latency: &wire.Latency{MeanMicroseconds: 23_000}},
			{Name: "profile", Requests: 12_000, Latency: &wire.Latency{MeanMicroseconds: 1_000}},
			{Name: "search", Requests: 12_000, Latency: &wire.Latency{MeanMicroseconds: 3_000}},
		},
	}
	e.K6.Stages[0] = wire.K6StageSummary{Name: "steady", Requests: 48_000, Iterations: 48_000, IterationMeanMicroseconds: 12_500}
	return e
}

func judgedApart(change func(*Evidence)) v1alpha1.ReplicationExperimentStatus {
	e := farApart()
	change(&e)
	var s v1alpha1.ReplicationExperimentStatus
	s.Distance = e.Distance
	Judge(e, &s)
	return s
}

func TestDistance(t *testing.T) {
	node := func(e *Evidence) *v1alpha1.LinkedNodeStatus { return &e.Distance.Nodes[0] }
	trip := func(e *Evidence) *v1alpha1.RoundTripStatus { return &e.Distance.RoundTrips[0] }
	off := func(asked, measured int64) func(*Evidence) {
		return func(e *Evidence) {
			*trip(e) = v1alpha1.RoundTripStatus{From: "db-0", To: "db-1", RequestedMicroseconds: asked, Before: &v1alpha1.RoundTripFigures{P50Microseconds: asked}, After: &v1alpha1.RoundTripFigures{P50Microseconds: measured}}
		}
	}
	cut := func(e *Evidence) {
		trip(e).After = nil
		e.Spec.Faults = []v1alpha1.Fault{{Name: "cut", AtSeconds: 30, Action: v1alpha1.ActionPartition, HoldSeconds: -1}}
		e.Faults = []v1alpha1.FaultStatus{{Name: "cut", Fault: "cut", Pod: "db-0", InjectedTime: atPtr(30_005), Confirmed: metav1.ConditionTrue}}
	}
	for _, c := range []struct {
		name   string
		change func(*Evidence)
		reason string // of an Inconclusive run, "" for one that is judged
	}{
		{"as it was asked for", func(*Evidence) {}, ""},
		{"links of which nothing is known", func(e *Evidence) { e.Distance = nil }, "topology.links were not put into effect"},
		{"1 ms off", off(10_000, 11_000), ""},
		{"more than 1 ms off", off(10_000, 11_001), "from db-0 to db-1 was to be 10000 µs, and was 11001 µs after the load"},
		{"more than 1 ms too near", off(10_000, 8_999), "was 8999 µs after the load"},
		{"5% off", off(100_000, 105_000), ""},
		{"more than 5% off", off(100_000, 105_001), "was 105001 µs after"},
		{"none where one was asked for", off(20_000, 300), "was 300 µs after"},
		{"one where none was asked for", off(0, 20_000), "was to be 0 µs, and was 20000 µs"},
		{"not measured before", func(e *Evidence) { trip(e).Before = nil }, "was not measured before the load"},
		{"not measured after", func(e *Evidence) { trip(e).After, trip(e).Note = nil, "the agent is away" }, "was not measured after the load: the agent is away"},
		{"cut off until the audit", cut, ""},
		{"cut off by somebody else's partition", func(e *Evidence) { cut(e); trip(e).From, trip(e).To = "db-8", "db-9" }, "was not measured after the load"},
		{"cut off by a partition that has ended", func(e *Evidence) { cut(e); e.Spec.Faults[0].HoldSeconds = 5 }, "was not measured after the load"},
		{"an agent that was started anew", func(e *Evidence) { node(e).Lapses = 1 }, "The agent of db-0 was started anew 1 time(s)"},
		{"a reader that failed", func(e *Evidence) { node(e).Note = "read the packet queue: broken" }, "The links of db-0: read the packet queue: broken."},
		{"counters that nobody read", func(e *Evidence) { node(e).DroppedPackets = nil }, "What came of the links of db-0 is not known"},
		{"a node without links", func(e *Evidence) { *node(e) = v1alpha1.LinkedNodeStatus{Name: "db-0"} }, ""},
		{"a queue that overflowed", func(e *Evidence) { node(e).DroppedPackets = ptr.To[int64](1) }, "1 packets that were to be delayed at db-0 found no room"},
		{"one packet in a hundred late", func(e *Evidence) { node(e).LatePackets = ptr.To[int64](10) }, ""},
		{"more than one in a hundred late", func(e *Evidence) { node(e).LatePackets = ptr.To[int64](11) }, "11 of 1000 delayed packets came late to db-0"},
		{"a packet late by a fault's length", func(e *Evidence) { node(e).LatestMicroseconds = ptr.To[int64](100_000) }, "Packets were held up at db-0 for 100000 µs longer"},
		{"a kernel that does not tell of lateness", func(e *Evidence) { node(e).LatePackets, node(e).LatestMicroseconds = nil, nil }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := judgedApart(c.change)
			if want := map[bool]v1alpha1.Verdict{true: "Passed", false: "Inconclusive"}[c.reason == ""]; s.Verdict != want || !strings.Contains(s.Reasons[0], c.reason) {
				t.Errorf("%s: %q, want %s: %q", s.Verdict, s.Reasons, want, c.reason)
			}
		})
	}
}

func TestThroughputAgainstTheDistance(t *testing.T) {
	calm := func(e *Evidence) { // the same without distance, 4 ms a request
		x := &v1alpha1.ReplicationExperiment{Spec: e.Spec}
		x.Spec.Topology.Zones, x.Spec.Topology.Links = nil, nil
		x.Status.Verdict = v1alpha1.VerdictPassed
		x.Status.Load = &v1alpha1.LoadStatus{
			StageFigures: v1alpha1.StageFigures{RequestsPerSecond: ptr.To[int64](2500)},
			Stages:       []v1alpha1.StageStatus{{Name: "steady", StageFigures: v1alpha1.StageFigures{Latency: &v1alpha1.LatencyStatus{MeanMicroseconds: 4_000}}}},
		}
		e.Spec.Baseline, e.Baseline = &v1alpha1.BaselineReference{Name: "calm"}, x
	}
	dead := func(from, back int64) func(*Evidence) {
		return func(e *Evidence) {
			e.Spec.Faults = []v1alpha1.Fault{{Name: "crash", Action: v1alpha1.ActionKill}}
			f := hit("crash", "db-1", from)
			f.Clock = &v1alpha1.ClockStatus{}
			e.Faults = []v1alpha1.FaultStatus{f}
			e.State.Absences = []topology.Absence{{Node: "db-1", Clock: "director", LeftAt: at(from + 100)}}
			if back > 0 {
				e.State.Absences[0].BackAt = atPtr(back)
			}
		}
	}
	reads := v1alpha1.StageDistance{
		RoundTripMicroseconds: 20_000, WritesPermille: 500, BaseMicroseconds: 2_000, BaseFrom: v1alpha1.BaseFromReads, BoundMilliRequestsPerSecond: 833_333, OfBoundPermille: 960,
	}
	based := v1alpha1.StageDistance{
		RoundTripMicroseconds: 20_000, WritesPermille: 500, BaseMicroseconds: 4_000, BaseFrom: v1alpha1.BaseFromBaseline, BoundMilliRequestsPerSecond: 714_286, OfBoundPermille: 1120,
	}
	for _, c := range []struct {
		name   string
		change func(*Evidence)
		want   *v1alpha1.StageDistance
		why    string // the reasons say, where there is none
	}{
		{"by the reads", func(*Evidence) {}, &reads, ""},
		{"by the same without distance", calm, &based, ""},
		{"a baseline that is at a distance itself is none", func(e *Evidence) { calm(e); e.Baseline.Spec.Topology.Links = e.Spec.Topology.Links }, &reads, ""},
		{"nor is one of another topology", func(e *Evidence) { calm(e); e.Baseline.Spec.Topology.Type = v1alpha1.TopologyAsync }, &reads, ""},
		{"nor is one with another load", func(e *Evidence) { calm(e); e.Baseline.Spec.Load.Mix.Register = 7 }, &reads, ""},
		{"without reads and without a baseline", func(e *Evidence) {
			e.Witness.Stages[0].Operations = e.Witness.Stages[0].Operations[:1]
		}, nil, "neither a baseline"},
		{"an open loop", func(e *Evidence) {
			e.Spec.Load.Stages[0] = v1alpha1.Stage{Name: "steady", DurationSeconds: 60, RequestsPerSecond: 100}
		}, nil, ""},
		{"commits that wait for nobody", func(e *Evidence) { e.CommitWaits = 0 }, nil, "no commit waits for another node"},
		{"a script of one's own", func(e *Evidence) { e.Spec.Load.Script = &v1alpha1.ScriptSource{} }, nil, "a script of one's own"},
		{"another primary", func(e *Evidence) { e.State.Failovers = sound().State.Failovers }, nil, "another node took over"},
		{"a replica that is dead in the middle of it", dead(30_000, 40_000), nil, "stage steady is not held against the distance: fault crash may have had node db-1 out of its place"},
		{"a replica that died in it and did not come back", dead(30_000, 0), nil, "may have had node db-1 out of its place"},
		{"a replica that was back before it", func(e *Evidence) {
			dead(30_000, 40_000)(e)
			e.Witness.Stages[0].StartedAt = atPtr(41_000)
		}, &reads, ""},
		{"a replica that died after it", func(e *Evidence) {
			dead(61_000, 70_000)(e)
			e.Witness.Stages[0].StartedAt = atPtr(0)
		}, &reads, ""},
		{"a replica whose death nobody saw the end of", func(e *Evidence) {
			dead(30_000, 40_000)(e)
			e.State.Absences, e.Witness.Stages[0].StartedAt = nil, atPtr(41_000)
		}, nil, "fault crash may have had node db-1 out of its place"},
		{"a pause that is over", func(e *Evidence) {
			dead(30_000, 40_000)(e)
			e.State.Absences, e.Witness.Stages[0].StartedAt = nil, atPtr(41_000)
			e.Spec.Faults[0].Action, e.Spec.Faults[0].HoldSeconds, e.Faults[0].ReleasedTime = v1alpha1.ActionPause, 5, atPtr(35_000)
		}, &reads, ""},
		{"a pause that was over in the midst of it", func(e *Evidence) {
			dead(30_000, 40_000)(e)
			e.State.Absences, e.Witness.Stages[0].StartedAt = nil, atPtr(34_000)
			e.Spec.Faults[0].Action, e.Spec.Faults[0].HoldSeconds, e.Faults[0].ReleasedTime = v1alpha1.ActionPause, 5, atPtr(35_000)
		}, nil, "out of its place"},
		{"a partition until the audit", func(e *Evidence) {
			dead(30_000, 40_000)(e)
			e.State.Absences, e.Witness.Stages[0].StartedAt = nil, atPtr(41_000)
			e.Spec.Faults[0].Action, e.Spec.Faults[0].HoldSeconds = v1alpha1.ActionPartition, -1
		}, nil, "out of its place"},
		{"a node that left its place of itself", func(e *Evidence) {
			dead(30_000, 40_000)(e)
			e.Faults, e.Spec.Faults = nil, nil
		}, nil, "node db-1 was out of its place"},
		{"an app away from a node that it reads from", func(e *Evidence) { e.Spec.App.Zone = "here" }, nil, "the app is at a distance"},
		{"an app that reads from the primary beside it", func(e *Evidence) {
			e.Spec.App.Zone, e.Spec.Routing.Reads = "here", v1alpha1.ReadsPrimary
		}, &reads, ""},
		{"an app away from the primary", func(e *Evidence) { e.Spec.App.Zone, e.Spec.Routing.Reads = "there", v1alpha1.ReadsPrimary }, nil, "the app is at a distance"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := judgedApart(c.change)
			got := s.Load.Stages[0].Distance
			if (got == nil) != (c.want == nil) || got != nil && *got != *c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
			const begins = "is not held against the distance: "
			if all := strings.Join(s.Reasons, "\n"); strings.Contains(all, begins) != (c.why != "") || !strings.Contains(all, c.why) {
				t.Errorf("reasons %q, want one: %q", s.Reasons, c.why)
			}
		})
	}
}

func TestWhereAllNodesTakeWritesTheBoundIsOfTheOneThatWaitsLeast(t *testing.T) {
	e := farApart()
	e.CommitWaits = 2
	e.Spec.Routing.Writes = v1alpha1.WritesAll
	e.Spec.Topology.Replicas = 2
	e.Spec.Topology.Zones = []v1alpha1.Zone{{Name: "a", Nodes: []int32{0}}, {Name: "b", Nodes: []int32{1}}, {Name: "c", Nodes: []int32{2}}}
	e.Spec.Topology.Links = []v1alpha1.Link{
		{From: "a", To: "b", RoundTripMilliseconds: 10}, {From: "b", To: "c", RoundTripMilliseconds: 20}, {From: "a", To: "c", RoundTripMilliseconds: 30},
	}
	if got := commitTrip(e); got != 20_000 {
		t.Errorf("%d µs, want those of b, whose farthest is c", got)
	}
	e.Spec.Routing.Writes = v1alpha1.WritesPrimary
	if got := commitTrip(e); got != 30_000 {
		t.Errorf("%d µs, want those of the primary", got)
	}
}
