package family_test

import (
	"context"
	"database/sql"
	"errors"
	"syscall"
	"testing"
	"time"

	"replab.dev/internal/engine/enginetest"
	"replab.dev/internal/engine/family"
	"replab.dev/internal/engine/family/familytest"
	"replab.dev/internal/wire"
	"replab.dev/test/halt"
)

func TestFailedWritesOfTheStore(t *testing.T) { enginetest.Each(t, failedWrites) }

func failedWrites(t *testing.T, f familytest.Flavor) {
	server := f.Start(t, "primary")
	server.Open()
	for name, test := range map[string]func(*testing.T, *familytest.Server){
		"a write whose answer is lost stays open and is not sent again": lostAnswerStaysOpen,
		"a write to a server that hangs stays open":                     hangingServerStaysOpen,
		"a write that waits for a lock too long is rejected":            lockWaitIsRejected,
		"a deadlock is rejected":                                        deadlockIsRejected,
		"a write without a server is rejected as not sent":              nothingListens,
		"a write that got no connection in time is rejected":            poolIsExhausted,
		"a write id that was delivered before stays open":               repeatedWriteIDStaysOpen,
		"a server that turned read-only rejects and is left":            readOnlyServerIsLeft,
		"the wrapper of connections hides none of their methods":        wrapperHidesNothing,
		"a connection that cannot name its server is not used":          namelessConnectionIsNotUsed,
		"connections that died idle are found out before use":           deadIdleConnectionsAreFoundOut,
	} {
		t.Run(name, func(t *testing.T) { test(t, server) })
	}
	t.Run("after a failover the node header names the new server at once", func(t *testing.T) {
		nodeFollowsTheConnection(t, server, f.Start(t, "next"))
	})
}

func lostAnswerStaysOpen(t *testing.T, server *familytest.Server) {
	relay, endpoint := startRelay(t, server)
	a := openStore(t, server, endpoint, family.QuestionHostname, nil)
	warm(t, a.WritePool())
	relay.swallow.Store(true)
	r := a.register(100)
	if r.err == nil || r.rejected != "" || r.node != "" {
		t.Fatalf("answered %+v: whether the server committed is not known, so it must not be called rejected", r)
	}
	relay.swallow.Store(false)
	if n := count(t, server, "write_id = 100"); n != 1 { // it did commit
		t.Fatalf("%d rows", n)
	}
	// A second delivery would have failed on the write id. Without one it would be a second row.
	relay.swallow.Store(true)
	before := count(t, server, "write_id IS NULL")
	a.register(0)
	if n := count(t, server, "write_id IS NULL"); n != before+1 {
		t.Fatalf("one request made %d rows", n-before)
	}
}

func hangingServerStaysOpen(t *testing.T, server *familytest.Server) {
	a := openStore(t, server, server.Endpoint(), family.QuestionHostname, func(c *wire.SocialConfig) { c.RequestTimeoutMilliseconds = 1_000 })
	takesWrites := func(id uint64) {
		t.Helper()
		await(t, "a write in time", func() bool { id++; return a.register(id).err == nil })
	}
	takesWrites(10_000)
	halt.Process(t, server.Process().Pid)
	r := a.register(200)
	signal(t, server, syscall.SIGCONT)
	if !errors.Is(r.err, context.DeadlineExceeded) || r.rejected != "" || r.node != "" {
		t.Fatalf("answered %+v", r)
	}
	takesWrites(20_000) // now that the server goes on
	if n := count(t, server, "write_id = 200"); n > 1 {
		t.Fatalf("one write made %d rows", n)
	}
}

func signal(t *testing.T, server *familytest.Server, s syscall.Signal) {
	t.Helper()
	if err := server.Process().Signal(s); err != nil {
		t.Fatal(err)
	}
}

func lockWaitIsRejected(t *testing.T, server *familytest.Server) {
	server.Exec("SET GLOBAL innodb_lock_wait_timeout=1")
	defer server.Exec("SET GLOBAL innodb_lock_wait_timeout=50")
	tx := begin(t, server, "INSERT INTO users (write_id, first_name, last_name, password) VALUES (300, '', '', '')")
	defer func() { _ = tx.Rollback() }()
	a := openStore(t, server, server.Endpoint(), family.QuestionHostname, nil)
	r := a.register(300) // waits for the same write id
	if r.rejected != wire.RejectedDeadlock || r.node == "" {
		t.Fatalf("answered %+v", r)
	}
	_ = tx.Rollback()
	if n := count(t, server, "write_id = 300"); n != 0 {
		t.Fatalf("a rejected write has %d rows", n)
	}
}

// Two transactions that hold a gap next to each other's key: when the second inserts, InnoDB ends the one that weighs
// less, which is the app's lone INSERT.
func deadlockIsRejected(t *testing.T, server *familytest.Server) {
	tx := begin(t, server, "INSERT INTO users (write_id, first_name, last_name, password) VALUES (401, '', '', ''), (410, '', '', ''), (411, '', '', '')")
	defer func() { _ = tx.Rollback() }()
	a := openStore(t, server, server.Endpoint(), family.QuestionHostname, nil)
	if _, err := tx.Exec("SELECT id FROM users WHERE last_name = 'Stone' FOR UPDATE"); err != nil { // blocks the app's INSERT in the index name
		t.Fatal(err)
	}
	answered := make(chan outcome, 1)
	go func() { answered <- a.register(400) }()
	awaitLockWait(t, server)
	_, txErr := tx.Exec("SELECT id FROM users FOR UPDATE") // wants the row that the app's INSERT holds
	_ = tx.Rollback()
	r := <-answered
	if txErr != nil {
		t.Fatalf("the server ended the other transaction: %v; the app got %+v", txErr, r)
	}
	if r.rejected != wire.RejectedDeadlock {
		t.Fatalf("answered %+v", r)
	}
	if n := count(t, server, "write_id = 400"); n != 0 {
		t.Fatalf("a rejected write has %d rows", n)
	}
}

func begin(t *testing.T, server *familytest.Server, statement string) *sql.Tx {
	t.Helper()
	tx, err := server.DB(wire.AccountAdmin, wire.Database).Begin()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(statement); err != nil {
		t.Fatal(err)
	}
	return tx
}

func awaitLockWait(t *testing.T, server *familytest.Server) {
	t.Helper()
	db := server.DB(wire.AccountAdmin, "")
	await(t, "the app's INSERT waits for a lock", func() bool {
		// MariaDB answers from a copy, which it makes anew only when nobody has asked for 0.1 s.
		time.Sleep(150 * time.Millisecond)
		var n int
		if err := db.QueryRow(server.Flavor.LockWaitSQL).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n > 0
	})
}

func await(t *testing.T, what string, reached func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(time.Minute)
	for !reached() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("not within a minute: %s", what)
		}
	}
}
