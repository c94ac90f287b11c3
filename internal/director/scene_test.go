package director

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/mysql/gtid"
	"replab.dev/internal/wire"
)

const origin = "aaaaaaaa-0000-0000-0000-000000000001"

// now is the clock of the tables.
var now = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

// scene is a situation that tables change: a, b and c with their state and how they look.
type scene struct {
	cfg   wire.DirectorConfig
	state wire.DirectorState
	view  view
}

// deployed is a topology at peace: a is the open primary, b and c follow it and have all of its 100 transactions.
func deployed() *scene {
	s := &scene{
		cfg: wire.DirectorConfig{
			Port:     3306,
			Failover: true, ProbeMilliseconds: 200, TimeoutMilliseconds: 1000, FailureThreshold: 3,
			LeaseMilliseconds: 3000, CatchUpMilliseconds: 10_000, RejoinMaxMilliseconds: 60_000,
		},
		state: wire.DirectorState{Epoch: 1, Primary: "a", Opened: true, Configured: true},
		view:  view{Now: now, Nodes: map[string]observation{}},
	}
	for _, name := range []string{"a", "b", "c"} {
		s.cfg.Nodes = append(s.cfg.Nodes, wire.Node{Name: name, Host: name})
		role := wire.RoleReader
		if name == "a" {
			role = wire.RoleWriter
		}
		s.state.Nodes = append(s.state.Nodes, wire.NodeView{Name: name, Role: role})
		s.view.Nodes[name] = observation{
			Answers: true, Executed: transactions(100), Received: transactions(100), Source: "a", IO: engine.ReceiverOn, SQLRunning: true,
			ReceivedSince: now.Add(-time.Minute), LeaseLeft: 0,
		}
	}
	s.see("a", func(o *observation) {
		o.Source, o.IO, o.SQLRunning, o.Writable, o.LeaseLeft = "", engine.ReceiverOff, false, true, 2*time.Second
		o.Agent = &wire.NodeState{ServerPID: 7}
	})
	return s
}

// empty is a topology before its bootstrap: three servers as they boot.
func empty() *scene {
	s := deployed()
	s.state = wire.DirectorState{}
	for _, name := range []string{"a", "b", "c"} {
		s.view.Nodes[name] = booted(0)
	}
	return s
}

// booted is a server that has just started: read-only, its replication stopped.
func booted(executed int64) observation {
	return observation{Answers: true, Executed: transactions(executed), Received: transactions(executed), IO: engine.ReceiverOff}
}

// transactions is the position after the first n.
func transactions(n int64) engine.Position {
	if n == 0 {
		return engine.Position{}
	}
	return engine.PositionOf(span(1, n))
}

func span(first, last int64) gtid.Set {
	s, err := gtid.Parse(origin + ":" + strconv.FormatInt(first, 10) + "-" + strconv.FormatInt(last, 10))
	if err != nil {
		panic(err)
	}
	return s
}

// see changes how a node looks.
func (s *scene) see(name string, change func(*observation)) *scene {
	o := s.view.Nodes[name]
	change(&o)
	s.view.Nodes[name] = o
	return s
}

// lose makes a node's last looks fail.
func (s *scene) lose(name string, looks int) *scene {
	return s.see(name, func(o *observation) {
		left, since := o.LeaseLeft, now.Add(-time.Duration(looks)*200*time.Millisecond)
		*o = observation{Err: "connection refused", IO: engine.ReceiverOff, FailedLooks: looks, FailingSince: since, LeaseLeft: left}
	})
}

// kill is lose with an agent that saw the process go.
func (s *scene) kill(name string, looks int) *scene {
	return s.lose(name, looks).see(name, func(o *observation) { o.Agent = &wire.NodeState{} })
}

// failingOver is the scene after a was lost and b chosen.
func failingOver() *scene {
	s := deployed().kill("a", 5)
	at := metav1.NewMicroTime(now.Add(-time.Second))
	s.state.Epoch, s.state.Primary, s.state.Opened = 2, "b", false
	s.state.Nodes[0].Role = wire.RoleDown
	s.state.Failovers = []wire.DirectedFailover{{
		Epoch: 2, OldPrimary: "a", NewPrimary: "b", FirstFailureAt: at, DetectedAt: at, ChosenAt: &at,
	}}
	for _, name := range []string{"b", "c"} {
		s.see(name, func(o *observation) { o.IO = engine.ReceiverConnecting })
	}
	return s
}

