package mariadb_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"sync"
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
	t.Run("started again", func(t *testing.T) { startedAgain(t, members) })
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
	var paused time.Duration
	began := time.Now()
	for (longest == 0 || paused == 0) && time.Since(began) < time.Minute {
		c := counts(t, behind)
		longest, paused = max(longest, c.ReceiveQueueMax), counts(t, members[0]).FlowControlPaused-before.FlowControlPaused
		if c.ReceiveQueue > c.ReceiveQueueMax {
			t.Errorf("the queue is %d long, and the longest was %d", c.ReceiveQueue, c.ReceiveQueueMax)
		}
	}
	stop()
	paused = counts(t, members[0]).FlowControlPaused - before.FlowControlPaused
	t.Logf("longest queue %d; the writer was held up for %v of %v", longest, paused, time.Since(began))
	if longest == 0 || paused <= 0 || paused > time.Since(began) {
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
