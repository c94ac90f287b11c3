package fault

import (
	"slices"
	"strconv"
	"strings"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/topology"
)

// targets are the nodes that a fault hits: a partition by zone cuts off each node of its target's zone.
func (s *Scene) targets(f v1alpha1.Fault, state topology.State) []topology.NodeState {
	hit := s.hit(f, state)
	if f.PartitionFrom != v1alpha1.PartitionZone {
		return hit
	}
	return slices.DeleteFunc(slices.Clone(state.Nodes), func(n topology.NodeState) bool {
		return !slices.ContainsFunc(hit, func(h topology.NodeState) bool { return s.together(h.Name, n.Name) })
	})
}

// together tells that two nodes are in the same zone. One that is in none is in one by itself.
func (s *Scene) together(a, b string) bool {
	if a == b {
		return true
	}
	return slices.ContainsFunc(s.Zones, func(z v1alpha1.Zone) bool {
		return slices.Contains(z.Nodes, ordinal(a)) && slices.Contains(z.Nodes, ordinal(b))
	})
}

// ordinal is the number of a node, at the end of its name; -1 where there is none.
func ordinal(node string) int32 {
	n, err := strconv.ParseInt(node[strings.LastIndex(node, "-")+1:], 10, 32)
	if err != nil {
		return -1
	}
	return int32(n)
}
