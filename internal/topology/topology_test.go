package topology

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestSettled(t *testing.T) {
	rest := func() State {
		return State{Known: true, Writers: []string{"a"}, Nodes: []NodeState{
			{Name: "a", Role: Writer}, {Name: "b", Role: Reader, CaughtUp: true}, {Name: "c", Role: Isolated},
		}}
	}
	several := func(s *State) {
		s.Writers = []string{"a", "b"}
		s.Nodes[0].CaughtUp, s.Nodes[1] = true, NodeState{Name: "b", Role: Writer}
	}
	for _, c := range []struct {
		name   string
		change func(*State)
		leave  map[string]Leave
		why    string // "" when settled
	}{
		{"a primary, a replica that has caught up and an isolated node are at rest", func(*State) {}, nil, ""},
		{"nothing is known", func(s *State) { *s = State{Why: "no answer"} }, nil, "no answer"},
		{"there is no primary", func(s *State) { s.Writers, s.Why = nil, "electing" }, nil, "electing"},
		{"a failover is under way", func(s *State) { s.Failovers = []Failover{{PromotedAt: &metav1.MicroTime{}}, {OldWriter: "z"}} }, nil, "failover from z"},
		{"a failover is behind", func(s *State) { s.Failovers = []Failover{{PromotedAt: &metav1.MicroTime{}}} }, nil, ""},
		{"a replica has not caught up", func(s *State) { s.Nodes[1].CaughtUp = false }, nil, "b is Replica: it has not applied"},
		{"a replica that is cut off may lag", func(s *State) { s.Nodes[1].CaughtUp = false }, map[string]Leave{"b": MayLag}, ""},
		{"a node is down", func(s *State) { s.Nodes[2].Role = Down }, nil, "c is Down: it does not answer"},
		{"a node that is only cut off from its peers may not be down", func(s *State) { s.Nodes[2].Role = Down }, map[string]Leave{"c": MayLag}, "c is Down"},
		{"a node that is held down may be down", func(s *State) { s.Nodes[2].Role = Down }, map[string]Leave{"c": MayBeDown}, ""},
		{"the only writer has all that there is", func(s *State) { s.Nodes[0].CaughtUp = false }, nil, ""},
		{"one of several writers has not what the others have", several, nil, "b is Primary: it has not applied all that the others"},
		{"one of several writers that is cut off may lag", several, map[string]Leave{"b": MayLag}, ""},
		{"several writers that have all", func(s *State) { several(s); s.Nodes[1].CaughtUp = true }, nil, ""},
		{"the leave of another node does not help", func(s *State) { s.Nodes[2].Role = Down }, map[string]Leave{"b": MayBeDown}, "c is Down"},
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
