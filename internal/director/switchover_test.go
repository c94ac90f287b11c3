package director

import (
	"errors"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/wire"
)

// asked is a topology at peace of which another primary was asked a second ago.
func asked() *scene {
	s := deployed()
	s.state.Switchovers = []wire.Switchover{{Name: "s", From: "a", RequestedAt: metav1.NewMicroTime(now.Add(-time.Second))}}
	return s
}

// chosen is asked once b is to be primary.
func chosen() *scene {
	return asked().with(func(s *scene) { s.state.Switchovers[0].To = "b" })
}

// closed is chosen once a takes no writes and that is written down.
func closed() *scene {
	at := metav1.NewMicroTime(now)
	return chosen().with(func(s *scene) { s.state.Switchovers[0].ClosedAt = &at }).see("a", func(o *observation) { o.Writable = false })
}

// handedOver is closed once b is primary by what is written down.
func handedOver() *scene {
	s := closed()
	d := s.decide()
	s.state = d.State
	return s
}

func outcomeIs(outcome string) func(*testing.T, wire.DirectorState) {
	return func(t *testing.T, s wire.DirectorState) {
		t.Helper()
		if w := s.Switchovers[0]; w.Outcome != outcome || (w.Why != "") != (outcome == wire.SwitchoverFailed) {
			t.Errorf("switchover is %+v, want %q", w, outcome)
		}
	}
}

func TestSwitchoverDecisions(t *testing.T) {
	late := func(s *scene) { s.view.Now = now.Add(10 * time.Second) }
	shut := act{Kind: actShut, Node: "a"}
	rows{
		"the heir is written down first": {asked(), expectation{intent: true, state: func(t *testing.T, s wire.DirectorState) {
			primaryIs(1, "a")(t, s)
			if s.Switchovers[0].To != "b" {
				t.Errorf("switchover is %+v", s.Switchovers[0])
			}
		}}},
		"it is who has received most": {
			asked().see("b", func(o *observation) { o.Received = transactions(99) }),
			expectation{intent: true, state: func(t *testing.T, s wire.DirectorState) {
				if s.Switchovers[0].To != "c" {
					t.Errorf("switchover is %+v", s.Switchovers[0])
				}
			}},
		},
		"without a live replica the primary goes on": {asked().kill("b", 9).kill("c", 9), expectation{renew: "a", message: "no live replica"}},
		"for a while, then it is given up": {
			asked().kill("b", 9).kill("c", 9).with(late), expectation{intent: true, renew: "a", state: outcomeIs(wire.SwitchoverFailed)},
		},
		"then the primary is closed, and its lease is not renewed": {chosen(), expectation{act: shut}},
		"one that cannot be closed is tried again": {
			chosen().with(func(s *scene) { s.view.Failed = shut }), expectation{message: "a could not be closed"},
		},
		"that it is closed is written down, and it is looked at again": {
			chosen().see("a", func(o *observation) { o.Writable = false }),
			expectation{intent: true, state: func(t *testing.T, s wire.DirectorState) {
				primaryIs(1, "a")(t, s)
				if s.Switchovers[0].ClosedAt == nil {
					t.Error("not noted")
				}
			}},
		},
		"the heir is waited for": {
			closed().see("b", func(o *observation) { o.Executed = transactions(99) }), expectation{message: "b has applied all that a has", within: switchoverLook},
		},
		"what it has received does not do": {
			closed().see("b", func(o *observation) { o.Executed = transactions(99); o.Received = transactions(100) }), expectation{message: "b has applied all"},
		},
		"too long, and the primary is to be opened again": {
			closed().with(late).see("b", func(o *observation) { o.Executed = transactions(99) }),
			expectation{intent: true, renew: "a", state: outcomeIs(wire.SwitchoverFailed)},
		},
		"which it then is": {
			closed().with(func(s *scene) { s.state.Switchovers[0].Outcome = wire.SwitchoverFailed }),
			expectation{act: act{Kind: actOpen, Node: "a"}, renew: "a", message: "opened again"},
		},
		"an heir that is lost is none":            {closed().kill("b", 3), expectation{intent: true, renew: "a", state: outcomeIs(wire.SwitchoverFailed)}},
		"one that may only be slow is waited for": {closed().lose("b", 1), expectation{message: "whether b answers"}},
		"a primary that may only be slow too":     {chosen().lose("a", 1), expectation{message: "whether a answers"}},
		"a primary that is lost is replaced, and no switchover any more": {
			closed().kill("a", 3), expectation{intent: true, message: "a is lost", state: func(t *testing.T, s wire.DirectorState) {
				primaryIs(2, "b")(t, s)
				outcomeIs(wire.SwitchoverFailed)(t, s)
				if f := s.Failovers[0]; f.Planned || f.FencedAt != nil {
					t.Errorf("failover is %+v", f)
				}
			}},
		},
		"a replica that seems ahead while the primary is being closed is no reason for a failover": {
			chosen().see("a", func(o *observation) { o.Writable, o.Executed = false, transactions(99) }), expectation{intent: true, state: primaryIs(1, "a")},
		},
		"an heir that has all is written down as primary": {
			closed(), expectation{intent: true, state: func(t *testing.T, s wire.DirectorState) {
				primaryIs(2, "b")(t, s)
				outcomeIs("")(t, s)
				if f := s.Failovers[0]; !f.Planned || f.FencedAt == nil || f.Unapplied != 0 || f.OldPrimary != "a" || f.NewPrimary != "b" || s.Opened {
					t.Errorf("failover is %+v", f)
				}
			}},
		},
		"then it is opened": {handedOver(), expectation{act: act{Kind: actPromote, Node: "b"}}},
		"one that is lost before that leaves the old primary, which has all": {
			handedOver().kill("b", 3).see("c", func(o *observation) { o.Received = transactions(99) }).see("a", func(o *observation) { o.Source = "" }),
			expectation{intent: true, state: func(t *testing.T, s wire.DirectorState) {
				primaryIs(3, "a")(t, s)
				outcomeIs(wire.SwitchoverFailed)(t, s)
				roles(wire.RoleReader, wire.RoleDown, wire.RoleReader)(t, s)
			}},
		},
		"once it is open the switchover is done, and the old primary is a replica": {
			handedOver().with(func(s *scene) {
				at := metav1.NewMicroTime(now)
				s.state.Opened, s.state.Failovers[0].PromotedAt = true, &at
			}).see("b", func(o *observation) { o.Writable, o.Source, o.SQLRunning = true, "", false }),
			expectation{act: attachFrom("a", "b"), renew: "b", state: func(t *testing.T, s wire.DirectorState) {
				outcomeIs(wire.SwitchoverDone)(t, s)
				roles(wire.RoleReader, wire.RoleWriter, wire.RoleReader)(t, s)
				if s.Switchovers[0].EndedAt == nil || s.Nodes[0].GhostTransactions != nil {
					t.Errorf("state is %s", document(s))
				}
			}},
		},
	}.run(t)
}

