package mariadb_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/family/familytest"
	"replab.dev/internal/engine/mariadb"
	"replab.dev/internal/engine/mariadb/mariadbtest"
	"replab.dev/internal/wire"
)

// TestMembersOfAGroup has what real members do, in one group for all of it.
func TestMembersOfAGroup(t *testing.T) {
	const suspect = 1500 * time.Millisecond
	members := mariadbtest.StartGroup(t, "m", 3, familytest.SuspectAfter(suspect))
	t.Run("settings", func(t *testing.T) { membersSettings(t, members, suspect) })
	t.Run("conflicts of updates", func(t *testing.T) { conflictsOfUpdates(t, members) })
	t.Run("lock wait", func(t *testing.T) { lockWait(t, members[0]) })
	t.Run("conflicts of inserts", func(t *testing.T) { conflictsOfInserts(t, members) })
	t.Run("stale reads", func(t *testing.T) { staleReads(t, members) })
	t.Run("lag", func(t *testing.T) { lagByName(t, members) })
	t.Run("receive queue and flow control", func(t *testing.T) { heldUp(t, members) })
	t.Run("cut off", func(t *testing.T) { cutOff(t, members) })
}

// membersSettings are those that were asked for, also the library's own, and those that are to be stated are told.
func membersSettings(t *testing.T, members []*familytest.Member, suspect time.Duration) {
	expected := mariadb.Server{}.Expected(engine.Settings{Group: &engine.Group{SuspectMilliseconds: suspect.Milliseconds()}})
	for _, byDefault := range (mariadb.Server{}).Expected(engine.Settings{Group: &engine.Group{}}) {
		if byDefault.AnyValue {
			expected = append(expected, byDefault)
		}
	}
	var names []string
	for _, e := range expected {
		names = append(names, e.Name)
	}
	i := mariadb.NewInspector(familytest.Password)
	stated := 0
	for _, m := range members {
		found, err := i.Inspect(t.Context(), address(m), names)
		if err != nil || found.Identity != m.Name {
			t.Fatalf("%s: identity %q, %v", m.Name, found.Identity, err)
		}
		for _, e := range expected {
			actual, ok := found.Settings[e.Name]
			switch {
			case e.Name == "wsrep_cluster_name": // the test's own
			case !ok, e.AnyValue && actual == "":
				t.Errorf("%s does not tell its %s", m.Name, e.Name)
			case e.AnyValue:
				stated++
				t.Logf("%s %s = %s", m.Name, e.Name, actual)
			case !i.Same(e.Name, e.Value, actual):
				t.Errorf("%s: %s is %s, want %s", m.Name, e.Name, actual, e.Value)
			}
		}
	}
	if stated < 3*6 {
		t.Errorf("%d settings of the group's are stated", stated)
	}
}

func address(m *familytest.Member) string { return fmt.Sprintf("127.0.0.1:%d", m.Port) }

// outcomes of writes, by what the app makes of their errors.
type outcomes struct {
	mu           sync.Mutex
	acknowledged int64
	rejected     map[string]int64
	open         []error
}

func (o *outcomes) add(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	var r *engine.Rejection
	switch err = mariadb.Refusals.Rejection(err, nil); {
	case err == nil:
		o.acknowledged++
	case errors.As(err, &r):
		if o.rejected == nil {
			o.rejected = map[string]int64{}
		}
		o.rejected[r.Reason]++
	default:
		o.open = append(o.open, err)
	}
}

// conflictsOfUpdates: what loses against another write is rejected and certainly not there, and both sides count it.
func conflictsOfUpdates(t *testing.T, members []*familytest.Member) {
	members[0].Exec("CREATE TABLE social.conflict (id INT PRIMARY KEY, n BIGINT NOT NULL); INSERT INTO social.conflict VALUES (1, 0)")
	before := counted(t, members)
	var all outcomes
	var writing sync.WaitGroup
	for _, m := range members[:2] {
		db := m.DB(wire.AccountApp, wire.Database)
		for range 3 {
			writing.Go(func() {
				for range 150 {
					_, err := db.Exec("UPDATE conflict SET n = n + 1 WHERE id = 1")
					all.add(err)
				}
			})
		}
	}
	writing.Wait()
	after := counted(t, members)
	var n int64
	if err := synced(t, members[2]).QueryRowContext(t.Context(), "SELECT n FROM social.conflict WHERE id = 1").Scan(&n); err != nil {
		t.Fatal(err)
	}
	failures, aborts := after.CertificationFailures-before.CertificationFailures, after.ForcedAborts-before.ForcedAborts
	t.Logf("%d acknowledged, rejected %v; the servers counted %d certification failures, %d forced aborts", all.acknowledged, all.rejected, failures, aborts)
	if len(all.open) > 0 {
		t.Errorf("%d conflicts leave it open whether they were committed, such as %v", len(all.open), all.open[0])
	}
	if n != all.acknowledged {
		t.Errorf("%d were acknowledged, and %d are there: a rejected write was done, or one was done again", all.acknowledged, n)
	}
	if all.rejected[wire.RejectedDeadlock] == 0 || len(all.rejected) != 1 {
		t.Errorf("rejected %v, want conflicts alone", all.rejected)
	}
	if failures+aborts == 0 {
		t.Error("the servers counted no conflict")
	}
}

