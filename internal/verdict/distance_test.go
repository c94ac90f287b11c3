package verdict

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/evidencetest"
)

func judgedApart(change func(*evidence.Run)) v1alpha1.ReplicationExperimentStatus {
	e := evidencetest.FarApart()
	change(&e)
	var s v1alpha1.ReplicationExperimentStatus
	s.Distance = e.Distance
	Judge(e, &s)
	return s
}

func TestDistance(t *testing.T) {
	node := func(e *evidence.Run) *v1alpha1.LinkedNodeStatus { return &e.Distance.Nodes[0] }
	trip := func(e *evidence.Run) *v1alpha1.RoundTripStatus { return &e.Distance.RoundTrips[0] }
	off := func(asked, measured int64) func(*evidence.Run) {
		return func(e *evidence.Run) {
			*trip(e) = v1alpha1.RoundTripStatus{From: "db-0", To: "db-1", RequestedMicroseconds: asked, Before: &v1alpha1.RoundTripFigures{P50Microseconds: asked}, After: &v1alpha1.RoundTripFigures{P50Microseconds: measured}}
		}
	}
	cutFrom := func(from v1alpha1.PartitionFrom, to string) func(*evidence.Run) {
		return func(e *evidence.Run) {
			if to != "db-1" {
				e.Distance.RoundTrips = append([]v1alpha1.RoundTripStatus{{From: "db-0", To: to, RequestedMicroseconds: 20_000, Before: trip(e).Before}}, *trip(e))
			}
			trip(e).After = nil
			e.Spec.Faults = []v1alpha1.Fault{{Name: "cut", AtSeconds: 30, Action: v1alpha1.ActionPartition, PartitionFrom: from, HoldSeconds: -1}}
			e.Faults = []v1alpha1.FaultStatus{{Name: "cut", Fault: "cut", Pod: "db-0", InjectedTime: evidencetest.AtPtr(30_005), Confirmed: metav1.ConditionTrue}}
		}
	}
	cut := cutFrom(v1alpha1.PartitionEveryone, "db-1")
	for _, c := range []struct {
		name   string
		change func(*evidence.Run)
		reason string // of an Inconclusive run, "" for one that is judged
	}{
		{"as it was asked for", func(*evidence.Run) {}, ""},
		{"links of which nothing is known", func(e *evidence.Run) { e.Distance = nil }, "topology.links were not put into effect"},
		{"a link to where nobody is", func(e *evidence.Run) {
			t := &e.Spec.Topology
			t.Zones = append(t.Zones, v1alpha1.Zone{Name: "nowhere"})
			t.Links = append(t.Links, v1alpha1.Link{From: "nowhere", To: "here", RoundTripMilliseconds: 20})
		}, "The link from nowhere to here was not measured: no two pods are at its ends"},
		{"a link to where the app is, to which nothing was measured", func(e *evidence.Run) {
			t := &e.Spec.Topology
			t.Zones = append(t.Zones, v1alpha1.Zone{Name: "app"})
			t.Links = append(t.Links, v1alpha1.Link{From: "app", To: "here", RoundTripMilliseconds: 20})
			e.Spec.App.Zone = "app"
		}, "Link from app to here: the round trip from db-0 to x-social- was not measured"},
		{"a link to where the app is", func(e *evidence.Run) {
			t := &e.Spec.Topology
			t.Zones = append(t.Zones, v1alpha1.Zone{Name: "app"})
			t.Links = append(t.Links, v1alpha1.Link{From: "app", To: "here", RoundTripMilliseconds: 20})
			e.Spec.App.Zone = "app"
			r := *trip(e)
			r.To = "x-social-a"
			e.Distance.RoundTrips = append(e.Distance.RoundTrips, r)
		}, ""},
		{"pairs that were not measured", func(e *evidence.Run) { e.Distance.RoundTrips = nil }, "Link from here to there: the round trip from db-0 to db-1 was not measured"},
		{"a proxy measured, and not its app", func(e *evidence.Run) {
			t := &e.Spec.Topology
			t.Zones = append(t.Zones, v1alpha1.Zone{Name: "app"})
			t.Links = append(t.Links, v1alpha1.Link{From: "app", To: "here", RoundTripMilliseconds: 20})
			e.Spec.App.Zone, e.Spec.Routing.Proxy = "app", v1alpha1.ProxyHAProxy
			r := *trip(e)
			r.To = "x-proxy-a"
			e.Distance.RoundTrips = append(e.Distance.RoundTrips, r)
		}, "the round trip from db-0 to x-social- was not measured"},
		{"a pair twice, and another never", func(e *evidence.Run) {
			t := &e.Spec.Topology
			t.Nodes, t.Zones[1].Nodes = 3, []int32{1, 2}
			e.Nodes = []string{"db-0", "db-1", "db-2"}
			e.Distance.RoundTrips = append(e.Distance.RoundTrips, *trip(e))
		}, "the round trip from db-0 to db-2 was not measured"},
		{"1 ms off", off(10_000, 11_000), ""},
		{"more than 1 ms off", off(10_000, 11_001), "from db-0 to db-1 was 11001 µs after the load, instead of 10000 µs"},
		{"5% too near", off(10_000, 9_500), ""},
		{"more than 5% too near", off(10_000, 9_499), "was 9499 µs after the load"},
		{"a link of 1 ms that is not there", off(1_000, 300), "from db-0 to db-1 was 300 µs after the load, instead of 1000 µs"},
		{"no packet was delayed", func(e *evidence.Run) { node(e).DelayedPackets = ptr.To[int64](0) }, "No packet was delayed at db-0, though it has links."},
		{"5% off", off(100_000, 105_000), ""},
		{"more than 5% off", off(100_000, 105_001), "was 105001 µs after"},
		{"none where one was asked for", off(20_000, 300), "was 300 µs after"},
		{"one where none was asked for", off(0, 20_000), "was 20000 µs"},
		{"not measured before", func(e *evidence.Run) { trip(e).Before = nil }, "was not measured before the load"},
		{"not measured after", func(e *evidence.Run) { trip(e).After, trip(e).Note = nil, "the agent is away" }, "was not measured after the load: the agent is away"},
		{"cut off until the audit", cut, ""},
		{"from everyone, the app too", cutFrom(v1alpha1.PartitionEveryone, "x-social-a"), ""},
		{"from its peers", cutFrom(v1alpha1.PartitionPeers, "db-1"), ""},
		{"from its peers, and the app is none", cutFrom(v1alpha1.PartitionPeers, "x-social-a"), "from db-0 to x-social-a was not measured after the load"},
		{"from other zones' nodes", cutFrom(v1alpha1.PartitionZone, "db-1"), ""},
		{"from other zones' nodes, of which the proxy is none", cutFrom(v1alpha1.PartitionZone, "x-proxy-a"), "was not measured after the load"},
		{"from its clients", cutFrom(v1alpha1.PartitionClients, "x-proxy-a"), ""},
		{"from its clients, and the other node is none", cutFrom(v1alpha1.PartitionClients, "db-1"), "from db-0 to db-1 was not measured after the load"},
		{"cut off by somebody else's partition", func(e *evidence.Run) { cut(e); trip(e).From, trip(e).To = "db-8", "db-9" }, "was not measured after the load"},
		{"cut off by a partition that has ended", func(e *evidence.Run) { cut(e); e.Spec.Faults[0].HoldSeconds = 5 }, "was not measured after the load"},
		{"links that were not kept", func(e *evidence.Run) {
			node(e).Problem, node(e).Note = v1alpha1.LinkNotKept, "read the packet queue: broken"
		}, "The links of db-0 failed: read the packet queue: broken."},
		{"an agent that did not tell", func(e *evidence.Run) { node(e).Problem = v1alpha1.LinkNotRead }, "The links of db-0 failed: NotRead."},
		{"a note alone decides nothing", func(e *evidence.Run) { node(e).Note = "all is well" }, ""},
		{"counts that nobody read", func(e *evidence.Run) { node(e).DroppedPackets = nil }, "The number of packets that the links of db-0 delayed is unknown"},
		{"a pod that came into another's place, and had its links soon", func(e *evidence.Run) {
			e.Distance.UndelayedMilliseconds = 5000
		}, ""},
		{"one that had them late", func(e *evidence.Run) {
			e.Distance.UndelayedMilliseconds = 5001
		}, "A node's replacement pod ran for up to 5001 ms before all its links were set"},
		{"one that has them not all", func(e *evidence.Run) { e.Distance.UndelayedSinceTime = evidencetest.AtPtr(30_000) }, "A node's pod was replaced, and not all links of the new pod were set"},
		{"a node without links", func(e *evidence.Run) { *node(e) = v1alpha1.LinkedNodeStatus{Name: "db-0"} }, ""},
		{"a queue that overflowed", func(e *evidence.Run) { node(e).DroppedPackets = ptr.To[int64](1) }, "1 packets that were to be delayed at db-0 were dropped"},
		{"one packet in a hundred late", func(e *evidence.Run) { e.Recorder.Links[0].LatePackets = 10 }, ""},
		{"more than one in a hundred late", func(e *evidence.Run) { e.Recorder.Links[0].LatePackets = 11 }, "Stage steady: 11 of 1000 delayed packets reached db-0 late"},
		{"a packet late by a fault's length", func(e *evidence.Run) {
			cut(e)
			e.Recorder.Links[0].HeldUpPackets = 1
		}, "1 by 100 ms or more"},
		{"a packet as late without a fault", func(e *evidence.Run) { e.Recorder.Links[0].HeldUpPackets = 1 }, ""},
		{"many late, and none of them while the load ran", func(e *evidence.Run) {
			node(e).LatePackets, node(e).LatestMicroseconds = ptr.To[int64](500), ptr.To[int64](200_000)
		}, ""},
		{"an agent that could not be asked while the load ran", func(e *evidence.Run) { e.Recorder.Links = nil }, "How many packets reached db-0 late is unknown in stage steady"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := judgedApart(c.change)
			if want := map[bool]v1alpha1.Verdict{true: "Passed", false: "Inconclusive"}[c.reason == ""]; s.Verdict != want || !strings.Contains(s.Reasons[0], c.reason) {
				t.Errorf("%s: %q, want %s: %q", s.Verdict, s.Reasons, want, c.reason)
			}
		})
	}
}
