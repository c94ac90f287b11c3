package postgres_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"replab.dev/internal/engine/postgres/postgrestest"
	"replab.dev/internal/wire"
)

// awaitsNobody makes the commits of a server wait for a standby that is not there. A setting reaches the server's processes one by one, and
// what it shows is known before commits wait: it has been seen that one did.
func awaitsNobody(t *testing.T, s *postgrestest.Server) {
	t.Helper()
	s.Exec("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
	s.Exec("SELECT pg_reload_conf()")
	conn := s.Connect(wire.AccountAdmin, wire.Database)
	waiting := fmt.Sprintf(" FROM pg_stat_activity WHERE pid = %d AND wait_event = 'SyncRep'", conn.PgConn().PID())
	var seen atomic.Bool
	ended := make(chan error, 1)
	go func() {
		var err error
		for err == nil && !seen.Load() {
			_, err = conn.Exec(context.WithoutCancel(t.Context()), "SELECT pg_logical_emit_message(true, '', '')") // leaves no row
		}
		ended <- err
	}()
	await(t, s, "SELECT count(*) = 1"+waiting)
	seen.Store(true)
	s.Exec("SELECT pg_cancel_backend(pid)" + waiting)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}

const (
	// hangs is true once a write of the store waits for a standby.
	hangs = "SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = 'replab-social' AND wait_event = 'SyncRep'"
	// ofHanging selects the server's processes that do.
	ofHanging = "(pid) FROM pg_stat_activity WHERE application_name = 'replab-social' AND wait_event = 'SyncRep'"
)

// TestAWriteThatIsNoLongerWaitedForIsOpen: whatever ends the wait for a standby, the row is committed here, and on no other node.
func TestAWriteThatIsNoLongerWaitedForIsOpen(t *testing.T) {
	server := postgrestest.Start(t, "a-db-0")
	awaitsNobody(t, server)
	s := openStore(t, server, 2)
	writeID := uint64(0)
	for name, c := range map[string]struct {
		end  func(giveUp func())
		node string
	}{
		"by a cancel":                {func(func()) { server.Exec("SELECT pg_cancel_backend" + ofHanging) }, "a-db-0"},
		"by an end of the process":   {func(func()) { server.Exec("SELECT pg_terminate_backend" + ofHanging) }, ""},
		"by who waits for an answer": {func(giveUp func()) { giveUp() }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			writeID++
			u := user("Stone")
			u.WriteID = &writeID
			ctx, giveUp := context.WithCancel(t.Context())
			defer giveUp()
			type answer struct{ node, outcome string }
			answered := make(chan answer, 1)
			go func() {
				_, node, err := s.Register(ctx, u)
				answered <- answer{node, outcomeOf(err)}
			}()
			await(t, server, hangs)
			c.end(giveUp)
			if got := <-answered; got != (answer{c.node, open}) {
				t.Errorf("answered %+v", got)
			}
			await(t, server, fmt.Sprintf("SELECT count(*) = 1 FROM users WHERE write_id = %d", writeID))
		})
	}
}

// TestNoTimeLimitEndsTheWaitForAStandby: statement_timeout ends when the commit begins.
func TestNoTimeLimitEndsTheWaitForAStandby(t *testing.T) {
	server := postgrestest.Start(t, "a-db-0")
	server.Exec("ALTER ROLE " + wire.AccountApp + " SET statement_timeout = '1s'")
	awaitsNobody(t, server)
	s := openStore(t, server, 1)
	answered := make(chan string, 1)
	go func() {
		_, o := s.registerWithin(time.Minute)
		answered <- o
	}()
	await(t, server, "SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = 'replab-social' AND wait_event = 'SyncRep' AND now() - query_start > '2s'")
	select {
	case o := <-answered:
		t.Errorf("answered %q", o)
	default:
	}
	server.Exec("SELECT pg_terminate_backend" + ofHanging)
	<-answered
}
