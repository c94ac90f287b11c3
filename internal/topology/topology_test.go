package topology

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/wire"
)

func TestSettled(t *testing.T) {
	rest := func() State {
		return State{Known: true, Primary: "a", Nodes: []NodeState{
			{Name: "a", Role: wire.RolePrimary}, {Name: "b", Role: wire.RoleReplica, CaughtUp: true}, {Name: "c", Role: wire.RoleIsolated},
		}}
	}
	for _, c := range []struct {
		name   string
		change func(*State)
		leave  map[string]Leave
		why    string // "" when settled
	}{
		{"a primary, a replica that has caught up and an isolated node are at rest", func(*State) {}, nil, ""},
		{"nothing is known", func(s *State) { *s = State{Why: "no answer"} }, nil, "no answer"},
		{"there is no primary", func(s *State) { s.Primary, s.Why = "", "electing" }, nil, "electing"},
		{"a failover is under way", func(s *State) { s.Failover = &Failover{OldPrimary: "z"} }, nil, "failover from z"},
		{"a failover is behind", func(s *State) { s.Failover = &Failover{PromotedAt: &metav1.MicroTime{}} }, nil, ""},
		{"a replica has not caught up", func(s *State) { s.Nodes[1].CaughtUp = false }, nil, "b is replica: it has not applied"},
		{"a replica that is cut off may lag", func(s *State) { s.Nodes[1].CaughtUp = false }, map[string]Leave{"b": MayLag}, ""},
		{"a node is down", func(s *State) { s.Nodes[2].Role = wire.RoleDown }, nil, "c is down: it does not answer"},
		{"a node that is only cut off from its peers may not be down", func(s *State) { s.Nodes[2].Role = wire.RoleDown }, map[string]Leave{"c": MayLag}, "c is down"},
		{"a node that is held down may be down", func(s *State) { s.Nodes[2].Role = wire.RoleDown }, map[string]Leave{"c": MayBeDown}, ""},
		{"the leave of another node does not help", func(s *State) { s.Nodes[2].Role = wire.RoleDown }, map[string]Leave{"b": MayBeDown}, "c is down"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := rest()
			c.change(&s)
			ok, why := s.Settled(c.leave)
			if ok != (c.why == "") || !strings.Contains(why, c.why) {
				t.Fatalf("settled is %v (%q), want %q", ok, why, c.why)
			}
		})
	}
}