// fenced is failingOver once the old primary is fenced and receiving is stopped.
func fenced() *scene {
	s := failingOver()
	at := metav1.NewMicroTime(now.Add(-time.Second))
	s.state.Failovers[0].FencedAt = &at
	for _, name := range []string{"b", "c"} {
		s.see(name, func(o *observation) { o.IO = engine.ReceiverOff })
	}
	return s
}

// applied is fenced once the candidate has applied what it received.
func applied() *scene {
	s := fenced()
	at := metav1.NewMicroTime(now.Add(-100 * time.Millisecond))
	s.state.Failovers[0].AppliedAt = &at
	return s
}

// promoted is applied once the candidate is open; c still has the old source.
func promoted() *scene {
	s := applied()
	at := metav1.NewMicroTime(now.Add(-50 * time.Millisecond))
	s.state.Opened, s.state.Failovers[0].PromotedAt = true, &at
	s.state.Nodes[1].Role = wire.RoleWriter
	s.see("b", func(o *observation) { o.Source, o.SQLRunning, o.Writable = "", false, true })
	return s
}

// failedOver is promoted once c follows.
func failedOver() *scene {
	s := promoted()
	at := metav1.NewMicroTime(now)
	s.state.Failovers[0].RepointedAt = &at
	return s.see("c", func(o *observation) { o.Source, o.IO, o.SQLRunning = "b", engine.ReceiverOn, true })
}

// returned is failedOver once the old primary is back with three transactions of its own, counted.
func returned() *scene {
	s := failedOver()
	ghosts := int64(3)
	s.state.Nodes[0].Role, s.state.Nodes[0].GhostTransactions = wire.RoleIsolated, &ghosts
	s.view.Nodes["a"] = booted(103)
	return s
}

func (s *scene) decide() decision { return decide(s.cfg, s.state, s.view) }

func (s *scene) with(change func(*scene)) *scene { change(s); return s }

// expectation is what a decision must be. Zero fields are expected to be zero, apart from those of text.
type expectation struct {
	act     act
	intent  bool
	renew   string
	message string // part of State.Message
	within  time.Duration
	state   func(*testing.T, wire.DirectorState)
}

func check(t *testing.T, got decision, want expectation) {
	t.Helper()
	if got.Act != want.act {
		t.Errorf("act is %+v, want %+v (message %q)", got.Act, want.act, got.State.Message)
	}
	if got.Intent != want.intent {
		t.Errorf("intent is %v, want %v", got.Intent, want.intent)
	}
	if got.Intent && got.Act != (act{}) {
		t.Error("an act beside an intent would be done before it is stored")
	}
	if got.Renew != want.renew {
		t.Errorf("renews the lease of %q, want %q", got.Renew, want.renew)
	}
	if want.within != 0 && got.Within != want.within {
		t.Errorf("looks again within %v, want %v", got.Within, want.within)
	}
	if !strings.Contains(got.State.Message, want.message) {
		t.Errorf("message is %q, want %q in it", got.State.Message, want.message)
	}
	if want.state != nil {
		want.state(t, got.State)
	}
}

// primaryIs expects an epoch and its primary.
func primaryIs(epoch int64, name string) func(*testing.T, wire.DirectorState) {
	return func(t *testing.T, s wire.DirectorState) {
		t.Helper()
		if s.Epoch != epoch || s.Primary != name {
			t.Errorf("primary is %s in epoch %d, want %s in %d", s.Primary, s.Epoch, name, epoch)
		}
	}
}

// fencedIs expects whether the old primary counts as fenced.
func fencedIs(want bool) func(*testing.T, wire.DirectorState) {
	return func(t *testing.T, s wire.DirectorState) {
		t.Helper()
		if f := s.Failovers[0]; (f.FencedAt != nil) != want {
			t.Errorf("fenced at %v, want %v", f.FencedAt, want)
		}
	}
}

// roles expects the roles of all nodes in order.
func roles(want ...wire.Role) func(*testing.T, wire.DirectorState) {
	return func(t *testing.T, s wire.DirectorState) {
		t.Helper()
		var got []wire.Role
		for _, n := range s.Nodes {
			got = append(got, n.Role)
		}
		if !slices.Equal(got, want) {
			t.Errorf("roles are %v, want %v", got, want)
		}
	}
}
