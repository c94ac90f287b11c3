package director

import (
	"testing"

	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

func TestReplicaDecisions(t *testing.T) {
	rows{
		"a replica that restarted is started again": {
			deployed().see("c", func(o *observation) { o.IO, o.SQLRunning = engine.ReceiverOff, false }),
			expectation{act: act{Kind: actStart, Node: "c"}, renew: "a"},
		},
		"also while the primary is away": {
			deployed().kill("a", 1).see("c", func(o *observation) { o.IO, o.SQLRunning = engine.ReceiverOff, false }),
			expectation{act: act{Kind: actStart, Node: "c"}},
		},
		"one whose applier alone stopped as well": {
			deployed().see("c", func(o *observation) { o.SQLRunning = false }), expectation{act: act{Kind: actStart, Node: "c"}, renew: "a"},
		},
		"one that came back empty begins from scratch": {
			deployed().with(func(s *scene) { s.view.Nodes["c"] = booted(0) }), expectation{act: attachFrom("c", "a"), renew: "a"},
		},
		"one that cannot be started does not keep the others waiting": {
			deployed().see("b", func(o *observation) { o.SQLRunning = false }).see("c", func(o *observation) { o.SQLRunning = false }).
				with(func(s *scene) { s.view.Failed = act{Kind: actStart, Node: "b"} }),
			expectation{act: act{Kind: actStart, Node: "c"}, renew: "a"},
		},
		"a lost replica is down, and nothing is done to it": {
			deployed().lose("c", 3), expectation{renew: "a", state: roles(wire.RoleWriter, wire.RoleReader, wire.RoleDown)},
		},
		"a failed look does not change its role": {
			deployed().lose("c", 1), expectation{renew: "a", state: roles(wire.RoleWriter, wire.RoleReader, wire.RoleReader)},
		},
		"nor does it bring back one that is down": {
			deployed().lose("c", 1).with(func(s *scene) { s.state.Nodes[2].Role = wire.RoleDown }),
			expectation{renew: "a", state: roles(wire.RoleWriter, wire.RoleReader, wire.RoleDown)},
		},
		"a writable replica is fenced": {
			deployed().see("c", func(o *observation) { o.Writable = true }), expectation{act: act{Kind: actFence, Node: "c"}, renew: "a"},
		},
		"one that was away during a failover and had received more is kept apart": {
			failedOver().see("c", func(o *observation) { *o = booted(101); o.Source = "a" }),
			expectation{renew: "b", state: func(t *testing.T, s wire.DirectorState) {
				roles(wire.RoleDown, wire.RoleWriter, wire.RoleIsolated)(t, s)
				if g := s.Nodes[2].GhostTransactions; g == nil || *g != 1 {
					t.Errorf("ghosts are %v, want 1", g)
				}
			}},
		},
		"also when it was rebuilt once": {
			failedOver().see("c", func(o *observation) { *o = booted(101); o.Source = "a" }).with(func(s *scene) {
				ghosts := int64(7)
				s.state.Nodes[2].Rejoin, s.state.Nodes[2].GhostTransactions = wire.RejoinDone, &ghosts
			}),
			expectation{renew: "b", state: func(t *testing.T, s wire.DirectorState) {
				if n := s.Nodes[2]; n.Rejoin != "" || *n.GhostTransactions != 1 || n.Role != wire.RoleIsolated {
					t.Errorf("node is %+v", n)
				}
			}},
		},
		"one that was away and had received less is re-pointed": {
			failedOver().see("c", func(o *observation) { *o = booted(90); o.Source = "a" }), expectation{act: attachFrom("c", "b"), renew: "b"},
		},
	}.run(t)
}
