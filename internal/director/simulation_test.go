package director

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"replab.dev/internal/wire"
)

// flakyStore fails at random, before or after it has stored; then the director is killed.
type flakyStore struct {
	*memoryStore
	random *rand.Rand
	kill   context.CancelFunc
}

func (f *flakyStore) Save(ctx context.Context, document string) error {
	die := f.random.IntN(8) == 0
	if die && f.random.IntN(2) == 0 {
		f.kill()
		return errCrash
	}
	err := f.memoryStore.Save(ctx, document)
	if die {
		f.kill()
		return errCrash
	}
	return err
}

// runFor runs directors for a virtual time, the next as soon as one was killed.
func (m *model) runFor(t *testing.T, s *flakyStore, d time.Duration) *Director {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	var last *Director
	for ctx.Err() == nil {
		var living context.Context
		living, s.kill = context.WithCancel(ctx)
		m.restart()
		last = newDirector(m.cfg, m, s, func(wire.DirectorState) {})
		if err := last.Run(living); err != nil {
			t.Fatal(err)
		}
		s.kill()
	}
	return last
}

// fault is something bad that happens to one node, and how it ends.
type fault struct {
	name       string
	begin, end func(*modelServer)
}

var faults = []fault{
	{"kill", (*modelServer).die, (*modelServer).boot},
	{"kill and restart at once", func(s *modelServer) { s.die(); s.boot() }, func(*modelServer) {}},
	{"pause", func(s *modelServer) { s.paused = s.alive }, func(s *modelServer) { s.paused = false }},
	{"cut off", func(s *modelServer) { s.cutOff = true }, func(s *modelServer) { s.cutOff = false }},
}

// One fault after the other, each on any node and healed, with directors that die at random: never are two nodes open,
// nothing that was acknowledged is lost, and in the end every node is in its place.
func TestSimulatedFaultsOneAtATime(t *testing.T) {
	for seed := range simulations(150) {
		synctest.Test(t, func(t *testing.T) {
			m := newModel(seed)
			s := &flakyStore{memoryStore: &memoryStore{}, random: m.random}
			m.runFor(t, s, 20*time.Second)
			var story []string
			for range 4 {
				f, n := faults[m.random.IntN(len(faults))], m.cfg.Nodes[m.random.IntN(len(m.cfg.Nodes))].Name
				story = append(story, f.name+" "+n)
				f.begin(m.servers[n])
				m.runFor(t, s, time.Duration(1+m.random.IntN(12_000))*time.Millisecond)
				f.end(m.servers[n])
				d := m.runFor(t, s, 10*time.Second)
				for _, name := range m.isolated(d.State()) {
					if state, err := acceptRejoin(d.State(), name, microTime(time.Now())); err == nil {
						s.text = document(state)
					}
				}
				m.runFor(t, s, 20*time.Second)
			}
			state, err := s.Load(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			m.check(t, fmt.Sprintf("seed %d: %v", seed, story), state)
		})
		if t.Failed() {
			return
		}
	}
}

// simulations is how many of a simulation's seeds are tried: with -short, a tenth.
func simulations(all uint64) uint64 {
	if testing.Short() {
		return all / 10
	}
	return all
}

func (m *model) isolated(s wire.DirectorState) (names []string) {
	for _, n := range s.Nodes {
		if n.Role == wire.RoleIsolated {
			names = append(names, n.Name)
		}
	}
	return names
}

func (m *model) check(t *testing.T, story string, state wire.DirectorState) {
	t.Helper()
	if m.broken != "" {
		t.Errorf("%s: %s", story, m.broken)
	}
	primary := m.servers[state.Primary]
	if !state.Configured || !state.Opened || !primary.writable {
		t.Errorf("%s: the primary is not open: %s", story, document(state))
	}
	if lost := m.acked.Minus(primary.executed); lost.Count() > 0 {
		t.Errorf("%s: %s was acknowledged and is lost: %s", story, lost, document(state))
	}
	for _, n := range m.cfg.Nodes {
		if s := m.servers[n.Name]; s != primary && (s.source != state.Primary || !s.io || !s.sql) {
			t.Errorf("%s: %s does not follow: %s", story, n.Name, document(state))
		}
	}
	if m.written < 100 {
		t.Errorf("%s: only %d writes", story, m.written)
	}
	epochs := map[int64]string{}
	for _, f := range state.Failovers {
		if was := epochs[f.Epoch]; was != "" {
			t.Errorf("%s: epoch %d was given to %s and %s", story, f.Epoch, was, f.NewPrimary)
		}
		epochs[f.Epoch] = f.NewPrimary
	}
	if !slices.IsSortedFunc(state.Failovers, func(a, b wire.DirectedFailover) int { return int(a.Epoch - b.Epoch) }) {
		t.Errorf("%s: epochs are not in order", story)
	}
}
