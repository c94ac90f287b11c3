package agent

import (
	"fmt"
	"testing"
)

// TestOneGroup: whatever dies, is cut off and comes back, acknowledged commits form one line that all members hold, and once all
// is well there is one group of all.
func TestOneGroup(t *testing.T) {
	for n := 2; n <= 5; n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			founded := 0
			for seed := range uint64(1000) {
				w := newWorld(t, n, seed)
				for range 1000 {
					w.step()
				}
				w.heal()
				founded += len(w.commits)
			}
			if founded < 1000 {
				t.Errorf("only %d commits in all runs: the model shows nothing", founded)
			}
		})
	}
}

// heal lets nothing bad happen any more, until all are one group.
func (w *world) heal() {
	for _, m := range w.members {
		m.zone = 0
	}
	for range 2000 {
		w.settle()
		for _, m := range w.members {
			w.decide(m)
		}
		if w.whole() {
			w.commit(w.members[0])
			return
		}
	}
	for _, m := range w.members {
		w.note("%s: position %v, waits %v, server %+v", m.name, m.position(), m.waits, m.server)
	}
	w.fail("no group of all has come to be")
}

func (w *world) whole() bool {
	for _, m := range w.members {
		if m.server == nil || m.server.component == nil || !m.server.component.primary || len(m.server.component.members) != len(w.members) {
			return false
		}
	}
	return true
}
