package evidencetest

import (
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/topology"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/wire"
)

// Lent has another node take the writes for a moment before the load, after which they are writer's.
func Lent(e *evidence.Run, writer string) {
	e.State.Failovers = []topology.Failover{
		{Clock: "db-0", OldWriter: "db-0", NewWriter: "db-1", DetectedAt: At(-20_000), PromotedAt: AtPtr(-20_000)},
		{Clock: "db-0", OldWriter: "db-1", NewWriter: "db-0", DetectedAt: At(-10_000), PromotedAt: AtPtr(-10_000)},
	}
	e.State.Writers = []string{writer}
}

// FarApart is sound evidence of nodes 20 ms from each other, of which one must acknowledge, with a closed loop and without a fault.
func FarApart() evidence.Run {
	e := Sound()
	e.Faults, e.State.Failovers = nil, nil
	e.Recorder.Writers, e.State.Writers = []string{"db-0"}, []string{"db-0"}
	e.Recorder.Commits.Nodes[0].UncountedMicroseconds = 0
	for i, n := range e.Audit.Nodes {
		e.Audit.Nodes[i].Role = map[bool]wire.Role{true: wire.RoleWriter, false: wire.RoleReader}[n.Name == "db-0"]
	}
	e.CommitWaits, e.Spec.Routing.Proxy = 1, v1alpha1.ProxyNone
	e.Spec.Topology = v1alpha1.TopologySpec{
		Nodes: 2, Zones: []v1alpha1.Zone{{Name: "here", Nodes: []int32{0}}, {Name: "there", Nodes: []int32{1}}},
		Links: []v1alpha1.Link{{From: "here", To: "there", RoundTripMilliseconds: 20}},
	}
	trip := &v1alpha1.RoundTripFigures{Samples: 50, P50Microseconds: 20_400, P99Microseconds: 21_000}
	e.Distance = &v1alpha1.DistanceStatus{
		Nodes: []v1alpha1.LinkedNodeStatus{{
			Name: "db-0", Linked: true, SetTime: AtPtr(-1000), LinkCounts: v1alpha1.LinkCounts{
				DelayedPackets: ptr.To[int64](1000), DroppedPackets: ptr.To[int64](0), LatePackets: ptr.To[int64](0), LatestMicroseconds: ptr.To[int64](900),
			},
		}, {Name: "db-1"}},
		RoundTrips: []v1alpha1.RoundTripStatus{{From: "db-0", To: "db-1", RequestedMicroseconds: 20_000, Before: trip, After: trip}},
	}
	// 10 users; half of the requests wait for 20 ms, and each for 2 ms: 833.333 a second at most.
	e.Recorder.Stages[0] = wire.StageResult{
		Name: "steady", Requests: 48_000, DurationMicroseconds: 60_000_000, Answered: 48_000, Succeeded: 48_000,
		Operations: []wire.OperationResult{
			{Name: "register", Requests: 24_000, Latency: &wire.Latency{MeanMicroseconds: 23_000}},
			{Name: "profile", Requests: 12_000, Latency: &wire.Latency{MeanMicroseconds: 1_000}},
			{Name: "search", Requests: 12_000, Latency: &wire.Latency{MeanMicroseconds: 3_000}},
		},
	}
	e.Recorder.Links = []wire.NodeLinks{{Node: "db-0", Stage: "steady", DelayedPackets: 1000}}
	e.K6.Stages[0] = wire.K6StageSummary{Name: "steady", Requests: 48_000, Iterations: 48_000, IterationMeanMicroseconds: 12_500}
	return e
}

// WithoutDistanceFirst is FarApart whose load begins with a stage without distance and one in which the links are set.
func WithoutDistanceFirst() evidence.Run {
	e := FarApart()
	e.Spec.Load.Stages = append([]v1alpha1.Stage{
		{Name: "base", DurationSeconds: 10, Users: new(int64(1)), Discard: true, Distance: v1alpha1.StageWithoutDistance}, {Name: "leave", DurationSeconds: 10, Users: new(int64(10)), Discard: true},
	}, e.Spec.Load.Stages...)
	e.Recorder.Stages[0].StartedAt = AtPtr(20_000)
	e.Recorder.Stages = append([]wire.StageResult{
		{Name: "base", Discarded: true, Requests: 2000, StartedAt: AtPtr(0), EndedAt: AtPtr(10_005), Latency: &wire.Latency{MeanMicroseconds: 5_000}}, {Name: "leave", Discarded: true, StartedAt: AtPtr(10_000)},
	}, e.Recorder.Stages...)
	e.Recorder.Clocks = []wire.Clock{Clock("db-0", 1, 2)}
	e.Distance.Nodes[0].LinkingTime, e.Distance.Nodes[0].LinkedTime = AtPtr(11_990), AtPtr(12_000)
	e.Distance.RoundTrips[0].WithoutDistance = &v1alpha1.RoundTripFigures{Samples: 50, P50Microseconds: 300, P99Microseconds: 900}
	return e
}

// Sweep is FarApart with stages before and after its own: the first is discarded, the last has most of the packets.
func Sweep() evidence.Run {
	e := FarApart()
	warm, many := e.Recorder.Stages[0], e.Recorder.Stages[0]
	warm.Name, warm.Discarded, many.Name = "warm", true, "many"
	e.Recorder.Stages = []wire.StageResult{warm, e.Recorder.Stages[0], many}
	steady := e.Spec.Load.Stages[0]
	e.Spec.Load.Stages = []v1alpha1.Stage{steady, steady, steady}
	e.Spec.Load.Stages[0].Name, e.Spec.Load.Stages[0].Discard, e.Spec.Load.Stages[2].Name = "warm", true, "many"
	e.Recorder.Links = []wire.NodeLinks{
		{Node: "db-0", Stage: "warm", DelayedPackets: 5_000}, {Node: "db-0", Stage: "steady", DelayedPackets: 1_000}, {Node: "db-0", Stage: "many", DelayedPackets: 100_000},
	}
	return e
}

// ChosenApart has three nodes, of which db-1 is 20 ms and db-2 40 ms from db-0. A manager chooses the standby that a commit waits for.
func ChosenApart(e *evidence.Run) {
	e.CommitWaits, e.StandbysChosen = 1, true
	t := &e.Spec.Topology
	t.Nodes, e.Nodes = 3, []string{"db-0", "db-1", "db-2"}
	t.Zones = append(t.Zones, v1alpha1.Zone{Name: "far", Nodes: []int32{2}})
	t.Links = append(t.Links, v1alpha1.Link{From: "here", To: "far", RoundTripMilliseconds: 40})
	r := e.Distance.RoundTrips[0]
	r.To, r.RequestedMicroseconds = "db-2", 40_000
	r.Before = &v1alpha1.RoundTripFigures{Samples: 50, P50Microseconds: 40_400}
	r.After = r.Before
	e.Distance.RoundTrips = append(e.Distance.RoundTrips, r)
	e.Recorder.Stages[0].StartedAt = AtPtr(0)
}

// WaitedFor has commits of the first node wait for standbys from one time to another, in milliseconds.
func WaitedFor(e *evidence.Run, from, to int64, nodes ...string) {
	n := &e.Recorder.Commits.Nodes[0]
	n.StandbySpans = append(n.StandbySpans, wire.StandbySpan{From: At(from), To: At(to), Nodes: nodes})
}