func TestAcceptSwitchover(t *testing.T) {
	from := func(name, node string) wire.SwitchoverRequest {
		return wire.SwitchoverRequest{Name: name, From: node}
	}
	for name, c := range map[string]struct {
		scene   *scene
		request wire.SwitchoverRequest
		want    error
		count   int
	}{
		"of the primary":         {deployed(), from("s", "a"), nil, 1},
		"again":                  {asked(), from("s", "a"), nil, 1},
		"again when it is done":  {failedOver().with(func(s *scene) { s.state.Switchovers = asked().state.Switchovers }), from("s", "a"), nil, 1},
		"while one is under way": {asked(), from("t", "a"), errNotNow, 1},
		"a second":               {asked().with(func(s *scene) { s.state.Switchovers[0].Outcome = wire.SwitchoverDone }), from("t", "a"), nil, 2},
		"of a replica":           {deployed(), from("s", "b"), errNotNow, 0},
		"of an old primary":      {failedOver(), from("s", "a"), errNotNow, 0},
		"during a failover":      {failingOver(), from("s", "b"), errNotNow, 0},
		"without failover":       {deployed().with(func(s *scene) { s.cfg.Failover = false }), from("s", "a"), errNotNow, 0},
		"of nobody":              {deployed(), from("s", "z"), errNoSuchNode, 0},
		"without a name":         {deployed(), from("", "a"), errNoSuchNode, 0},
	} {
		t.Run(name, func(t *testing.T) {
			state, err := acceptSwitchover(c.scene.cfg, c.scene.state, c.request, metav1.NewMicroTime(now))
			if !errors.Is(err, c.want) || len(state.Switchovers) != c.count {
				t.Errorf("error is %v, want %v; %+v", err, c.want, state.Switchovers)
			}
		})
	}
}
