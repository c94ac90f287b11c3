package director

import (
	"testing"

	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

func TestBootstrapDecisions(t *testing.T) {
	semiSync := func(s *scene) { s.cfg.SemiSync = &wire.SemiSync{AckReplicas: 1} }
	chosen := func() *scene {
		return empty().with(func(s *scene) { s.state.Epoch, s.state.Primary = 1, "a" })
	}
	attached := func() *scene {
		s := chosen()
		for _, name := range []string{"b", "c"} {
			s.see(name, func(o *observation) { o.Source, o.IO, o.SQLRunning = "a", engine.ReceiverOn, true })
		}
		return s
	}
	rows{
		"a node that was never seen is waited for": {
			empty().with(func(s *scene) { delete(s.view.Nodes, "c") }), expectation{message: "until c answers"},
		},
		"once all answer the first node is written down as primary": {
			empty(), expectation{intent: true, state: primaryIs(1, "a")},
		},
		"a later node with transactions of its own is not overwritten": {
			empty().with(func(s *scene) { s.view.Nodes["b"] = booted(5) }), expectation{message: "b has 5 transactions"},
		},
		"the first node may have transactions that the others have not": {
			empty().with(func(s *scene) { s.view.Nodes["a"] = booted(5) }), expectation{intent: true, state: primaryIs(1, "a")},
		},
		"a node that is writable before there is a primary is fenced": {
			empty().see("b", func(o *observation) { o.Writable = true }), expectation{act: act{Kind: actFence, Node: "b"}},
		},
		"the first replica is attached before the primary is opened": {chosen(), expectation{act: attachFrom("b", "a")}},
		"then the next": {
			attached().with(func(s *scene) { s.view.Nodes["c"] = booted(0) }), expectation{act: attachFrom("c", "a")},
		},
		"semi-sync is on before replicas are attached": {
			chosen().with(semiSync), expectation{act: act{Kind: actSemiSyncSource, Node: "a"}},
		},
		"a replica whose source is not connected yet is waited for": {
			attached().see("c", func(o *observation) { o.IO = engine.ReceiverConnecting }), expectation{message: "until c replicates"},
		},
		"the primary is not opened before enough replicas acknowledge": {
			attached().with(semiSync).see("a", func(o *observation) { o.SemiSyncSource = true }),
			expectation{message: "1 replicas that acknowledge, has 0"},
		},
		"it is once they do": {
			attached().with(semiSync).see("a", func(o *observation) { o.SemiSyncSource, o.SemiSyncClients = true, 1 }),
			expectation{act: act{Kind: actOpen, Node: "a"}},
		},
		"a replica with transactions of its own is not attached": {
			attached().with(func(s *scene) { s.view.Nodes["b"] = booted(5) }), expectation{message: "until b replicates"},
		},
		"the topology is not deployed before every node is in its place": {
			attached().with(func(s *scene) { s.state.Opened, s.state.Configured = true, false }).lose("c", 1).
				see("a", func(o *observation) { o.Writable = true }),
			expectation{renew: "a", state: configuredIs(false)},
		},
		"it is then": {
			attached().with(func(s *scene) { s.state.Opened, s.state.Configured = true, false }).
				see("a", func(o *observation) { o.Writable = true }),
			expectation{renew: "a", state: configuredIs(true)},
		},
		"without semi-sync it is opened once all follow": {attached(), expectation{act: act{Kind: actOpen, Node: "a"}}},
		"a primary that dies before it was opened is waited for, however long": {
			attached().kill("a", 50), expectation{message: "until a answers"},
		},
		"a replica that dies is waited for": {attached().kill("b", 50), expectation{message: "until b replicates"}},
		"a primary that was opened before a restart of the director is recognised": {
			attached().see("a", func(o *observation) { o.Writable = true }),
			expectation{renew: "a", state: func(t *testing.T, s wire.DirectorState) {
				if !s.Opened {
					t.Error("not opened")
				}
			}},
		},
		"a single server is opened alone": {
			chosen().with(func(s *scene) { s.cfg.Nodes = s.cfg.Nodes[:1] }), expectation{act: act{Kind: actOpen, Node: "a"}},
		},
	}.run(t)
}

func configuredIs(want bool) func(*testing.T, wire.DirectorState) {
	return func(t *testing.T, s wire.DirectorState) {
		if s.Configured != want {
			t.Errorf("configured is %v", s.Configured)
		}
	}
}
