package plan

import (
	"testing"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/topology"
	"replab.dev/internal/wire"
)

// TestWhichNodesAreSummedUpAndInspected: those that a fault hit, beside the one that they are compared with; all where agents inspect.
func TestWhichNodesAreSummedUpAndInspected(t *testing.T) {
	system := topology.System{Nodes: []wire.Node{{Name: "x-db-0", Host: "a"}, {Name: "x-db-1", Host: "b"}, {Name: "x-db-2", Host: "c"}}}
	state := topology.State{Nodes: []topology.NodeState{{Name: "x-db-0", Role: topology.Reader}, {Name: "x-db-1", Role: topology.Writer}, {Name: "x-db-2", Role: topology.Reader}}}
	sums := func(faults ...v1alpha1.FaultStatus) string {
		found := ""
		for _, n := range auditNodes(system, state, faults) {
			if n.Checksum {
				found += n.Name + " "
			}
			if (n.Agent != "") != system.Inspects || system.Inspects && n.Agent != "http://"+n.Host+":8300" {
				t.Errorf("inspects is %v, and node %s has the agent %q", system.Inspects, n.Name, n.Agent)
			}
		}
		return found
	}
	if got := sums(); got != "" {
		t.Errorf("without a fault %s are summed up", got)
	}
	system.Inspects = true
	if got := sums(v1alpha1.FaultStatus{Pod: "x-db-0"}); got != "x-db-0 x-db-1 " {
		t.Errorf("summed up are %s, want the node that was hit and the writer", got)
	}
}
