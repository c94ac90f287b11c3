package director

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"replab.dev/internal/engine/enginetest"
	"replab.dev/internal/wire"
)

func TestBootstrapsAsync(t *testing.T) { enginetest.Each(t, bootstrapsAsync) }

func bootstrapsAsync(t *testing.T, e enginetest.Flavor) {
	l := newLabOf(t, e, 3)
	d, _ := l.direct(l.store)
	state := l.configured(d)
	if state.Epoch != 1 || state.Primary != "node-0" || !state.Opened {
		t.Errorf("state is %s", document(state))
	}
	l.nodes[0].mysql.Exec("INSERT INTO social.probe_writes VALUES (1, 'x')")
	l.await(d, "replicas caught up", func(s wire.DirectorState) bool { return s.Nodes[1].CaughtUp && s.Nodes[2].CaughtUp })
	for _, n := range l.nodes[1:] {
		n.mysql.CatchUp(l.nodes[0].mysql) // what the director tells may be from before the write
		if n.rows() != l.nodes[0].rows() {
			t.Errorf("%s has %s", n.name, n.rows())
		}
		if n.one(e.ClosedSQL) != "1" {
			t.Errorf("%s is writable", n.name)
		}
	}

	paused := l.nodes[2]
	paused.signal(syscall.SIGSTOP)
	state = l.await(d, "a replica that is down", func(s wire.DirectorState) bool { return entry(s, paused).Role == wire.RoleDown })
	if why := entry(state, paused).Why; !strings.Contains(why, "does not answer") {
		t.Errorf("it says why: %q", why)
	}
	l.nodes[0].mysql.Exec("INSERT INTO social.probe_writes VALUES (2, 'x')") // the primary still has its lease
	paused.signal(syscall.SIGCONT)
	l.await(d, "the replica caught up", func(s wire.DirectorState) bool {
		n := entry(s, paused)
		return n.Role == wire.RoleReader && n.CaughtUp && paused.rows() == l.nodes[0].rows()
	})
}

// The positive control of lost writes: nothing that the replica did not receive may be called safe.
func TestAsyncPrimaryIsKilledBeforeItSentEverything(t *testing.T) {
	enginetest.Each(t, killedBeforeItSentEverything)
}

func killedBeforeItSentEverything(t *testing.T, e enginetest.Flavor) {
	l := newLabOf(t, e, 2)
	d, stop := l.direct(l.store)
	l.configured(d)
	old, heir := l.nodes[0], l.nodes[1]
	old.mysql.Exec("INSERT INTO social.probe_writes VALUES (1, 'sent')")
	heir.mysql.CatchUp(old.mysql)
	stop() // it would start the replica again
	heir.mysql.Exec("STOP REPLICA IO_THREAD")
	for _, id := range []string{"2", "3", "4"} {
		l.writeUndirected(old, id+", 'not sent'")
	}
	l.kill(old)
	d, _ = l.direct(l.store)
	state := l.await(d, "a failover", func(s wire.DirectorState) bool { return len(s.Failovers) == 1 && s.Failovers[0].RepointedAt != nil })
	if state.Primary != heir.name || heir.one("SELECT COUNT(*) FROM probe_writes") != "1" {
		t.Errorf("primary is %s with %s", state.Primary, heir.rows())
	}
	l.returnWithGhosts(d, old, heir)
	if n := entry(d.State(), old).GhostTransactions; *n != 3 {
		t.Errorf("%d ghosts, want 3", *n)
	}
	if e.CopiesItself {
		l.rejoin(d, old, heir) // with the primary as the only donor
	}
}

func TestPausedPrimaryIsReplacedAfterItsLease(t *testing.T) {
	enginetest.Each(t, pausedPrimaryIsReplaced)
}

func pausedPrimaryIsReplaced(t *testing.T, e enginetest.Flavor) {
	l := newLabOf(t, e, 2)
	d, _ := l.direct(l.store)
	l.configured(d)
	old, heir := l.nodes[0], l.nodes[1]
	old.mysql.Exec("INSERT INTO social.probe_writes VALUES (1, 'x')")
	heir.mysql.CatchUp(old.mysql)
	leaseEnds := func() time.Time { l.leases.mu.Lock(); defer l.leases.mu.Unlock(); return l.leases.last[old] }
	old.signal(syscall.SIGSTOP)
	state := l.await(d, "a promotion", func(s wire.DirectorState) bool { return len(s.Failovers) == 1 && s.Failovers[0].PromotedAt != nil })
	if f := state.Failovers[0]; f.FencedAt.Time.Before(leaseEnds()) {
		t.Errorf("fenced at %v, but its lease stood until %v", f.FencedAt, leaseEnds())
	}
	if state.Primary != heir.name {
		t.Errorf("primary is %s", state.Primary)
	}
	heir.mysql.Exec("INSERT INTO social.probe_writes VALUES (2, 'x')")
	old.signal(syscall.SIGCONT)
	state = l.await(d, "ghosts counted", func(s wire.DirectorState) bool { return entry(s, old).GhostTransactions != nil })
	if role := entry(state, old).Role; role != wire.RoleIsolated || old.one(e.ClosedSQL) != "1" {
		t.Errorf("%s is %s", old.name, role)
	}
}

