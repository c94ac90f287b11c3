package mariadb_test

import (
	"testing"
	"time"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/family/familytest"
	"replab.dev/internal/recorder/counters"
	"replab.dev/internal/wire"
)

// startedAgain: what a member counted after its last sample is gone with its process, and the sum says that it may lack some.
func startedAgain(t *testing.T, members []*familytest.Member) {
	m := members[0]
	m.Exec("CREATE TABLE social.aborted (id INT PRIMARY KEY, n BIGINT NOT NULL); INSERT INTO social.aborted VALUES (1, 0)")
	var g counters.Group
	sample := func() wire.NodeGroup {
		at := time.Now()
		g.Add(counters.Sample[engine.GroupCounts]{Node: m.Name, At: at, Counts: counts(t, m)})
		if found := g.Result(nil).Nodes; len(found) == 1 {
			return found[0]
		}
		return wire.NodeGroup{}
	}
	sample()
	g.Start(time.Now())
	abortOne(t, members)
	if got := sample(); got.ForcedAborts != 1 || got.UncountedMicroseconds != 0 {
		t.Errorf("one transaction was aborted: %+v", got)
	}
	abortOne(t, members) // of which no sample tells
	m.Stop()
	m.Enter(false)
	m.AwaitSynced(len(members))
	if got := sample(); got.ForcedAborts != 1 || got.UncountedMicroseconds == 0 {
		t.Errorf("another was before the server was started again: %+v", got)
	}
	abortOne(t, members)
	if got := sample(); got.ForcedAborts != 2 {
		t.Errorf("another one was since: %+v", got)
	}
}

// abortOne has one transaction of the first member be in the way of one that the second has committed.
func abortOne(t *testing.T, members []*familytest.Member) {
	t.Helper()
	before := counts(t, members[0]).ForcedAborts
	for _, m := range members { // an UPDATE where the row is not yet there changes nothing
		var n int
		if err := synced(t, m).QueryRowContext(t.Context(), "SELECT n FROM social.aborted WHERE id = 1").Scan(&n); err != nil {
			t.Fatal(err)
		}
	}
	tx, err := members[0].DB(wire.AccountApp, wire.Database).BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }() // it is aborted
	if _, err := tx.ExecContext(t.Context(), "UPDATE aborted SET n = n + 1 WHERE id = 1"); err != nil {
		t.Fatal(err)
	}
	members[1].Exec("UPDATE social.aborted SET n = n + 1 WHERE id = 1")
	for range 3000 {
		if counts(t, members[0]).ForcedAborts > before {
			return
		}
		time.Sleep(10 * time.Millisecond) // between two looks
	}
	t.Fatal("no transaction was aborted within 30 s")
}
