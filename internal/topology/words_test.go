package topology

import (
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
)

func TestTargets(t *testing.T) {
	nodes := func(roles ...Role) []NodeState {
		var all []NodeState
		for i, r := range roles {
			all = append(all, NodeState{Name: string(rune('a' + i)), Role: r})
		}
		return all
	}
	one := State{Known: true, Writers: []string{"b"}, Nodes: nodes(Reader, Writer, Down, Reader, Isolated)}
	several := State{Known: true, Writers: []string{"a", "b", "c"}, Nodes: nodes(Writer, Writer, Writer)}
	dead := State{Known: true, Writers: []string{"a"}, Nodes: nodes(Down, Reader)}
	electing := State{Known: true, Nodes: nodes(Down, Reader, Reader)}
	for _, c := range []struct {
		name   string
		state  State
		target v1alpha1.FaultTarget
		node   *int32
		want   string
	}{
		{"the primary is the node that takes writes", one, v1alpha1.TargetPrimary, nil, "b"},
		{"a replica is the first that is up", one, v1alpha1.TargetReplica, nil, "a"},
		{"all replicas are those that are up", one, v1alpha1.TargetAllReplicas, nil, "a d"},
		{"a node that is down is hit by its number", one, v1alpha1.TargetNode, ptr.To[int32](2), "c"},
		{"a number that there is not hits nobody", one, v1alpha1.TargetNode, ptr.To[int32](9), ""},
		{"a target without its number hits nobody", one, v1alpha1.TargetNode, nil, ""},
		{"of several writers the first is the primary", several, v1alpha1.TargetPrimary, nil, "a"},
		{"of several writers the second is a replica", several, v1alpha1.TargetReplica, nil, "b"},
		{"of several writers all but the first are replicas", several, v1alpha1.TargetAllReplicas, nil, "b c"},
		{"a primary that is down is the primary still", dead, v1alpha1.TargetPrimary, nil, "a"},
		{"without a writer there is no primary", electing, v1alpha1.TargetPrimary, nil, ""},
		{"without a writer there are replicas", electing, v1alpha1.TargetAllReplicas, nil, "b c"},
		{"where nothing is known nobody is hit", State{}, v1alpha1.TargetAllReplicas, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var names []string
			for _, n := range c.state.Targets(v1alpha1.Fault{Target: c.target, Node: c.node}) {
				names = append(names, n.Name)
			}
			if got := strings.Join(names, " "); got != c.want {
				t.Errorf("it hits %q, want %q", got, c.want)
			}
		})
	}
}

func TestStatusRole(t *testing.T) {
	for role, want := range map[Role]v1alpha1.NodeRole{
		Writer: v1alpha1.NodePrimary, Reader: v1alpha1.NodeReplica, Isolated: v1alpha1.NodeIsolated, Down: v1alpha1.NodeDown,
		"": v1alpha1.NodeDown, "Arbiter": v1alpha1.NodeDown,
	} {
		if got := StatusRole(role); got != want {
			t.Errorf("%q is %s, want %s", role, got, want)
		}
	}
}
