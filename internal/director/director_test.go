package director

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"replab.dev/internal/mysqltest"
	"replab.dev/internal/protocol"
)

func TestBootstrapsAsync(t *testing.T) {
	l := newLab(t, 3)
	d, _ := l.direct(l.store)
	state := l.configured(d)
	if state.Epoch != 1 || state.Primary != "node-0" || !state.Opened {
		t.Errorf("state is %s", document(state))
	}
	l.nodes[0].mysql.Exec("INSERT INTO social.probe_writes VALUES (1, 'x')")
	l.await(d, "replicas caught up", func(s protocol.DirectorState) bool { return s.Nodes[1].CaughtUp && s.Nodes[2].CaughtUp })
	for _, n := range l.nodes[1:] {
		n.mysql.CatchUp(l.nodes[0].mysql) // what the director tells may be from before the write
		if n.rows() != l.nodes[0].rows() {
			t.Errorf("%s has %s", n.name, n.rows())
		}
		if n.one("SELECT @@GLOBAL.super_read_only") != "1" {
			t.Errorf("%s is writable", n.name)
		}
	}

	paused := l.nodes[2]
	paused.signal(syscall.SIGSTOP)
	state = l.await(d, "a replica that is down", func(s protocol.DirectorState) bool { return entry(s, paused).Role == protocol.RoleDown })
	if why := entry(state, paused).Why; !strings.Contains(why, "does not answer") {
		t.Errorf("it says why: %q", why)
	}
	l.nodes[0].mysql.Exec("INSERT INTO social.probe_writes VALUES (2, 'x')") // the primary still has its lease
	paused.signal(syscall.SIGCONT)
	l.await(d, "the replica caught up", func(s protocol.DirectorState) bool {
		n := entry(s, paused)
		return n.Role == protocol.RoleReplica && n.CaughtUp && paused.rows() == l.nodes[0].rows()
	})
}

// The positive control of lost writes: nothing that the replica did not receive may be called safe.
func TestAsyncPrimaryIsKilledBeforeItSentEverything(t *testing.T) {
	l := newLab(t, 2)
	d, stop := l.direct(l.store)
	l.configured(d)
	old, heir := l.nodes[0], l.nodes[1]
	old.mysql.Exec("INSERT INTO social.probe_writes VALUES (1, 'sent')")
	heir.mysql.CatchUp(old.mysql)
	stop() // it would start the replica again
	heir.mysql.Exec("STOP REPLICA IO_THREAD")
	for _, id := range []string{"2", "3", "4"} {
		old.mysql.Exec("INSERT INTO social.probe_writes VALUES (" + id + ", 'not sent')")
	}
	old.mysql.Kill()
	d, _ = l.direct(l.store)
	state := l.await(d, "a failover", func(s protocol.DirectorState) bool { return len(s.Failovers) == 1 && s.Failovers[0].RepointedAt != nil })
	if state.Primary != heir.name || heir.one("SELECT COUNT(*) FROM probe_writes") != "1" {
		t.Errorf("primary is %s with %s", state.Primary, heir.rows())
	}
	l.returnWithGhosts(d, old, heir)
	if n := entry(d.State(), old).GhostTransactions; *n != 3 {
		t.Errorf("%d ghosts, want 3", *n)
	}
	l.rejoin(d, old, heir) // with the primary as the only donor
}

func TestPausedPrimaryIsReplacedAfterItsLease(t *testing.T) {
	l := newLab(t, 2)
	d, _ := l.direct(l.store)
	l.configured(d)
	old, heir := l.nodes[0], l.nodes[1]
	old.mysql.Exec("INSERT INTO social.probe_writes VALUES (1, 'x')")
	heir.mysql.CatchUp(old.mysql)
	leaseEnds := func() time.Time { l.leases.mu.Lock(); defer l.leases.mu.Unlock(); return l.leases.last[old] }
	old.signal(syscall.SIGSTOP)
	state := l.await(d, "a promotion", func(s protocol.DirectorState) bool { return len(s.Failovers) == 1 && s.Failovers[0].PromotedAt != nil })
	if f := state.Failovers[0]; f.FencedAt.Time.Before(leaseEnds()) {
		t.Errorf("fenced at %v, but its lease stood until %v", f.FencedAt, leaseEnds())
	}
	if state.Primary != heir.name {
		t.Errorf("primary is %s", state.Primary)
	}
	heir.mysql.Exec("INSERT INTO social.probe_writes VALUES (2, 'x')")
	old.signal(syscall.SIGCONT)
	state = l.await(d, "ghosts counted", func(s protocol.DirectorState) bool { return entry(s, old).GhostTransactions != nil })
	if role := entry(state, old).Role; role != protocol.RoleIsolated || old.one("SELECT @@GLOBAL.super_read_only") != "1" {
		t.Errorf("%s is %s", old.name, role)
	}
}