// lockWait: a statement that gives up waiting for another is a rejection, and leaves nothing behind.
func lockWait(t *testing.T, m *familytest.Member) {
	holder, waiter := session(t, m, 0), session(t, m, 0)
	read := func() (n int64) {
		if err := waiter.QueryRowContext(t.Context(), "SELECT n FROM conflict WHERE id = 1").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := read()
	for _, statement := range []string{"BEGIN", "UPDATE conflict SET n = n + 1 WHERE id = 1"} {
		if _, err := holder.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := waiter.ExecContext(t.Context(), "SET SESSION innodb_lock_wait_timeout = 1"); err != nil {
		t.Fatal(err)
	}
	var one outcomes
	_, err := waiter.ExecContext(t.Context(), "UPDATE conflict SET n = n + 1 WHERE id = 1")
	one.add(err)
	if _, err := holder.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if one.rejected[wire.RejectedDeadlock] != 1 || read() != before {
		t.Errorf("it ended with %v, and the row went from %d to %d", err, before, read())
	}
}

// conflictsOfInserts has two members take the same row at the same moment.
func conflictsOfInserts(t *testing.T, members []*familytest.Member) {
	const rows, first = 300, 1 << 40
	var all outcomes
	var stores []*sql.DB
	for _, m := range members[:2] {
		stores = append(stores, m.DB(wire.AccountApp, wire.Database))
	}
	for row := first; row < first+rows; row++ {
		var both sync.WaitGroup
		for _, db := range stores {
			both.Go(func() {
				_, err := db.Exec("INSERT INTO probe_writes (id, payload) VALUES (?, 'x')", row)
				all.add(err)
			})
		}
		both.Wait()
	}
	var there int64
	if err := synced(t, members[2]).QueryRowContext(t.Context(), "SELECT COUNT(*) FROM social.probe_writes WHERE id >= ?", first).Scan(&there); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d acknowledged, rejected %v", all.acknowledged, all.rejected)
	if len(all.open) > 0 || there != rows || all.acknowledged != rows || all.rejected[wire.RejectedDeadlock] == 0 {
		t.Errorf("%d rows, %d there, %d acknowledged, rejected %v, open %v", rows, there, all.acknowledged, all.rejected, all.open)
	}
}

// staleReads: a member may not have what another acknowledged, and its reads wait for that where they are told to.
func staleReads(t *testing.T, members []*familytest.Member) {
	const row = 1 << 41
	behind := members[1]
	admin, err := behind.DB(wire.AccountAdmin, "").Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	exec := func(statement string) {
		t.Helper()
		if _, err := admin.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	shown := func(syncWait int) (n int, err error) {
		conn := session(t, behind, syncWait)
		return n, conn.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM social.probe_writes WHERE id = ?", row).Scan(&n)
	}
	exec("FLUSH TABLES WITH READ LOCK") // it applies nothing until it is released
	members[0].Exec(fmt.Sprintf("INSERT INTO social.probe_writes VALUES (%d, 'x')", row))
	if n, err := shown(0); n != 0 || err != nil {
		t.Errorf("a read that waits for nothing found %d rows (%v) on a member that has not applied them", n, err)
	}
	var released atomic.Bool
	waiting := make(chan error, 1)
	go func() {
		n, err := shown(1)
		switch {
		case err == nil && n != 1:
			err = errors.New("it is stale")
		case err == nil && !released.Load():
			err = errors.New("it did not wait")
		}
		waiting <- err
	}()
	select {
	case err := <-waiting:
		t.Errorf("a read that waits answered while nothing was applied: %v", err)
		waiting <- err
	case <-time.After(500 * time.Millisecond):
	}
	released.Store(true)
	exec("UNLOCK TABLES")
	if err := <-waiting; err != nil {
		t.Errorf("a read that waits: %v", err)
	}
	behind.AwaitSynced(len(members))
	neverStale(t, members)
}

// neverStale has reads that wait, beside other writes.
func neverStale(t *testing.T, members []*familytest.Member) {
	const first = 1<<41 + 1
	stop := writes(t, members[0], 4)
	defer stop()
	conn := session(t, members[1], 1)
	writer := members[0].DB(wire.AccountApp, wire.Database)
	for row := first; row < first+300; row++ {
		if _, err := writer.Exec("INSERT INTO probe_writes (id, payload) VALUES (?, 'x')", row); err != nil {
			t.Fatal(err)
		}
		var n int
		if err := conn.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM social.probe_writes WHERE id = ?", row).Scan(&n); err != nil || n != 1 {
			t.Fatalf("row %d was acknowledged and not found on another member, whose reads wait: %v", row, err)
		}
	}
}

// heldUp: a member that cannot keep up has a queue, and has the others wait.
func heldUp(t *testing.T, members []*familytest.Member) {
	behind := members[2]
	admin := behind.DB(wire.AccountAdmin, "")
	for _, statement := range []string{"SET GLOBAL wsrep_provider_gcs_fc_limit=1"} {
		if _, err := admin.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	before := counts(t, members[0])
	stop := writes(t, members[0], 8)
	var longest int64
	for range 40 {
		c := counts(t, behind)
		longest = max(longest, c.ReceiveQueueMax)
		if c.ReceiveQueue > c.ReceiveQueueMax {
			t.Errorf("the queue is %d long, and the longest was %d", c.ReceiveQueue, c.ReceiveQueueMax)
		}
		time.Sleep(50 * time.Millisecond)
	}
	stop()
	after := counts(t, members[0])
	paused := after.FlowControlPaused - before.FlowControlPaused
	t.Logf("longest queue %d; the writer was held up for %v", longest, paused)
	if longest == 0 || paused <= 0 || paused > 10*time.Second {
		t.Errorf("a member that may have no queue had one of up to %d, and the writer was held up for %v", longest, paused)
	}
}

// writes has clients insert until stop.
func writes(t *testing.T, m *familytest.Member, clients int) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	db := m.DB(wire.AccountApp, wire.Database)
	db.SetMaxIdleConns(clients)
	var writing sync.WaitGroup
	for range clients {
		writing.Go(func() {
			for ctx.Err() == nil {
				if _, err := db.Exec("INSERT INTO users (first_name, last_name, password) VALUES ('Ada', 'Lovelace', 'x')"); err != nil && ctx.Err() == nil {
					t.Errorf("load: %v", err)
					return
				}
			}
		})
	}
	return func() { cancel(); writing.Wait() }
}

// session of the app's account.
func session(t *testing.T, m *familytest.Member, syncWait int) *sql.Conn {
	t.Helper()
	conn, err := m.DB(wire.AccountApp, wire.Database).Conn(t.Context())
	if err == nil {
		_, err = conn.ExecContext(t.Context(), fmt.Sprintf("SET SESSION wsrep_sync_wait=%d", syncWait))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func synced(t *testing.T, m *familytest.Member) *sql.Conn { return session(t, m, 1) }

func counts(t *testing.T, m *familytest.Member) engine.GroupCounts {
	t.Helper()
	c, err := mariadb.NewGroupCounters(address(m), familytest.Password)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	found, err := c.Counts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// counted are the conflicts of all members.
func counted(t *testing.T, members []*familytest.Member) (all engine.GroupCounts) {
	t.Helper()
	for _, m := range members {
		c := counts(t, m)
		all.CertificationFailures += c.CertificationFailures
		all.ForcedAborts += c.ForcedAborts
		if c.Deadlocks == nil {
			t.Errorf("%s does not count its deadlocks", m.Name)
		}
	}
	return all
}

// TestAServerThatIsNoMemberHasNoCounters: that is an error, not 0.
func TestAServerThatIsNoMemberHasNoCounters(t *testing.T) {
	s := mariadbtest.Start(t, "alone")
	c, err := mariadb.NewGroupCounters(fmt.Sprintf("127.0.0.1:%d", s.Port), familytest.Password)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if found, err := c.Counts(t.Context()); err == nil || !strings.Contains(err.Error(), "wsrep") {
		t.Errorf("counted %+v, %v", found, err)
	}
}