// A primary that only its clients reach goes on acknowledging writes until its lease ends, and not a moment beside the
// next primary.
func TestCutOffPrimaryIsClosedBeforeAnotherIsOpened(t *testing.T) {
	enginetest.Each(t, cutOffPrimaryIsClosed)
}

func cutOffPrimaryIsClosed(t *testing.T, e enginetest.Flavor) {
	l := newLabOf(t, e, 2)
	cut := l.throughPassages(0)
	d, _ := l.direct(l.store)
	l.configured(d)
	old, heir := l.nodes[0], l.nodes[1]
	cut(true)
	acked, last := 0, time.Time{}
	l.eventually("the end of its writes", func() bool {
		began := time.Now()
		if _, err := old.app.Exec("INSERT INTO probe_writes VALUES (?, 'x')", acked+1); err == nil {
			acked, last = acked+1, began // it was not acknowledged before
		}
		return old.readOnlyNow() == "1"
	}, func() string { return fmt.Sprintf("%d writes", acked) })
	state := l.await(d, "a promotion", func(s wire.DirectorState) bool { return len(s.Failovers) == 1 && s.Failovers[0].PromotedAt != nil })
	if f := state.Failovers[0]; f.PromotedAt.Time.Before(last) || f.FencedAt.Time.Before(last) {
		t.Errorf("acknowledged at %v, fenced at %v, promoted at %v", last, f.FencedAt, f.PromotedAt)
	}
	if _, err := old.app.Exec("INSERT INTO probe_writes VALUES (0, 'x')"); err == nil {
		t.Error("the old primary takes writes beside the new one")
	}
	cut(false)
	state = l.await(d, "ghosts counted", func(s wire.DirectorState) bool { return entry(s, old).GhostTransactions != nil })
	if n := entry(state, old); acked == 0 || *n.GhostTransactions != int64(acked) || n.Role != wire.RoleIsolated {
		t.Errorf("%d writes were acknowledged by %s alone, it is %s with %d ghosts", acked, old.name, n.Role, *n.GhostTransactions)
	}
	if heir.one("SELECT COUNT(*) FROM probe_writes") != "0" {
		t.Errorf("the new primary has %s", heir.rows())
	}
}

func TestPrimaryIsOpenedAgainWithoutFailover(t *testing.T) { enginetest.Each(t, primaryIsOpenedAgain) }

func primaryIsOpenedAgain(t *testing.T, e enginetest.Flavor) {
	l := newLabOf(t, e, 2, semiSync())
	l.useSemiSync()
	l.cfg.Failover = false
	d, _ := l.direct(l.store)
	l.configured(d)
	primary, replica := l.nodes[0], l.nodes[1]
	primary.mysql.Kill()
	l.await(d, "a primary that is down", func(s wire.DirectorState) bool {
		return entry(s, primary).Role == wire.RoleDown && s.Message != ""
	})
	primary.run()
	l.eventually("an open primary", func() bool { return primary.one("SELECT @@GLOBAL.read_only") == "0" }, func() string { return document(d.State()) })
	if primary.one(l.engine.AwaitsSQL) != "1" {
		t.Error("semi-sync is off")
	}
	primary.mysql.Exec("INSERT INTO social.probe_writes VALUES (1, 'x')")
	replica.mysql.CatchUp(primary.mysql)

	replica.mysql.Kill()
	replica.run()
	primary.mysql.Exec("INSERT INTO social.probe_writes VALUES (2, 'x')")
	replica.mysql.CatchUp(primary.mysql)
	if s := d.State(); s.Epoch != 1 || len(s.Failovers) > 0 {
		t.Errorf("state is %s", document(s))
	}
}

func semiSync() enginetest.Option { return enginetest.SemiSync(1, time.Minute) }

func (l *lab) useSemiSync() {
	l.cfg.SemiSync = &wire.SemiSync{AckReplicas: 1, TimeoutMilliseconds: 60_000}
}

func TestSemiSyncPrimaryIsKilledUnderWritesAndRejoins(t *testing.T) {
	enginetest.Each(t, semiSyncPrimaryIsKilled)
}

func semiSyncPrimaryIsKilled(t *testing.T, e enginetest.Flavor) {
	l := newLabOf(t, e, 3, semiSync())
	l.useSemiSync()
	d, _ := l.direct(l.store)
	l.configured(d)
	old := l.nodes[0]
	if old.one(l.engine.AwaitsSQL) != "1" || l.nodes[1].one(l.engine.AwaitsSQL) != "0" {
		t.Error("the source side of semi-sync must be on at the primary alone")
	}
	w := l.write()
	l.eventually("writes", func() bool { return w.count() > 200 }, func() string { return "" })
	old.mysql.Kill()
	state := l.await(d, "a failover", func(s wire.DirectorState) bool { return len(s.Failovers) == 1 && s.Failovers[0].RepointedAt != nil })
	checkMoments(t, state.Failovers[0])
	before := w.count()
	l.eventually("more writes", func() bool { return w.count() > before+100 }, func() string { return document(d.State()) })
	w.stop()

	heir := l.node(state.Primary)
	if lost := w.lost(heir); len(lost) > 0 {
		t.Errorf("%d of %d acknowledged writes are lost, such as %d", len(lost), w.count(), lost[0])
	}
	l.returnWithGhosts(d, old, heir)
	if e.CopiesItself {
		l.rejoin(d, old, heir)
	}
}