// A primary that only its clients reach goes on acknowledging writes until its lease ends, and not a moment beside the
// next primary.
func TestCutOffPrimaryIsClosedBeforeAnotherIsOpened(t *testing.T) {
	l := newLab(t, 2)
	cut := l.throughPassages(0)
	d, _ := l.direct(l.store)
	l.configured(d)
	old, heir := l.nodes[0], l.nodes[1]
	cut(true)
	acked, last := 0, time.Time{}
	for old.readOnlyNow() == "0" {
		if _, err := old.db.Exec("INSERT INTO probe_writes VALUES (?, 'x')", acked+1); err == nil {
			acked, last = acked+1, time.Now()
		}
	}
	state := l.await(d, "a promotion", func(s protocol.DirectorState) bool { return len(s.Failovers) == 1 && s.Failovers[0].PromotedAt != nil })
	if f := state.Failovers[0]; f.PromotedAt.Time.Before(last) || f.FencedAt.Time.Before(last) {
		t.Errorf("acknowledged at %v, fenced at %v, promoted at %v", last, f.FencedAt, f.PromotedAt)
	}
	if _, err := old.db.Exec("INSERT INTO probe_writes VALUES (0, 'x')"); err == nil {
		t.Error("the old primary takes writes beside the new one")
	}
	cut(false)
	state = l.await(d, "ghosts counted", func(s protocol.DirectorState) bool { return entry(s, old).GhostTransactions != nil })
	if n := entry(state, old); acked == 0 || *n.GhostTransactions != int64(acked) || n.Role != protocol.RoleIsolated {
		t.Errorf("%d writes were acknowledged by %s alone, it is %s with %d ghosts", acked, old.name, n.Role, *n.GhostTransactions)
	}
	if heir.one("SELECT COUNT(*) FROM probe_writes") != "0" {
		t.Errorf("the new primary has %s", heir.rows())
	}
}

