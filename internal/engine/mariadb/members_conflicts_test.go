package mariadb_test

import (
	"database/sql"
	"errors"
	"sync"
	"testing"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/family/familytest"
	"replab.dev/internal/engine/mariadb"
	"replab.dev/internal/wire"
)

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
	for _, m := range members { // an UPDATE where the row is not yet there is acknowledged, and changes nothing
		var n int
		if err := synced(t, m).QueryRowContext(t.Context(), "SELECT n FROM social.conflict WHERE id = 1").Scan(&n); err != nil {
			t.Fatal(err)
		}
	}
	before := counted(t, members)
	var all outcomes
	var writing sync.WaitGroup
	for _, m := range members[:2] {
		db := m.DB(wire.AccountApp, wire.Database)
		for range 3 {
			writing.Go(func() {
				for range 150 {
					changed, err := db.Exec("UPDATE conflict SET n = n + 1 WHERE id = 1")
					if all.add(err); err != nil {
						continue
					}
					if rows, err := changed.RowsAffected(); err != nil || rows != 1 {
						t.Errorf("an acknowledged update changed %d rows, %v", rows, err)
					}
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
