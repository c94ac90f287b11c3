package postgres_test

import (
	"context"
	"syscall"
	"testing"
	"time"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/postgres"
	"replab.dev/internal/engine/postgres/postgrestest"
	"replab.dev/internal/wire"
	"replab.dev/test/halt"
)

// clientOf is the agent's of a server.
func clientOf(t *testing.T, s *postgrestest.Server) engine.Client {
	t.Helper()
	c, err := postgres.Server{}.Client(s.Socket, postgrestest.Password)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func position(t *testing.T, c engine.Client) engine.ServerPosition {
	t.Helper()
	p, err := c.(engine.Positioned).Position(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func writable(t *testing.T, c engine.Client) bool {
	t.Helper()
	is, err := c.Writable(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return is
}

func replication(t *testing.T, c engine.Client) engine.Replication {
	t.Helper()
	r, err := c.Replication(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestTheAgentKnowsAWriterAndItsStandby(t *testing.T) {
	first := postgrestest.Start(t, "a-db-0", postgrestest.Parameter("autovacuum", "off"))
	second := first.Standby("a-db-1")
	first.Exec("INSERT INTO probe_writes VALUES (1, 'x')")
	second.CatchUp(first)
	writer, standby := clientOf(t, first), clientOf(t, second)

	if !writable(t, writer) || replication(t, writer) != (engine.Replication{}) {
		t.Error("the writer is none")
	}
	if writable(t, standby) || !replication(t, standby).Applies {
		t.Error("the standby is none")
	}
	w, s := position(t, writer), position(t, standby)
	if !w.Writable || w.Timeline != 1 || w.Written == 0 || w.Received != 0 || w.Applied != 0 || w.Streaming || w.Upstream != "" || w.Waits {
		t.Errorf("the writer is at %+v", w)
	}
	if s.Writable || s.Timeline != 1 || s.Written != 0 || s.Applied == 0 || s.Applied > s.Received || !s.Streaming || s.Upstream == "" {
		t.Errorf("the standby is at %+v", s)
	}
	first.Exec("INSERT INTO probe_writes VALUES (2, 'x')")
	if now := position(t, writer); now.Written <= w.Written {
		t.Errorf("after a write the writer is at %d, and before it was at %d", now.Written, w.Written)
	}

	second.Exec("SELECT pg_wal_replay_pause()")
	await(t, second, "SELECT pg_get_wal_replay_pause_state() = 'paused'")
	if r := replication(t, standby); r.Applies || r.LastError == "" {
		t.Errorf("while its replay is paused the standby says %+v", r)
	}
	second.Exec("SELECT pg_wal_replay_resume()")

	first.Kill()
	if _, err := writer.Writable(t.Context()); err == nil {
		t.Error("a server that is gone answers")
	}
	second.Promote()
	if p := position(t, standby); !p.Writable || p.Timeline != 2 || p.Written < s.Received || p.Streaming {
		t.Errorf("the promoted one is at %+v", p)
	}
	first.Run()
	if !writable(t, writer) { // by another connection
		t.Error("the server that was started again takes no writes")
	}
}

func TestAServerThatHasCommitsWait(t *testing.T) {
	server := postgrestest.Start(t, "a-db-0")
	c := clientOf(t, server)
	if p := position(t, c); p.Waits {
		t.Errorf("before anybody is named it is at %+v", p)
	}
	awaitsNobody(t, server)
	becomes(t, "its commits wait", func() bool { return position(t, c).Waits })
	server.Exec("ALTER SYSTEM SET default_transaction_read_only = on")
	server.Exec("SELECT pg_reload_conf()")
	becomes(t, "it takes no writes", func() bool { return !writable(t, c) })
	becomes(t, "it takes none by its position", func() bool { p := position(t, c); return !p.Writable && p.Written > 0 })
}

func TestAQuestionThatIsNotAnsweredEndsWithItsContext(t *testing.T) {
	server := postgrestest.Start(t, "a-db-0")
	c := clientOf(t, server)
	before := position(t, c) // it is connected
	for _, pid := range server.Processes() {
		halt.Process(t, pid)
		t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGCONT) })
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if p, err := c.(engine.Positioned).Position(ctx); err == nil {
		t.Errorf("a server that is stopped is at %+v, and was at %+v", p, before)
	}
}

func TestNoQuestionWaitsForAnother(t *testing.T) {
	server := postgrestest.Start(t, "a-db-0")
	c := clientOf(t, server)
	position(t, c) // it is connected
	var pid int
	const asked = "SELECT pid FROM pg_stat_activity WHERE application_name = 'replab-agent'"
	if err := server.Connect(wire.AccountAdmin, "postgres").QueryRow(t.Context(), asked).Scan(&pid); err != nil {
		t.Fatal(err)
	}
	halt.Process(t, pid)
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGCONT) })
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := c.(engine.Positioned).Position(ctx)
		ended <- err
	}()
	if !writable(t, c) || replication(t, c) != (engine.Replication{}) {
		t.Error("the writer is none")
	}
	select {
	case err := <-ended:
		t.Errorf("where it is was asked and answered: %v", err)
	default:
	}
	cancel()
	if err := <-ended; err == nil {
		t.Error("a session that is stopped answers")
	}
}

func TestASocketWithoutAPortIsRefused(t *testing.T) {
	if _, err := (postgres.Server{}).Client("/run/replab/mysqld.sock", ""); err == nil {
		t.Error("no error")
	}
}

// becomes waits until something is so.
func becomes(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !is(); time.Sleep(10 * time.Millisecond) { // between two looks
		if time.Now().After(deadline) {
			t.Fatalf("not so within a minute: %s", what)
		}
	}
}
