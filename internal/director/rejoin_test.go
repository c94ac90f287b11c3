package director

import (
	"errors"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

func TestRejoinDecisions(t *testing.T) {
	asked := func(state string, run *cloneRun) *scene {
		return returned().with(func(s *scene) { s.state.Nodes[0].Rejoin = state }).see("a", func(o *observation) { o.Clone = run })
	}
	rejoinIs := func(want string) func(*testing.T, wire.DirectorState) {
		return func(t *testing.T, s wire.DirectorState) {
			if n := s.Nodes[0]; n.Rejoin != want || n.GhostTransactions == nil || *n.GhostTransactions != 3 {
				t.Errorf("node is %+v, want %s and its 3 ghosts kept", n, want)
			}
		}
	}
	done := &cloneRun{Since: now, Done: true}
	clone := act{Kind: actClone, Node: "a", From: "c"}
	rows{
		"an old primary that returns is kept apart and its ghosts are counted": {
			failedOver().with(func(s *scene) { s.view.Nodes["a"] = booted(103) }),
			expectation{renew: "b", state: func(t *testing.T, s wire.DirectorState) {
				roles(wire.RoleIsolated, wire.RoleWriter, wire.RoleReader)(t, s)
				rejoinIs("")(t, s)
			}},
		},
		"one without ghosts is kept apart as well": {
			failedOver().with(func(s *scene) { s.view.Nodes["a"] = booted(60) }),
			expectation{renew: "b", state: func(t *testing.T, s wire.DirectorState) {
				if n := s.Nodes[0]; n.Role != wire.RoleIsolated || n.GhostTransactions == nil || *n.GhostTransactions != 0 {
					t.Errorf("node is %+v", n)
				}
			}},
		},
		"one that is still writable is fenced before its ghosts are counted": {
			failedOver().with(func(s *scene) { s.view.Nodes["a"] = booted(103) }).see("a", func(o *observation) { o.Writable = true }),
			expectation{act: act{Kind: actFence, Node: "a"}, renew: "b", state: func(t *testing.T, s wire.DirectorState) {
				if g := s.Nodes[0].GhostTransactions; g != nil {
					t.Errorf("counted %d", *g)
				}
			}},
		},
		"the replication of one that was lost during its promotion is stopped before its ghosts are counted": {
			failedOver().see("a", func(o *observation) {
				*o = booted(103)
				o.Source, o.IO, o.SQLRunning = "c", engine.ReceiverOn, true
			}),
			expectation{act: act{Kind: actStop, Node: "a"}, renew: "b", state: func(t *testing.T, s wire.DirectorState) {
				if n := s.Nodes[0]; n.Role != wire.RoleIsolated || n.GhostTransactions != nil {
					t.Errorf("node is %+v", n)
				}
			}},
		},
		"a request is written down before the clone": {asked(wire.RejoinRequested, nil), expectation{intent: true, renew: "b", state: rejoinIs(wire.RejoinCloning)}},
		"the clone is made from a replica that is caught up": {
			asked(wire.RejoinCloning, nil), expectation{act: clone, renew: "b", state: rejoinIs(wire.RejoinCloning)},
		},
		"or from the primary where there is none": {
			asked(wire.RejoinCloning, nil).see("c", func(o *observation) { o.Executed = transactions(80) }),
			expectation{act: act{Kind: actClone, Node: "a", From: "b"}, renew: "b"},
		},
		"a clone that another director began is waited for": {
			asked(wire.RejoinCloning, nil).see("a", func(o *observation) { o.CloneState = engine.CloneInProgress }), expectation{renew: "b"},
		},
		"one under way is waited for": {asked(wire.RejoinCloning, &cloneRun{Since: now}), expectation{renew: "b"}},
		"so is the server that restarts after it": {
			asked(wire.RejoinCloning, done).with(func(s *scene) { s.kill("a", 9).see("a", func(o *observation) { o.Clone = done }) }),
			expectation{renew: "b", state: rejoinIs(wire.RejoinCloning)},
		},
		"a finished clone is attached": {
			asked(wire.RejoinCloning, done).see("a", func(o *observation) {
				o.CloneState, o.Executed, o.Source = engine.CloneCompleted, transactions(100), "b"
			}),
			expectation{act: attachFrom("a", "b"), renew: "b"},
		},
		"one that replicates is a replica again": {
			asked(wire.RejoinCloning, done).see("a", func(o *observation) {
				o.Executed, o.Source, o.IO, o.SQLRunning = transactions(100), "b", engine.ReceiverOn, true
			}),
			expectation{renew: "b", state: func(t *testing.T, s wire.DirectorState) {
				rejoinIs(wire.RejoinDone)(t, s)
				roles(wire.RoleReader, wire.RoleWriter, wire.RoleReader)(t, s)
			}},
		},
		"a clone that was refused has failed": {
			asked(wire.RejoinCloning, &cloneRun{Since: now, Done: true, Err: errors.New("no donor")}),
			expectation{intent: true, renew: "b", state: func(t *testing.T, s wire.DirectorState) {
				rejoinIs(wire.RejoinFailed)(t, s)
				if s.Nodes[0].Why == "" {
					t.Error("it does not say why")
				}
			}},
		},
		"one of which the server says so has failed": {
			asked(wire.RejoinCloning, done).see("a", func(o *observation) { o.CloneState = engine.CloneFailed }),
			expectation{intent: true, renew: "b", state: rejoinIs(wire.RejoinFailed)},
		},
		"a clone with transactions that the primary has not is not attached": {
			asked(wire.RejoinCloning, done).see("a", func(o *observation) { o.CloneState, o.Executed = engine.CloneCompleted, transactions(101) }),
			expectation{intent: true, renew: "b", state: rejoinIs(wire.RejoinFailed)},
		},
		"what a failed clone left behind does not change the ghosts": {
			asked(wire.RejoinFailed, nil).see("a", func(o *observation) { o.Executed = transactions(50) }),
			expectation{renew: "b", state: rejoinIs(wire.RejoinFailed)},
		},
		"one that takes too long has failed": {
			asked(wire.RejoinCloning, &cloneRun{Since: now.Add(-61 * time.Second)}), expectation{intent: true, renew: "b", state: rejoinIs(wire.RejoinFailed)},
		},
		"a rebuilt node may become primary": {
			asked(wire.RejoinDone, nil).with(func(s *scene) { s.state.Nodes[0].Role = wire.RoleReader }).kill("b", 3).
				see("a", func(o *observation) { o.Source, o.IO, o.SQLRunning = "b", engine.ReceiverConnecting, true }),
			expectation{intent: true, state: primaryIs(3, "a")},
		},
	}.run(t)
}

func TestAcceptRejoin(t *testing.T) {
	for name, c := range map[string]struct {
		scene *scene
		node  string
		want  error
	}{
		"an isolated node whose ghosts are counted": {returned(), "a", nil},
		"a node whose rebuilding failed":            {returned().with(func(s *scene) { s.state.Nodes[0].Rejoin = wire.RejoinFailed }), "a", nil},
		"a node that is being rebuilt":              {returned().with(func(s *scene) { s.state.Nodes[0].Rejoin = wire.RejoinCloning }), "a", nil},
		"a node whose ghosts are not counted":       {returned().with(func(s *scene) { s.state.Nodes[0].GhostTransactions = nil }), "a", errNotNow},
		"an old primary that is not back":           {failedOver(), "a", errNotNow},
		"the primary":                               {returned(), "b", errNotNow},
		"a replica":                                 {returned(), "c", errNotNow},
		"a node that does not exist":                {returned(), "z", errNoSuchNode},
	} {
		t.Run(name, func(t *testing.T) {
			before := c.scene.state.Nodes[0].Rejoin
			state, err := acceptRejoin(c.scene.state, c.node, metav1.NewMicroTime(now))
			if !errors.Is(err, c.want) {
				t.Fatalf("error is %v, want %v", err, c.want)
			}
			if c.want == nil && state.Nodes[0].Rejoin != wire.RejoinRequested && state.Nodes[0].Rejoin != wire.RejoinCloning {
				t.Errorf("rejoin is %q", state.Nodes[0].Rejoin)
			}
			if c.scene.state.Nodes[0].Rejoin != before {
				t.Error("the state that was given was changed")
			}
		})
	}
}
