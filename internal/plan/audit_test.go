package plan

import (
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/topology"
	"replab.dev/internal/wire"
	"replab.dev/test/experiment"
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
	state.Writers = []string{"x-db-1", "x-db-2"}
	if got := sums(); got != "x-db-0 x-db-1 x-db-2 " {
		t.Errorf("where several take writes %s are summed up, want all", got)
	}
	state.Writers = nil
	if got := sums(v1alpha1.FaultStatus{Pod: "x-db-0"}); got != "x-db-0 x-db-1 " {
		t.Errorf("summed up are %s, want the node that was hit and the writer", got)
	}
}

// TestARecountComparesWithTheNodeOfTheAudit, whoever takes the writes by then.
func TestARecountComparesWithTheNodeOfTheAudit(t *testing.T) {
	x := experiment.Load(t, "galera")
	objects, _, err := Recount(input(x), "galera-db-1", []string{"galera-db-0"})
	if err != nil {
		t.Fatal(err)
	}
	var config wire.AuditConfig
	for _, o := range objects {
		if m, ok := o.(*corev1.ConfigMap); ok && m.Data["audit.json"] != "" {
			if err := json.Unmarshal([]byte(m.Data["audit.json"]), &config); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(config.Nodes) != 2 || config.Nodes[0].Name != "galera-db-0" || config.Nodes[0].Role != wire.RoleReader || config.Nodes[1].Role != wire.RoleWriter || !config.Nodes[0].Checksum || !config.Nodes[1].Checksum {
		t.Errorf("nodes %+v", config.Nodes)
	}
}
