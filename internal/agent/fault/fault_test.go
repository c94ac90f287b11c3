package fault

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"replab.dev/internal/agent/notes"
	"replab.dev/internal/wire"
)

func TestKill(t *testing.T) {
	n := newNode(t)
	victim := n.start()
	m := n.manager()
	before := time.Now()
	r := put(t, m, n.request("crash", wire.FaultKill, -1))
	if victim.Alive() {
		t.Fatal("the server is alive")
	}
	if !r.Confirmed || r.InjectedAt == nil || r.InjectedAt.Before(&r.IntendedAt) || r.InjectedAt.Time.Before(before) || r.HeldUntil != nil || r.ReleasedAt != nil {
		t.Errorf("record: %+v", r)
	}
	if !holds(t, n, "crash") || !slices.Equal(m.Holds(), []string{"crash"}) {
		t.Error("no hold stands for the next server")
	}

	next := n.start()
	again := put(t, m, n.request("crash", wire.FaultKill, -1))
	if !again.InjectedAt.Equal(r.InjectedAt) || !next.Alive() {
		t.Errorf("the same request again killed (alive: %v): %+v", next.Alive(), again)
	}
	released, err := m.Release("crash")
	must(t, err)
	if released.ReleasedAt == nil || holds(t, n, "crash") || len(m.Holds()) > 0 {
		t.Errorf("after its release the hold stands; record: %+v", released)
	}
}

// slow is an action whose effect shows when the test lets it.
type slow struct {
	action
	seen chan struct{}
}

func (s slow) confirm(r record) (bool, string) {
	<-s.seen
	return s.action.confirm(r)
}

func TestAFaultIsAnsweredBeforeItsEffectIsSeen(t *testing.T) {
	n := newNode(t)
	victim := n.start()
	m := n.manager()
	seen := make(chan struct{})
	m.actions[wire.FaultKill] = slow{m.actions[wire.FaultKill], seen}
	first, err := m.Put(n.request("crash", wire.FaultKill, -1))
	must(t, err)
	if first.InjectedAt == nil || first.Concluded || first.Confirmed {
		t.Errorf("while the effect is awaited: %+v", first)
	}
	eventually(t, "the server is gone", func() bool { return !victim.Alive() })
	next := n.start()
	again, err := m.Put(n.request("crash", wire.FaultKill, -1))
	must(t, err)
	if d := cmp.Diff(first, again); d != "" || !next.Alive() {
		t.Errorf("the same request again killed (alive: %v) or changed the record:\n%s", next.Alive(), d)
	}
	close(seen)
	_, err = m.Release("crash")
	must(t, err)
	if r := get(t, m, "crash"); !r.Concluded || !r.Confirmed || r.ReleasedAt == nil || !r.InjectedAt.Equal(first.InjectedAt) {
		t.Errorf("in the end: %+v", r)
	}
}

// still is an action that does nothing, and counts its releases.
type still struct {
	action
	releases int
}

func (s *still) inject(*record) error { return nil }

func (s *still) confirm(record) (bool, string) { return true, "" }

func (s *still) broken(record) (bool, string) { return false, "" }

func (s *still) release(record) error { s.releases++; return nil }

func TestWhileItsEffectIsAwaitedAFaultIsNeitherReleasedNorChanged(t *testing.T) {
	n := newNode(t)
	synctest.Test(t, func(t *testing.T) {
		m, seen, act := n.manager(), make(chan struct{}), &still{}
		m.actions[wire.FaultPartition] = slow{act, seen}
		first, err := m.Put(n.request("cut", wire.FaultPartition, -1, "127.0.0.2"))
		must(t, err)
		moved, err := m.Put(n.request("cut", wire.FaultPartition, -1, "127.0.0.3"))
		must(t, err)
		if d := cmp.Diff(first, moved); d != "" {
			t.Errorf("it was changed:\n%s", d)
		}
		released := make(chan error, 1)
		go func() { _, err := m.Release("cut"); released <- err }()
		synctest.Wait()
		if act.releases != 0 {
			t.Error("it was released")
		}
		close(seen)
		must(t, <-released)
		if r := get(t, m, "cut"); !r.Concluded || !r.Confirmed || r.ReleasedAt == nil || act.releases != 1 {
			t.Errorf("in the end, after %d releases: %+v", act.releases, r)
		}
	})
}

func TestAKillWithoutAHoldLeavesNone(t *testing.T) {
	n := newNode(t)
	n.start()
	m := n.manager()
	r := put(t, m, n.request("crash", wire.FaultKill, 0))
	if !r.Confirmed || r.HeldUntil != nil || r.ReleasedAt == nil || holds(t, n, "crash") || len(m.Holds()) > 0 {
		t.Errorf("record: %+v", r)
	}
}

func TestAHoldEndsByItself(t *testing.T) {
	n := newNode(t)
	m := n.manager()
	r := put(t, m, n.request("gone", wire.FaultHold, 300))
	if !r.Confirmed || r.HeldUntil == nil || r.HeldUntil.Sub(r.InjectedAt.Time) != 300*time.Millisecond {
		t.Errorf("record: %+v", r)
	}
	eventually(t, "it is released", func() bool { return get(t, m, "gone").ReleasedAt != nil })
	if late := get(t, m, "gone"); late.ReleasedAt.Before(r.HeldUntil) || holds(t, n, "gone") {
		t.Errorf("released too early, or not: %+v", late)
	}
}

func TestPauseEndsByItselfAndWhenAsked(t *testing.T) {
	n := newNode(t)
	server := n.start()
	m := n.manager()
	r := put(t, m, n.request("hang", wire.FaultPause, 300))
	if !r.Confirmed || !strings.Contains(r.Evidence, "stopped") {
		t.Errorf("record: %+v", r)
	}
	eventually(t, "the server runs again", func() bool { return !stopped(t, server) })
	eventually(t, "the record says so", func() bool { return get(t, m, "hang").ReleasedAt != nil })

	put(t, m, n.request("long", wire.FaultPause, -1))
	if !stopped(t, server) {
		t.Fatal("the server is not stopped")
	}
	_, err := m.Release("long")
	must(t, err)
	eventually(t, "the server runs again", func() bool { return !stopped(t, server) })
	if r := put(t, m, n.request("long", wire.FaultPause, -1)); r.ReleasedAt == nil || stopped(t, server) {
		t.Error("the same request again paused the server again")
	}
}

func TestOfTwoPausesTheLastToEndResumesTheServer(t *testing.T) {
	n := newNode(t)
	server := n.start()
	m := n.manager()
	put(t, m, n.request("a", wire.FaultPause, -1))
	put(t, m, n.request("b", wire.FaultPause, -1))
	_, err := m.Release("a")
	must(t, err)
	if !stopped(t, server) {
		t.Error("the end of one pause resumed the server, which another holds")
	}
	_, err = m.Release("b")
	must(t, err)
	eventually(t, "the server runs again", func() bool { return !stopped(t, server) })
}

func holds(t *testing.T, n *node, fault string) bool {
	t.Helper()
	standing, err := notes.StandingHolds(n.holdDir(), time.Now())
	must(t, err)
	return slices.ContainsFunc(standing, func(h notes.Hold) bool { return h.Fault == fault })
}
