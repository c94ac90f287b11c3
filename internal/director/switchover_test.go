package director

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/engine/enginetest"
	"replab.dev/internal/wire"
)

// asked is a topology at peace of which another primary was asked a second ago.
func asked() *scene {
	s := deployed()
	s.state.Switchovers = []wire.DirectedSwitchover{{Name: "s", From: "a", RequestedAt: metav1.NewMicroTime(now.Add(-time.Second))}}
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
				if f := s.Failovers[0]; !f.Planned || f.FencedAt == nil || !f.RelayApplied || f.OldPrimary != "a" || f.NewPrimary != "b" || s.Opened {
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

// Planned changes of the primary with faults on any node in their midst, and directors that die at random: never are two nodes open,
// nothing that was acknowledged is lost, and in the end every node is in its place.
func TestSimulatedSwitchovers(t *testing.T) {
	done, failed := 0, 0
	for seed := range uint64(80) {
		synctest.Test(t, func(t *testing.T) {
			m := newModel(seed)
			s := &flakyStore{memoryStore: &memoryStore{}, random: m.random}
			d := m.runFor(t, s, 20*time.Second)
			var story []string
			for round := range 4 {
				request := wire.SwitchoverRequest{Name: fmt.Sprint(round), From: d.State().Primary}
				state, err := acceptSwitchover(m.cfg, d.State(), request, microTime(time.Now()))
				if err == nil {
					s.text = document(state)
				}
				f, n := faults[m.random.IntN(len(faults))], m.cfg.Nodes[m.random.IntN(len(m.cfg.Nodes))].Name
				if m.random.IntN(2) == 0 {
					f = fault{"nothing", func(*modelServer) {}, func(*modelServer) {}}
				}
				after := time.Duration(1+m.random.IntN(80)) * time.Millisecond
				story = append(story, fmt.Sprintf("from %s, %s %s after %s", request.From, f.name, n, after))
				m.runFor(t, s, after)
				f.begin(m.servers[n])
				m.runFor(t, s, time.Duration(1+m.random.IntN(12_000))*time.Millisecond)
				f.end(m.servers[n])
				d = m.runFor(t, s, 10*time.Second)
				for _, name := range m.isolated(d.State()) {
					if state, err := acceptRejoin(d.State(), name, microTime(time.Now())); err == nil {
						s.text = document(state)
					}
				}
				d = m.runFor(t, s, 20*time.Second)
			}
			state, err := s.Load(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			m.check(t, fmt.Sprintf("seed %d: %v", seed, story), state)
			for _, w := range state.Switchovers {
				switch w.Outcome {
				case wire.SwitchoverDone:
					done++
				case wire.SwitchoverFailed:
					failed++
				default:
					t.Errorf("seed %d: %v: switchover %s never ends: %s", seed, story, w.Name, document(state))
				}
			}
			m.checkAbsences(t, fmt.Sprintf("seed %d: %v", seed, story), state)
		})
		if t.Failed() {
			return
		}
	}
	if done < 100 || failed < 5 {
		t.Errorf("%d switchovers were done and %d failed: does the simulation still try both?", done, failed)
	}
}

// checkAbsences: in the end nobody is away, and who came back did so after it had left.
func (m *model) checkAbsences(t *testing.T, story string, state wire.DirectorState) {
	t.Helper()
	if len(state.Absences) == 0 || len(state.Absences) > wire.MaxAbsences {
		t.Errorf("%s: %d absences", story, len(state.Absences))
	}
	for _, a := range state.Absences {
		if a.BackAt == nil || a.BackAt.Before(&a.LeftAt) {
			t.Errorf("%s: absence %+v", story, a)
		}
	}
}

func TestAbsences(t *testing.T) {
	away := func(node string) func(*scene) {
		return func(s *scene) {
			s.state.Absences = []wire.DirectedAbsence{{Node: node, LeftAt: metav1.NewMicroTime(now.Add(-5 * time.Second))}}
		}
	}
	had := func(n int64) func(*observation) {
		return func(o *observation) { o.ExecutedBefore = transactions(n) }
	}
	for name, c := range map[string]struct {
		scene *scene
		want  []string // node, and whether it is back
	}{
		"nobody is away":                              {deployed(), nil},
		"a node that does not answer is":              {deployed().lose("c", 1), []string{"c away"}},
		"one that does not follow is":                 {deployed().see("c", func(o *observation) { o.IO = "CONNECTING" }), []string{"c away"}},
		"one that lags is not":                        {deployed().see("c", func(o *observation) { o.Executed = transactions(50) }), nil},
		"but is not back while it does":               {deployed().with(away("c")).see("a", had(90)).see("c", func(o *observation) { o.Executed = transactions(89) }), []string{"c away"}},
		"it is with all that was there a look before": {deployed().with(away("c")).see("a", had(90)).see("c", func(o *observation) { o.Executed = transactions(90) }), []string{"c back"}},
		"not where nobody knows how much that was":    {deployed().with(away("c")), []string{"c away"}},
		"nor while the primary does not answer":       {deployed().with(away("c")).lose("a", 1).see("a", had(90)), []string{"c away", "a away"}},
		"a primary is back when it is open":           {deployed().with(away("a")), []string{"a back"}},
		"not when it is not":                          {deployed().with(away("a")).see("a", func(o *observation) { o.Writable = false }), []string{"a away"}},
		"an old primary that is kept apart is not":    {returned().with(away("a")), []string{"a away"}},
		"before all were in their places nobody is":   {deployed().lose("c", 9).with(func(s *scene) { s.state.Configured = false }), nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, a := range c.scene.decide().State.Absences {
				what := " away"
				if a.BackAt != nil {
					what = " back"
				}
				got = append(got, a.Node+what)
			}
			slices.Sort(got)
			slices.Sort(c.want)
			if !slices.Equal(got, c.want) {
				t.Errorf("absences are %v, want %v", got, c.want)
			}
		})
	}
	many := deployed().lose("c", 1)
	for range wire.MaxAbsences {
		many.state.Absences = append(many.state.Absences, wire.DirectedAbsence{Node: "b", BackAt: &metav1.MicroTime{Time: now}})
	}
	if got := many.decide().State.Absences; len(got) != wire.MaxAbsences || got[len(got)-1].Node != "c" {
		t.Errorf("%d absences, the last of %s", len(got), got[len(got)-1].Node)
	}
}

// TestSwitchover changes the primary of real servers under writes, there and back, by a director that dies at every write of its
// state: nothing that was acknowledged is lost, nothing is anywhere else, and the old primary is a replica that was not rebuilt.
func TestSwitchover(t *testing.T) { enginetest.Each(t, switchover) }

func switchover(t *testing.T, e enginetest.Flavor) {
	l := newLabOf(t, e, 3)
	s := &crashingStore{memoryStore: l.store}
	l.restartUntil(s, "configured", func(s wire.DirectorState) bool { return s.Configured })
	for i := range 2 {
		state := l.switchOver(s, i)
		from := l.nodes[slices.IndexFunc(l.nodes, func(n *testNode) bool { return n.name == state.Failovers[i].OldPrimary })]
		if f := state.Failovers[i]; !f.Planned || !f.RelayApplied || state.Primary != f.NewPrimary || state.Primary == from.name {
			t.Errorf("failover %+v, primary %s", f, state.Primary)
		}
		if from.one(e.ClosedSQL) != "1" {
			t.Errorf("%s is writable", from.name)
		}
	}
	d, _ := l.direct(l.store)
	state := l.await(d, "every node caught up", func(s wire.DirectorState) bool {
		return !slices.ContainsFunc(s.Nodes, func(n wire.DirectedNode) bool { return !n.CaughtUp && n.Role != wire.RoleWriter })
	})
	for _, n := range state.Nodes {
		if n.Rejoin != "" || n.GhostTransactions != nil || n.Role == wire.RoleIsolated {
			t.Errorf("node is %+v", n)
		}
	}
	for _, n := range l.nodes {
		if n.rows() != l.nodes[0].rows() {
			t.Errorf("%s has %s, %s has %s", n.name, n.rows(), l.nodes[0].name, l.nodes[0].rows())
		}
	}
}

// switchOver has a switchover carried out by dying directors, after others under which it took them too long.
func (l *lab) switchOver(s *crashingStore, done int) wire.DirectorState {
	l.t.Helper()
	for try := range 10 {
		d, stop := l.direct(l.store)
		open := l.await(d, "a primary", func(s wire.DirectorState) bool { return s.Opened })
		from := l.nodes[slices.IndexFunc(l.nodes, func(n *testNode) bool { return n.name == open.Primary })]
		l.eventually("a writable primary", func() bool { return from.one("SELECT @@GLOBAL.read_only") == "0" }, func() string { return document(d.State()) })
		from.mysql.Exec(fmt.Sprintf("INSERT INTO social.probe_writes VALUES (%d, 'x')", 10*done+try))
		asked := len(d.State().Switchovers)
		if err := d.Switchover(l.t.Context(), wire.SwitchoverRequest{Name: fmt.Sprint(asked), From: from.name}); err != nil {
			l.t.Fatal(err)
		}
		stop()
		var state wire.DirectorState
		l.restartUntil(s, "the switchover's end", func(s wire.DirectorState) bool {
			state = s
			w := s.Switchovers[asked]
			return w.Outcome == wire.SwitchoverFailed || w.Outcome == wire.SwitchoverDone && s.Failovers[done].RepointedAt != nil
		})
		if w := state.Switchovers[asked]; w.Outcome == wire.SwitchoverDone {
			return state
		} else if state.Primary != from.name || len(state.Failovers) != done {
			l.t.Fatalf("switchover %+v came to nothing, and the state is %s", w, document(state))
		}
	}
	l.t.Fatal("no switchover was done in time")
	return wire.DirectorState{}
}
