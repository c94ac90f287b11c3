package director

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"replab.dev/internal/engine/enginetest"
	"replab.dev/internal/wire"
)

// Planned changes of the primary with faults on any node in their midst, and directors that die at random: never are two nodes open,
// nothing that was acknowledged is lost, and in the end every node is in its place.
func TestSimulatedSwitchovers(t *testing.T) {
	done, failed := 0, 0
	for seed := range simulations(80) {
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
	if !testing.Short() && (done < 100 || failed < 5) {
		t.Errorf("%d switchovers were done and %d failed: does the simulation still try both?", done, failed)
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
		if f := state.Failovers[i]; !f.Planned || f.Unapplied != 0 || state.Primary != f.NewPrimary || state.Primary == from.name {
			t.Errorf("failover %+v, primary %s", f, state.Primary)
		}
		if from.one(e.ClosedSQL) != "1" {
			t.Errorf("%s is writable", from.name)
		}
	}
	d, _ := l.direct(l.store)
	state := l.await(d, "every node caught up", func(s wire.DirectorState) bool {
		return len(s.Nodes) == len(l.nodes) && !slices.ContainsFunc(s.Nodes, func(n wire.NodeView) bool { return !n.CaughtUp && n.Role != wire.RoleWriter })
	})
	for _, n := range state.Nodes {
		if n.Rejoin != "" || n.GhostTransactions != nil || n.Role == wire.RoleIsolated {
			t.Errorf("node is %+v", n)
		}
	}
	primary := l.node(state.Primary)
	for _, n := range l.nodes {
		if n != primary {
			n.mysql.CatchUp(primary.mysql) // what the director tells may be what the one before it wrote down
		}
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