func TestPrimaryIsOpenedAgainWithoutFailover(t *testing.T) {
	l := newLab(t, 2, semiSync())
	l.useSemiSync()
	l.cfg.Failover = false
	d, _ := l.direct(l.store)
	l.configured(d)
	primary, replica := l.nodes[0], l.nodes[1]
	primary.mysql.Kill()
	l.await(d, "a primary that is down", func(s protocol.DirectorState) bool {
		return entry(s, primary).Role == protocol.RoleDown && s.Message != ""
	})
	primary.run()
	l.eventually("an open primary", func() bool { return primary.one("SELECT @@GLOBAL.read_only") == "0" }, func() string { return document(d.State()) })
	if primary.one("SELECT @@GLOBAL.rpl_semi_sync_source_enabled") != "1" {
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

// A director that dies at every write of its state, before it and after it, does what one that lives does.
func TestDirectorIsKilledAtEveryWriteOfItsState(t *testing.T) {
	l := newLab(t, 2)
	s := &crashingStore{memoryStore: l.store}
	l.restartUntil(s, "configured", func(s protocol.DirectorState) bool { return s.Configured })
	old, heir := l.nodes[0], l.nodes[1]
	old.mysql.Exec("INSERT INTO social.probe_writes VALUES (1, 'x')")
	heir.mysql.CatchUp(old.mysql)
	old.mysql.Kill()
	l.restartUntil(s, "failed over", func(s protocol.DirectorState) bool { return len(s.Failovers) > 0 && s.Failovers[0].RepointedAt != nil })
	old.run()
	l.restartUntil(s, "ghosts counted", func(s protocol.DirectorState) bool { return entry(s, old).GhostTransactions != nil })

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
	if heir.rows() != old.rows() || heir.one("SELECT @@GLOBAL.read_only") != "0" || old.one("SELECT @@GLOBAL.super_read_only") != "1" {
		t.Errorf("%s has %s, %s has %s", heir.name, heir.rows(), old.name, old.rows())
	}
}

// restartUntil starts a director anew each time it was killed, until the stored state is as wanted.
func (l *lab) restartUntil(s *crashingStore, what string, wanted func(protocol.DirectorState) bool) {
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

func semiSync() mysqltest.Option { return mysqltest.SemiSync(1, time.Minute) }

func (l *lab) useSemiSync() {
	l.cfg.SemiSync = &protocol.SemiSync{AckReplicas: 1, TimeoutMilliseconds: 60_000}
}

func TestSemiSyncPrimaryIsKilledUnderWritesAndRejoins(t *testing.T) {
	l := newLab(t, 3, semiSync())
	l.useSemiSync()
	d, _ := l.direct(l.store)
	l.configured(d)
	old := l.nodes[0]
	if old.one("SELECT @@GLOBAL.rpl_semi_sync_source_enabled") != "1" || l.nodes[1].one("SELECT @@GLOBAL.rpl_semi_sync_source_enabled") != "0" {
		t.Error("the source side of semi-sync must be on at the primary alone")
	}
	w := l.write()
	l.eventually("writes", func() bool { return w.count() > 200 }, func() string { return "" })
	old.mysql.Kill()
	state := l.await(d, "a failover", func(s protocol.DirectorState) bool { return len(s.Failovers) == 1 && s.Failovers[0].RepointedAt != nil })
	checkMoments(t, state.Failovers[0])
	before := w.count()
	l.eventually("more writes", func() bool { return w.count() > before+100 }, func() string { return document(d.State()) })
	w.stop()

	heir := l.node(state.Primary)
	if lost := w.lost(heir); len(lost) > 0 {
		t.Errorf("%d of %d acknowledged writes are lost, such as %d", len(lost), w.count(), lost[0])
	}
	l.returnWithGhosts(d, old, heir)
	l.rejoin(d, old, heir)
}

// returnWithGhosts starts an old primary again and expects it to be kept apart with its ghosts counted.
func (l *lab) returnWithGhosts(d *Director, old, heir *testNode) {
	l.t.Helper()
	old.run()
	state := l.await(d, "ghosts counted", func(s protocol.DirectorState) bool { return entry(s, old).GhostTransactions != nil })
	want := old.ghosts(heir)
	if n := entry(state, old); n.Role != protocol.RoleIsolated || *n.GhostTransactions != want {
		l.t.Errorf("%s is %s with %d ghosts, the server counts %d", old.name, n.Role, *n.GhostTransactions, want)
	}
	if old.one("SELECT @@GLOBAL.super_read_only") != "1" || old.one("SELECT COUNT(*) FROM performance_schema.replication_connection_configuration") != "0" {
		l.t.Errorf("%s is not kept apart", old.name)
	}
}

// rejoin asks for a node to be rebuilt and expects it to be a replica with the primary's rows.
func (l *lab) rejoin(d *Director, n, primary *testNode) {
	l.t.Helper()
	if err := d.Rejoin(l.t.Context(), n.name); err != nil {
		l.t.Fatal(err)
	}
	l.eventually("the server ends after the clone", func() bool { return !n.running() }, func() string { return document(d.State()) })
	n.run()
	state := l.await(d, "a rebuilt node", func(s protocol.DirectorState) bool {
		return entry(s, n).Rejoin == protocol.RejoinDone && entry(s, n).CaughtUp
	})
	if role := entry(state, n).Role; role != protocol.RoleReplica {
		l.t.Errorf("%s is %s", n.name, role)
	}
	primary.mysql.Exec("INSERT INTO social.probe_writes VALUES (1000000, 'after')")
	for _, other := range l.nodes {
		if other != primary && other.running() {
			other.mysql.CatchUp(primary.mysql)
		}
		if other.running() && other.rows() != primary.rows() {
			l.t.Errorf("%s has %s, the primary %s", other.name, other.rows(), primary.rows())
		}
	}
}

func (l *lab) node(name string) *testNode {
	for _, n := range l.nodes {
		if n.name == name {
			return n
		}
	}
	l.t.Fatalf("no node %q", name)
	return nil
}

func entry(s protocol.DirectorState, n *testNode) protocol.DirectedNode {
	for _, e := range s.Nodes {
		if e.Name == n.name {
			return e
		}
	}
	return protocol.DirectedNode{}
}

// ghosts counts with the server's own algebra, through the sum of the intervals' lengths.
func (n *testNode) ghosts(primary *testNode) int64 {
	n.t.Helper()
	set := primary.one("SELECT GTID_SUBTRACT(?, @@GLOBAL.gtid_executed)", n.one("SELECT @@GLOBAL.gtid_executed"))
	var count int64
	for _, part := range strings.Split(strings.ReplaceAll(set, "\n", ""), ",") {
		for _, interval := range strings.Split(part, ":")[1:] {
			var first, last int64
			if k, _ := fmt.Sscanf(interval, "%d-%d", &first, &last); k == 1 {
				last = first
			}
			count += last - first + 1
		}
	}
	return count
}

func checkMoments(t *testing.T, f protocol.DirectedFailover) {
	t.Helper()
	if f.ChosenAt == nil || f.FencedAt == nil || f.AppliedAt == nil || f.PromotedAt == nil || f.RepointedAt == nil {
		t.Fatalf("moments are missing: %+v", f)
	}
	moments := []time.Time{f.FirstFailureAt.Time, f.DetectedAt.Time, f.ChosenAt.Time, f.FencedAt.Time, f.AppliedAt.Time, f.PromotedAt.Time, f.RepointedAt.Time}
	for i := 1; i < len(moments); i++ {
		if moments[i].Before(moments[i-1]) {
			t.Errorf("moment %d is before the one before it: %v", i, moments)
		}
	}
	if !f.RelayApplied {
		t.Errorf("not everything was applied: %s", f.Message)
	}
}
