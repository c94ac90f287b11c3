package topology

import (
	"slices"
	"testing"

	"replab.dev/api/v1alpha1"
)

func atlantic() v1alpha1.TopologySpec {
	return v1alpha1.TopologySpec{
		Nodes: 5,
		Zones: []v1alpha1.Zone{{Name: "eu", Nodes: []int32{0, 1}}, {Name: "us", Nodes: []int32{2}}, {Name: "jp", Nodes: []int32{3}}},
		Links: []v1alpha1.Link{
			{From: "eu", To: "us", RoundTripMilliseconds: 87}, {From: "jp", To: "eu", RoundTripMilliseconds: 220}, {From: "jp", To: "us", RoundTripMilliseconds: 0},
		},
	}
}

func TestRoundTrip(t *testing.T) {
	for _, c := range []struct {
		a, b   string
		want   int64
		linked bool
	}{
		{"eu", "us", 87_000, true},
		{"us", "eu", 87_000, true},
		{"eu", "jp", 220_000, true},
		{"us", "jp", 0, true},
		{"eu", "eu", 0, false},
		{"", "eu", 0, false},
		{"", "", 0, false},
	} {
		if got, linked := RoundTrip(atlantic(), c.a, c.b); got != c.want || linked != c.linked {
			t.Errorf("from %q to %q: %d µs, %v; want %d µs, %v", c.a, c.b, got, linked, c.want, c.linked)
		}
	}
}

func TestZoneOf(t *testing.T) {
	for node, want := range map[int]string{-1: "", 0: "eu", 1: "eu", 2: "us", 3: "jp", 4: "", 9: ""} {
		if got := ZoneOf(atlantic(), node); got != want {
			t.Errorf("node %d is in %q, want %q", node, got, want)
		}
	}
}

func TestCommitRoundTrip(t *testing.T) {
	for _, c := range []struct {
		name         string
		node, others int
		want         int64
	}{
		{"nobody is waited for", 0, 0, 0},
		{"one acknowledgement comes from next door", 0, 1, 0},
		{"of two one comes from no zone", 0, 2, 0},
		{"the third is across the ocean", 0, 3, 87_000},
		{"all, with the farthest", 0, 4, 220_000},
		{"from the other side", 2, 3, 87_000},
		{"more than there are", 0, 5, 0},
	} {
		if got := CommitRoundTrip(int(atlantic().Nodes), c.node, c.others, Asked(atlantic())); got != c.want {
			t.Errorf("%s: %d µs, want %d", c.name, got, c.want)
		}
	}
}

func TestTripKept(t *testing.T) {
	for _, c := range []struct {
		asked, measured int64
		want            bool
	}{
		{10_000, 11_000, true},
		{10_000, 11_001, false},
		{10_000, 9_500, true},
		{10_000, 9_499, false}, // packets are held up for as long as asked for, never for less
		{1_000, 1_999, true},
		{1_000, 900, false},
		{2_000, 1_100, false},
		{100_000, 105_000, true},
		{100_000, 105_001, false},
		{0, 1_000, true},
		{0, 1_001, false},
	} {
		if got := TripKept(c.asked, c.measured); got != c.want {
			t.Errorf("%d µs asked for, %d measured: kept %t", c.asked, c.measured, got)
		}
	}
}

func TestPairs(t *testing.T) {
	spec := v1alpha1.ReplicationExperimentSpec{Routing: v1alpha1.RoutingSpec{Proxy: v1alpha1.ProxyHAProxy}, App: v1alpha1.AppSpec{Zone: "there"}}
	spec.Topology = v1alpha1.TopologySpec{
		Zones: []v1alpha1.Zone{{Name: "here", Nodes: []int32{0, 2}}, {Name: "there", Nodes: []int32{1}}},
		Links: []v1alpha1.Link{{From: "there", To: "here", RoundTripMilliseconds: 20}},
	}
	nodes := []string{"x-db-0", "x-db-1", "x-db-2"}
	toClients := func(from string) []Pair {
		return []Pair{{From: from, To: "x-social-", Pods: true, Microseconds: 20_000}, {From: from, To: "x-proxy-", Pods: true, Microseconds: 20_000}}
	}
	want := slices.Concat([]Pair{{From: "x-db-0", To: "x-db-1", Microseconds: 20_000}}, toClients("x-db-0"),
		[]Pair{{From: "x-db-1", To: "x-db-2", Microseconds: 20_000}}, toClients("x-db-2"))
	if got := Pairs(spec, "x", nodes); !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	spec.Routing.Proxy, spec.App.Zone = v1alpha1.ProxyNone, "here"
	got := Pairs(spec, "x", nodes)
	if len(got) != 3 || got[2].To != "x-social-" {
		t.Fatalf("without a proxy: %+v", got)
	}
	for to, want := range map[string]bool{"x-social-abc": true, "x-proxy-abc": false, "x-db-2": false} {
		if got[2].Is("x-db-1", to) != want || got[2].Is("x-db-0", to) {
			t.Errorf("%+v, and a measurement to %s", got[2], to)
		}
	}
}

func TestFarthestNode(t *testing.T) {
	for zone, want := range map[string]int64{"eu": 220_000, "us": 87_000, "jp": 220_000, "": 0, "mars": 0} {
		if got := FarthestNode(atlantic(), zone); got != want {
			t.Errorf("from %q: %d µs, want %d", zone, got, want)
		}
	}
}
