package distance

import (
	"testing"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/topology"
	"replab.dev/internal/verdict/evidencetest"
)

func TestWhereAllNodesTakeWritesTheBoundIsOfTheOneThatWaitsLeast(t *testing.T) {
	e := evidencetest.FarApart()
	e.CommitWaits = 2
	e.Spec.Routing.Writes = v1alpha1.WritesAll
	e.Spec.Topology.Nodes = 3
	e.Spec.Topology.Zones = []v1alpha1.Zone{{Name: "a", Nodes: []int32{0}}, {Name: "b", Nodes: []int32{1}}, {Name: "c", Nodes: []int32{2}}}
	e.Spec.Topology.Links = []v1alpha1.Link{
		{From: "a", To: "b", RoundTripMilliseconds: 10}, {From: "b", To: "c", RoundTripMilliseconds: 20}, {From: "a", To: "c", RoundTripMilliseconds: 30},
	}
	if got := leastCommit(e, topology.Asked(e.Spec.Topology)); got != 20_000 {
		t.Errorf("%d µs, want those of b, whose farthest is c", got)
	}
	e.Spec.Routing.Writes = v1alpha1.WritesPrimary
	if got := leastCommit(e, topology.Asked(e.Spec.Topology)); got != 30_000 {
		t.Errorf("%d µs, want those of the primary", got)
	}
}
