package director

import (
	"testing"

	"replab.dev/internal/engine/enginetest"
	"replab.dev/internal/wire"
)

// A director that dies at every write of its state, before it and after it, does what one that lives does.
func TestDirectorIsKilledAtEveryWriteOfItsState(t *testing.T) { enginetest.Each(t, killedAtEveryWrite) }

func killedAtEveryWrite(t *testing.T, e enginetest.Flavor) {
	l := newLabOf(t, e, 2)
	s := &crashingStore{memoryStore: l.store}
	l.restartUntil(s, "configured", func(s wire.DirectorState) bool { return s.Configured })
	old, heir := l.nodes[0], l.nodes[1]
	l.writeUndirected(old, "1, 'x'")
	heir.mysql.CatchUp(old.mysql)
	l.kill(old)
	l.restartUntil(s, "failed over", func(s wire.DirectorState) bool { return len(s.Failovers) > 0 && s.Failovers[0].RepointedAt != nil })
	old.run()
	l.restartUntil(s, "ghosts counted", func(s wire.DirectorState) bool { return entry(s, old).GhostTransactions != nil })

	if s.crashes < 10 {
		t.Errorf("the director was killed only %d times", s.crashes)
	}
	promotions := map[int64]string{}
	for _, state := range l.store.log {
		if was := promotions[state.Epoch]; was != "" && was != state.Primary {
			t.Errorf("epoch %d had primaries %s and %s", state.Epoch, was, state.Primary)
		}
		promotions[state.Epoch] = state.Primary
	}
	if len(promotions) != 2 || promotions[1] != old.name || promotions[2] != heir.name {
		t.Errorf("primaries by epoch: %v", promotions)
	}
	if heir.rows() != old.rows() || old.one(e.ClosedSQL) != "1" {
		t.Errorf("%s has %s, %s has %s", heir.name, heir.rows(), old.name, old.rows())
	}
	l.direct(l.store) // without a director, the new primary closes itself when its lease ends
	l.eventually("an open primary", func() bool { return heir.one("SELECT @@GLOBAL.read_only") == "0" }, func() string { return "it is closed" })
	if old.one(e.ClosedSQL) != "1" {
		t.Errorf("%s is open beside the new primary", old.name)
	}
}

// A clone outlives the director that began it, or does not: the next director gets the node rebuilt in any case.
func TestDirectorIsKilledWhileANodeIsRebuilt(t *testing.T) {
	l := newLab(t, 2)
	d, stop := l.direct(l.store)
	l.configured(d)
	old, heir := l.nodes[0], l.nodes[1]
	old.mysql.Kill()
	l.await(d, "a promotion", func(s wire.DirectorState) bool { return s.Epoch == 2 && s.Opened })
	heir.mysql.Exec("INSERT INTO social.probe_writes VALUES (1, 'x')")
	l.returnWithGhosts(d, old, heir)
	if err := d.Rejoin(t.Context(), old.name); err != nil {
		t.Fatal(err)
	}
	l.eventually("a clone under way", func() bool {
		var state string
		err := old.db.QueryRow("SELECT STATE FROM performance_schema.clone_status").Scan(&state)
		return !old.running() || (err == nil && state == "In Progress")
	}, func() string { return document(d.State()) })
	stop()
	d, _ = l.direct(l.store)
	l.eventually("a rebuilt node", func() bool {
		if !old.running() { // as the kubelet does
			old.run()
		}
		n := entry(d.State(), old)
		return n.Rejoin == wire.RejoinDone && n.Role == wire.RoleReader && n.CaughtUp
	}, func() string { return document(d.State()) })
	if old.rows() != heir.rows() {
		t.Errorf("%s has %s, the primary %s", old.name, old.rows(), heir.rows())
	}
}

// restartUntil starts a director anew each time it was killed, until the stored state is as wanted.
func (l *lab) restartUntil(s *crashingStore, what string, wanted func(wire.DirectorState) bool) {
	l.t.Helper()
	reached := func() bool {
		state, err := s.Load(l.t.Context())
		return err == nil && wanted(state)
	}
	for range 200 {
		_, stop := l.direct(s)
		l.eventually(what, func() bool { return s.died() || reached() }, func() string { return l.store.text })
		stop()
		if reached() {
			return
		}
	}
	l.t.Fatalf("never came: %s\n%s", what, l.store.text)
}
