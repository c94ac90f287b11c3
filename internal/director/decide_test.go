package director

import (
	"testing"

	"replab.dev/internal/wire"
)

type rows map[string]struct {
	scene *scene
	want  expectation
}

func (r rows) run(t *testing.T) {
	for name, c := range r {
		t.Run(name, func(t *testing.T) { check(t, c.scene.decide(), c.want) })
	}
}

func attachFrom(node, source string) act { return act{Kind: actAttach, Node: node, From: source} }

func TestDetectionDecisions(t *testing.T) {
	writeOff := func(o *observation) { o.Writable = false }
	rows{
		"at peace nothing is done and the lease is renewed": {deployed(), expectation{renew: "a"}},
		"a failed look stops the renewal and nothing else":  {deployed().lose("a", 1), expectation{}},
		"fewer failed looks than it takes are no failure":   {deployed().kill("a", 2), expectation{}},
		"enough of them are, and the heir is written down": {
			deployed().kill("a", 3), expectation{intent: true, message: "a is lost", state: primaryIs(2, "b")},
		},
		"of two replicas the one that received more is chosen": {
			deployed().kill("a", 3).see("c", func(o *observation) { o.Received = transactions(101) }),
			expectation{intent: true, message: "a is lost", state: primaryIs(2, "c")},
		},
		"what is applied does not count, what was received does": {
			deployed().kill("a", 3).see("c", func(o *observation) { o.Received, o.Executed = transactions(102), transactions(10) }),
			expectation{intent: true, state: primaryIs(2, "c")},
		},
		"a replica that is lost is not chosen": {
			deployed().kill("a", 3).kill("b", 3), expectation{intent: true, state: primaryIs(2, "c")},
		},
		"a replica that has just begun to fail is waited for": {
			deployed().kill("a", 3).lose("b", 1), expectation{message: "whether b answers"},
		},
		"unless its agent saw its server go": {
			deployed().kill("a", 3).kill("b", 1), expectation{intent: true, state: primaryIs(2, "c")},
		},
		"a replica that never had a source is not chosen": {
			deployed().kill("a", 3).kill("b", 3).with(func(s *scene) { s.view.Nodes["c"] = booted(0) }),
			expectation{message: "no live replica"},
		},
		"without a live replica the primary is waited for": {
			deployed().kill("a", 9).kill("b", 9).lose("c", 9), expectation{message: "no live replica"},
		},
		"without failover the primary is waited for, and its lease goes on": {
			deployed().kill("a", 9).with(func(s *scene) { s.cfg.Failover = false }), expectation{renew: "a", message: "a is lost"},
		},
		"a single server is waited for": {
			deployed().kill("a", 9).with(func(s *scene) { s.cfg.Nodes = s.cfg.Nodes[:1] }), expectation{renew: "a", message: "a is lost"},
		},
		"before everything was in its place there is no failover": {
			deployed().kill("a", 9).with(func(s *scene) { s.state.Configured = false }), expectation{},
		},
		"a primary that came back before it was missed is opened again": {
			deployed().see("a", writeOff), expectation{act: act{Kind: actOpen, Node: "a"}, renew: "a", message: "opened again"},
		},
		"so is one that could not be replaced": {
			deployed().kill("b", 9).kill("c", 9).see("a", writeOff), expectation{act: act{Kind: actOpen, Node: "a"}, renew: "a"},
		},
		"one that lost what its replicas received is replaced": {
			deployed().see("a", writeOff).see("a", func(o *observation) { o.Executed = transactions(90) }),
			expectation{intent: true, message: "without transactions", state: primaryIs(2, "b")},
		},
		"or stays closed where there is no failover": {
			deployed().with(func(s *scene) { s.cfg.Failover = false }).see("a", func(o *observation) { *o = booted(90) }),
			expectation{renew: "a", message: "without transactions"},
		},
		"an open primary whose semi-sync is off has it enabled": {
			deployed().with(func(s *scene) { s.cfg.SemiSync = &wire.SemiSync{AckReplicas: 1} }),
			expectation{act: act{Kind: actSemiSyncSource, Node: "a"}, renew: "a"},
		},
		"the looks at a primary that answers by SQL fail when its agent sees no server": {
			deployed().see("a", func(o *observation) { o.Agent, o.FailedLooks = &wire.NodeState{}, 3 }),
			expectation{intent: true, state: primaryIs(2, "b")},
		},
	}.run(t)
}

func TestNobodyIsCaughtUpWithAPrimaryThatDoesNotAnswer(t *testing.T) {
	for _, n := range deployed().kill("a", 1).decide().State.Nodes {
		if n.CaughtUp {
			t.Errorf("%s is said to be caught up", n.Name)
		}
	}
}

func TestDecidingChangesNothingThatItWasGiven(t *testing.T) {
	for name, s := range map[string]*scene{"peace": deployed(), "failure": deployed().kill("a", 3), "failover": fenced(), "rejoin": returned()} {
		before := document(s.state)
		first := s.decide()
		if document(s.state) != before {
			t.Errorf("%s: the state that was given was changed", name)
		}
		if second := s.decide(); document(first.State) != document(second.State) || first.Act != second.Act {
			t.Errorf("%s: the same situation was decided in two ways", name)
		}
	}
}

func TestCaughtUpIsSaidOfReplicasAlone(t *testing.T) {
	s := deployed().see("c", func(o *observation) { o.Executed = transactions(99) }).decide().State
	for i, want := range []bool{false, true, false} {
		if s.Nodes[i].CaughtUp != want {
			t.Errorf("%s caught up is %v", s.Nodes[i].Name, s.Nodes[i].CaughtUp)
		}
	}
}
