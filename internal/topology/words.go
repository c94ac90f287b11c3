package topology

import (
	"slices"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/wire"
)

// Role of a node, in words that fit every topology. Processes say them to each other, so wire has them.
type Role = wire.Role

// Roles of a node.
const (
	Writer   = wire.RoleWriter
	Reader   = wire.RoleReader
	Isolated = wire.RoleIsolated
	Down     = wire.RoleDown
)

// StatusRole is the word for a role that people read in the status.
func StatusRole(r Role) v1alpha1.NodeRole {
	switch r {
	case Writer:
		return v1alpha1.NodePrimary
	case Reader:
		return v1alpha1.NodeReplica
	case Isolated:
		return v1alpha1.NodeIsolated
	default:
		return v1alpha1.NodeDown
	}
}

// Targets are the nodes that a fault hits. Primary is the first writer; replicas are the other nodes that are up, writers or not. A
// node that is down can be hit as the primary, or by its number.
func (s State) Targets(f v1alpha1.Fault) []NodeState {
	primary := slices.IndexFunc(s.Nodes, func(n NodeState) bool { return len(s.Writers) > 0 && n.Name == s.Writers[0] })
	var found []NodeState
	for i, n := range s.Nodes {
		var hit bool
		switch f.Target {
		case v1alpha1.TargetPrimary:
			hit = i == primary
		case v1alpha1.TargetReplica:
			hit = i != primary && up(n) && len(found) == 0
		case v1alpha1.TargetAllReplicas:
			hit = i != primary && up(n)
		case v1alpha1.TargetNode:
			hit = f.Node != nil && int(*f.Node) == i
		}
		if hit {
			found = append(found, n)
		}
	}
	return found
}

// up tells whether the node serves in the topology.
func up(n NodeState) bool { return n.Role == Writer || n.Role == Reader }
