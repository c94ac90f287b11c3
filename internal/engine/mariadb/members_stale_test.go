package mariadb_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"replab.dev/internal/engine/family/familytest"
	"replab.dev/internal/wire"
)

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
	case <-time.After(500 * time.Millisecond): // if it does not wait it answers within that, or is caught below
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
