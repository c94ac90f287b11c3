package postgres_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/postgres"
	"replab.dev/internal/engine/postgres/postgrestest"
	"replab.dev/internal/wire"
)

// remoteOf watches a server by its address alone.
func remoteOf(t *testing.T, s *postgrestest.Server) engine.RemoteClient {
	t.Helper()
	c := postgres.Server{}.RemoteClient(wire.Endpoint{Host: postgrestest.Host, Port: s.Port}, wire.AccountAdmin, postgrestest.Password)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestAServerIsWatchedByItsAddress(t *testing.T) {
	s := postgrestest.Start(t, "a-db-0")
	standby := s.Standby("a-db-1")
	c := remoteOf(t, s)
	run, p, err := c.RunAndPosition(t.Context())
	if err != nil || run == "" || !p.Writable || p.Timeline != 1 || p.Written == 0 {
		t.Errorf("the writer is told as run %q at %+v, %v", run, p, err)
	}
	if other, p, err := remoteOf(t, standby).RunAndPosition(t.Context()); err != nil || other == run || p.Writable || !p.Streaming {
		t.Errorf("the standby of run %q is told as run %q at %+v, %v", run, other, p, err)
	}
	again, _, err := c.RunAndPosition(t.Context())
	if err != nil || again != run {
		t.Errorf("the same run is told as %q and then %q, %v", run, again, err)
	}
	s.Kill()
	var gone error
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) { // between two looks
		if _, _, gone = c.RunAndPosition(t.Context()); errors.Is(gone, engine.ErrNoServer) { // the connection breaks first
			break
		}
	}
	if !errors.Is(gone, engine.ErrNoServer) {
		t.Errorf("of a server that is gone it says %v", gone)
	}
	s.Run()
	if next, _, err := c.RunAndPosition(t.Context()); err != nil || next == run {
		t.Errorf("a server that was started anew is told as run %q as before, %v", next, err)
	}
}

// TestAServerIsFurnishedOnce, whatever of it was done before.
func TestAServerIsFurnishedOnce(t *testing.T) {
	s := postgrestest.Start(t, "a-db-0")
	admin := s.Connect(wire.AccountAdmin, "postgres")
	password := func(string) (string, error) { return postgrestest.Password, nil }
	c := remoteOf(t, s)
	for name, before := range map[string][]string{
		"all of it is there": nil,
		"nothing is there": {
			"DROP DATABASE " + wire.Database, "DROP ROLE " + wire.AccountApp, "DROP ROLE " + wire.AccountProbe, "DROP ROLE " + wire.AccountMonitor,
		},
		"half of it is there":     {"DROP DATABASE " + wire.Database, "DROP ROLE " + wire.AccountMonitor},
		"a database that is bare": {"DROP DATABASE " + wire.Database, "CREATE DATABASE " + wire.Database + " OWNER " + wire.AccountApp},
	} {
		for _, statement := range before {
			if _, err := admin.Exec(t.Context(), statement); err != nil {
				t.Fatalf("%s: %s: %v", name, statement, err)
			}
		}
		if err := c.Furnish(t.Context(), password); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		app := s.Connect(wire.AccountApp, wire.Database)
		var node string
		_, err := app.Exec(t.Context(), "INSERT INTO users (first_name, last_name, password) VALUES ('a', 'b', 'c')")
		if asked := app.QueryRow(t.Context(), "SELECT replab_node()").Scan(&node); err != nil || asked != nil || node != "a-db-0" {
			t.Errorf("%s: the app's account has no use of it: %v, %v, %q", name, err, asked, node)
		}
		_ = app.Close(t.Context())
		probe := s.Connect(wire.AccountProbe, wire.Database)
		if _, err := probe.Exec(t.Context(), "SELECT count(*) FROM pg_stat_replication"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		_ = probe.Close(t.Context())
	}
}

// dropAccounts drops the app's database and its accounts, so that they can be made again.
func dropAccounts(t *testing.T, s *postgrestest.Server) {
	t.Helper()
	admin := s.Connect(wire.AccountAdmin, "postgres")
	for _, statement := range []string{
		"DROP DATABASE " + wire.Database, "DROP ROLE " + wire.AccountApp, "DROP ROLE " + wire.AccountProbe, "DROP ROLE " + wire.AccountMonitor,
	} {
		if _, err := admin.Exec(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// TestPasswordsStandInNoLog, whatever an experiment has the server log: neither by the statements for psql, nor by those of an agent.
func TestPasswordsStandInNoLog(t *testing.T) {
	s := postgrestest.Start(t, "a-db-0", postgrestest.Parameter("log_statement", "all"), postgrestest.Parameter("log_min_duration_statement", "0"),
		postgrestest.Parameter("log_min_duration_sample", "0"), postgrestest.Parameter("log_transaction_sample_rate", "1"),
		postgrestest.Parameter("debug_print_parse", "on"))
	dropAccounts(t, s)
	s.AddAccounts()
	dropAccounts(t, s)
	const secret = "a-secret-of-the-accounts"
	if err := remoteOf(t, s).Furnish(t.Context(), func(string) (string, error) { return secret, nil }); err != nil {
		t.Fatal(err)
	}
	s.Stop()
	log := s.Log()
	for _, words := range []string{"CREATE TABLE users", "DROP ROLE " + wire.AccountApp} { // the server does log
		if !strings.Contains(log, words) {
			t.Errorf("the log has no %q:\n%s", words, log)
		}
	}
	for _, words := range []string{secret, postgrestest.Password, "CREATE ROLE " + wire.AccountApp, "CREATE ROLE " + wire.AccountProbe, "CREATE ROLE " + wire.AccountMonitor} {
		if strings.Contains(log, words) {
			t.Errorf("the log has %q:\n%s", words, log)
		}
	}
}
