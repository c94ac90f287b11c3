package verdict

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/wire"
)

// farApart is sound evidence of nodes 20 ms from each other, of which one must acknowledge, with a closed loop and without a fault.
func farApart() Evidence {
	e := sound()
	e.Faults, e.State.Failovers = nil, nil
	e.Recorder.Writers, e.State.Writers = []string{"db-0"}, []string{"db-0"}
	e.Recorder.Commits.Nodes[0].UncountedMicroseconds = 0
	for i, n := range e.Audit.Nodes {
		e.Audit.Nodes[i].Role = map[bool]wire.Role{true: wire.RoleWriter, false: wire.RoleReader}[n.Name == "db-0"]
	}
	e.CommitWaits, e.Spec.Routing.Proxy = 1, v1alpha1.ProxyNone
	e.Spec.Topology = v1alpha1.TopologySpec{
		Type: v1alpha1.TopologySemiSync, Nodes: 2, Zones: []v1alpha1.Zone{{Name: "here", Nodes: []int32{0}}, {Name: "there", Nodes: []int32{1}}},
		Links: []v1alpha1.Link{{From: "here", To: "there", RoundTripMilliseconds: 20}},
	}
	trip := &v1alpha1.RoundTripFigures{Samples: 50, P50Microseconds: 20_400, P99Microseconds: 21_000}
	e.Distance = &v1alpha1.DistanceStatus{
		Nodes: []v1alpha1.LinkedNodeStatus{{
			Name: "db-0", Method: v1alpha1.LinkPacketQueue, SetTime: atPtr(-1000), LinkCounts: v1alpha1.LinkCounts{
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
	cutFrom := func(from v1alpha1.PartitionFrom, to string) func(*Evidence) {
		return func(e *Evidence) {
			if to != "db-1" {
				e.Distance.RoundTrips = append([]v1alpha1.RoundTripStatus{{From: "db-0", To: to, RequestedMicroseconds: 20_000, Before: trip(e).Before}}, *trip(e))
			}
			trip(e).After = nil
			e.Spec.Faults = []v1alpha1.Fault{{Name: "cut", AtSeconds: 30, Action: v1alpha1.ActionPartition, PartitionFrom: from, HoldSeconds: -1}}
			e.Faults = []v1alpha1.FaultStatus{{Name: "cut", Fault: "cut", Pod: "db-0", InjectedTime: atPtr(30_005), Confirmed: metav1.ConditionTrue}}
		}
	}
	cut := cutFrom(v1alpha1.PartitionEveryone, "db-1")
	for _, c := range []struct {
		name   string
		change func(*Evidence)
		reason string // of an Inconclusive run, "" for one that is judged
	}{
		{"as it was asked for", func(*Evidence) {}, ""},
		{"links of which nothing is known", func(e *Evidence) { e.Distance = nil }, "topology.links were not put into effect"},
		{"a link to where nobody is", func(e *Evidence) {
			t := &e.Spec.Topology
			t.Zones = append(t.Zones, v1alpha1.Zone{Name: "nowhere"})
			t.Links = append(t.Links, v1alpha1.Link{From: "nowhere", To: "here", RoundTripMilliseconds: 20})
		}, "Of the link from nowhere to here nothing was measured: no two pods are at its ends"},
		{"a link to where the app is, to which nothing was measured", func(e *Evidence) {
			t := &e.Spec.Topology
			t.Zones = append(t.Zones, v1alpha1.Zone{Name: "app"})
			t.Links = append(t.Links, v1alpha1.Link{From: "app", To: "here", RoundTripMilliseconds: 20})
			e.Spec.App.Zone = "app"
		}, "Of the link from app to here the round trip from db-0 to x-social- was not measured"},
		{"a link to where the app is", func(e *Evidence) {
			t := &e.Spec.Topology
			t.Zones = append(t.Zones, v1alpha1.Zone{Name: "app"})
			t.Links = append(t.Links, v1alpha1.Link{From: "app", To: "here", RoundTripMilliseconds: 20})
			e.Spec.App.Zone = "app"
			r := *trip(e)
			r.To = "x-social-a"
			e.Distance.RoundTrips = append(e.Distance.RoundTrips, r)
		}, ""},
		{"pairs that were not measured", func(e *Evidence) { e.Distance.RoundTrips = nil }, "Of the link from here to there the round trip from db-0 to db-1 was not measured"},
		{"a proxy measured, and not its app", func(e *Evidence) {
			t := &e.Spec.Topology
			t.Zones = append(t.Zones, v1alpha1.Zone{Name: "app"})
			t.Links = append(t.Links, v1alpha1.Link{From: "app", To: "here", RoundTripMilliseconds: 20})
			e.Spec.App.Zone, e.Spec.Routing.Proxy = "app", v1alpha1.ProxyHAProxy
			r := *trip(e)
			r.To = "x-proxy-a"
			e.Distance.RoundTrips = append(e.Distance.RoundTrips, r)
		}, "the round trip from db-0 to x-social- was not measured"},
		{"a pair twice, and another never", func(e *Evidence) {
			t := &e.Spec.Topology
			t.Nodes, t.Zones[1].Nodes = 3, []int32{1, 2}
			e.Nodes = []string{"db-0", "db-1", "db-2"}
			e.Distance.RoundTrips = append(e.Distance.RoundTrips, *trip(e))
		}, "the round trip from db-0 to db-2 was not measured"},
		{"1 ms off", off(10_000, 11_000), ""},
		{"more than 1 ms off", off(10_000, 11_001), "from db-0 to db-1 was to be 10000 µs, and was 11001 µs after the load"},
		{"5% too near", off(10_000, 9_500), ""},
		{"more than 5% too near", off(10_000, 9_499), "was 9499 µs after the load"},
		{"a link of 1 ms that is not there", off(1_000, 300), "from db-0 to db-1 was to be 1000 µs, and was 300 µs after the load"},
		{"no packet was delayed", func(e *Evidence) { node(e).DelayedPackets = ptr.To[int64](0) }, "No packet was delayed at db-0: its links delayed nothing."},
		{"5% off", off(100_000, 105_000), ""},
		{"more than 5% off", off(100_000, 105_001), "was 105001 µs after"},
		{"none where one was asked for", off(20_000, 300), "was 300 µs after"},
		{"one where none was asked for", off(0, 20_000), "was to be 0 µs, and was 20000 µs"},
		{"not measured before", func(e *Evidence) { trip(e).Before = nil }, "was not measured before the load"},
		{"not measured after", func(e *Evidence) { trip(e).After, trip(e).Note = nil, "the agent is away" }, "was not measured after the load: the agent is away"},
		{"cut off until the audit", cut, ""},
		{"from everyone, the app too", cutFrom(v1alpha1.PartitionEveryone, "x-social-a"), ""},
		{"from its peers", cutFrom(v1alpha1.PartitionPeers, "db-1"), ""},
		{"from its peers, and the app is none", cutFrom(v1alpha1.PartitionPeers, "x-social-a"), "from db-0 to x-social-a was not measured after the load"},
		{"from other zones' nodes", cutFrom(v1alpha1.PartitionZone, "db-1"), ""},
		{"from other zones' nodes, of which the proxy is none", cutFrom(v1alpha1.PartitionZone, "x-proxy-a"), "was not measured after the load"},
		{"from its clients", cutFrom(v1alpha1.PartitionClients, "x-proxy-a"), ""},
		{"from its clients, and the other node is none", cutFrom(v1alpha1.PartitionClients, "db-1"), "from db-0 to db-1 was not measured after the load"},
		{"cut off by somebody else's partition", func(e *Evidence) { cut(e); trip(e).From, trip(e).To = "db-8", "db-9" }, "was not measured after the load"},
		{"cut off by a partition that has ended", func(e *Evidence) { cut(e); e.Spec.Faults[0].HoldSeconds = 5 }, "was not measured after the load"},
		{"an agent that was started anew", func(e *Evidence) { node(e).Lapses = 1 }, "The agent of db-0 was started anew 1 time(s)"},
		{"links that were not kept", func(e *Evidence) {
			node(e).Problem, node(e).Note = v1alpha1.LinkNotKept, "read the packet queue: broken"
		}, "The links of db-0: read the packet queue: broken."},
		{"an agent that did not tell", func(e *Evidence) { node(e).Problem = v1alpha1.LinkNotRead }, "The links of db-0: NotRead."},
		{"a note alone decides nothing", func(e *Evidence) { node(e).Note = "all is well" }, ""},
		{"counts that nobody read", func(e *Evidence) { node(e).DroppedPackets = nil }, "What came of the links of db-0 is not known"},
		{"a pod that came into another's place, and had its links soon", func(e *Evidence) {
			node(e).UndelayedSinceTime, node(e).UndelayedUntilTime = atPtr(30_000), atPtr(35_000)
		}, ""},
		{"one that had them late", func(e *Evidence) {
			node(e).UndelayedSinceTime, node(e).UndelayedUntilTime = atPtr(30_000), atPtr(35_001)
		}, "A pod that came into the place of db-0's ran for up to 5001 ms before all links to and from it stood"},
		{"one that has them not all", func(e *Evidence) { node(e).CameTime = atPtr(30_000) }, "A pod came into the place of db-0's, and not all links to and from it were set"},
		{"an app that came into another's place", func(e *Evidence) { e.Distance.ClientReplacements = 2 }, "2 pod(s) of the app or its proxy came while the load ran"},
		{"a node without links", func(e *Evidence) { *node(e) = v1alpha1.LinkedNodeStatus{Name: "db-0"} }, ""},
		{"a queue that overflowed", func(e *Evidence) { node(e).DroppedPackets = ptr.To[int64](1) }, "1 packets that were to be delayed at db-0 were dropped"},
		{"one packet in a hundred late", func(e *Evidence) { e.Recorder.Links[0].LatePackets = 10 }, ""},
		{"more than one in a hundred late", func(e *Evidence) { e.Recorder.Links[0].LatePackets = 11 }, "In stage steady 11 of 1000 delayed packets came late to db-0"},
		{"a packet late by a fault's length", func(e *Evidence) { e.Recorder.Links[0].HeldUpPackets = 1 }, "and 1 were held up for 100 ms or more longer"},
		{"many late, and none of them while the load ran", func(e *Evidence) {
			node(e).LatePackets, node(e).LatestMicroseconds = ptr.To[int64](500), ptr.To[int64](200_000)
		}, ""},
		{"an agent that could not be asked while the load ran", func(e *Evidence) { e.Recorder.Links = nil }, "How many packets came late to db-0 is not known of stage steady"},
		{"a kernel that does not tell of lateness", func(e *Evidence) {
			node(e).Method, node(e).LatePackets, node(e).LatestMicroseconds, e.Recorder.Links = v1alpha1.LinkNetem, nil, nil, nil
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := judgedApart(c.change)
			if want := map[bool]v1alpha1.Verdict{true: "Passed", false: "Inconclusive"}[c.reason == ""]; s.Verdict != want || !strings.Contains(s.Reasons[0], c.reason) {
				t.Errorf("%s: %q, want %s: %q", s.Verdict, s.Reasons, want, c.reason)
			}
		})
	}
}

// withoutDistanceFirst is farApart whose load begins with a stage without distance and one in which the links are set.
func withoutDistanceFirst() Evidence {
	e := farApart()
	e.Spec.Load.Stages = append([]v1alpha1.Stage{
		{Name: "base", DurationSeconds: 10, Users: 1, Discard: true, Distance: v1alpha1.StageWithoutDistance}, {Name: "leave", DurationSeconds: 10, Users: 10, Discard: true},
	}, e.Spec.Load.Stages...)
	e.Recorder.Stages[0].StartedAt = atPtr(20_000)
	e.Recorder.Stages = append([]wire.StageResult{
		{Name: "base", Discarded: true, Requests: 2000, StartedAt: atPtr(0), EndedAt: atPtr(10_005), Latency: &wire.Latency{MeanMicroseconds: 5_000}}, {Name: "leave", Discarded: true, StartedAt: atPtr(10_000)},
	}, e.Recorder.Stages...)
	e.Recorder.Clocks = []wire.Clock{clock("db-0", 1, 2)}
	e.Distance.Nodes[0].LinkingTime, e.Distance.Nodes[0].LinkedTime = atPtr(11_990), atPtr(12_000)
	e.Distance.RoundTrips[0].WithoutDistance = &v1alpha1.RoundTripFigures{Samples: 50, P50Microseconds: 300, P99Microseconds: 900}
	return e
}

func TestStagesWithoutDistance(t *testing.T) {
	set := func(from, to int64) func(*Evidence) {
		return func(e *Evidence) {
			e.Distance.Nodes[0].LinkingTime, e.Distance.Nodes[0].LinkedTime = atPtr(from), atPtr(to)
		}
	}
	for _, c := range []struct {
		name   string
		change func(*Evidence)
		says   string
	}{
		{"the links were set in the stage between", func(*Evidence) {}, ""},
		{"perhaps begun in the stage before", set(10_002, 12_000), "not set within stage leave"},
		{"certainly begun in the stage between", set(10_003, 12_000), ""},
		{"perhaps ended in the stage after", set(12_000, 20_001), "not set within stage leave"},
		{"certainly ended before the stage after", set(12_000, 20_000), ""},
		{"never", func(e *Evidence) { e.Distance.Nodes[0].LinkedTime, e.Distance.Nodes[0].WithoutDistance = nil, true }, "were not set after the stages without distance"},
		{"by an agent that was replaced meanwhile", func(e *Evidence) {
			n := &e.Distance.Nodes[0]
			n.LinkedTime, n.WithoutDistance, n.Method = nil, true, ""
		}, "were not set after the stages without distance"},
		{"by a clock that nobody knows", func(e *Evidence) { e.Recorder.Clocks = nil }, "its clock was not measured"},
		{"a node with no link", func(e *Evidence) { e.Distance.Nodes[0] = v1alpha1.LinkedNodeStatus{Name: "db-9"} }, ""},
		{"a stage between that never came", func(e *Evidence) { e.Recorder.Stages[1].StartedAt = nil }, "not set within stage leave"},
		{"links that had not ended", func(e *Evidence) { e.Distance.RoundTrips[0].WithoutDistance.P50Microseconds = 20_000 }, "was to be 0 µs, and was 20000 µs before the load, without distance"},
		{"links of which nobody knows that they had ended", func(e *Evidence) { e.Distance.RoundTrips[0].WithoutDistance = nil }, "was not measured before the load, without distance"},
	} {
		e := withoutDistanceFirst()
		c.change(&e)
		found := strings.Join(distanceUnsound(e, nil), "\n")
		if !strings.Contains(found, c.says) || (found == "") != (c.says == "") {
			t.Errorf("%s: %q, want %q", c.name, found, c.says)
		}
	}
}
