package postgres_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/postgres"
	"replab.dev/internal/engine/postgres/postgrestest"
)

// host names a server as a node's host that names a port.
func host(s *postgrestest.Server) string { return fmt.Sprintf("%s:%d", s.Endpoint().Host, s.Port) }

// counts samples a server.
func counts(t *testing.T, c *postgres.Counters) engine.Commits {
	t.Helper()
	found, err := c.Counts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func countersOf(t *testing.T, s *postgrestest.Server) *postgres.Counters {
	t.Helper()
	c, err := postgres.NewCounters(host(s), postgrestest.Password)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestCountersTellTransactionsThatHaveEndedAndWhetherTheyWait(t *testing.T) {
	server := postgrestest.Start(t, "a-db-0", postgrestest.Parameter("autovacuum", "off"))
	c, s := countersOf(t, server), openStore(t, server, 4)
	before := counts(t, c)
	if w := before.Waiting; !w.Degraded || w.Replica || w.SettingsSince.IsZero() {
		t.Errorf("without a standby to wait for: %+v", w)
	}
	register := func() {
		if _, _, err := s.Register(t.Context(), user("Stone")); err != nil {
			t.Error(err)
		}
	}
	for range 7 {
		register()
	}
	for range 3 { // reads are none
		_, _, _ = s.Profile(t.Context(), 1)
	}
	if after := counts(t, c); after.Transactions != before.Transactions+7 || !after.Waiting.SettingsSince.Equal(before.Waiting.SettingsSince) {
		t.Errorf("%d transactions are more than %d: %+v", after.Transactions, before.Transactions, after.Waiting)
	}
	awaitsNobody(t, server)
	since := counts(t, c)
	hanging := make(chan error, 1)
	go func() {
		_, _, err := s.Register(context.WithoutCancel(t.Context()), user("Stone"))
		hanging <- err
	}()
	await(t, server, hangs)
	server.Exec("SET synchronous_commit = local; INSERT INTO probe_writes VALUES (1, '')") // a later one, that has ended
	waits := counts(t, c)
	if waits.Transactions != since.Transactions+1 || waits.Waiting.Degraded || !slices.Equal(waits.Waiting.Standbys, []string{"nobody"}) || !waits.Waiting.SettingsSince.After(before.Waiting.SettingsSince) {
		t.Errorf("beside one that waits: %+v, %+v", waits, waits.Waiting)
	}
	server.Exec("SELECT pg_cancel_backend" + ofHanging)
	<-hanging
	if after := counts(t, c); after.Transactions != since.Transactions+2 {
		t.Errorf("%d transactions are more than %d once it has ended", after.Transactions, since.Transactions)
	}
	server.Kill()
	if _, err := c.Counts(t.Context()); err == nil {
		t.Error("a server that is gone answered")
	}
	server.Run()
	if again := counts(t, c); again.UpSeconds > waits.UpSeconds+60 || again.Transactions < since.Transactions+2 {
		t.Errorf("after a crash: %+v", again)
	}
}

func TestAStandbyCommitsNothing(t *testing.T) {
	primary := postgrestest.Start(t, "a-db-0")
	standby := primary.Standby("a-db-1")
	c := countersOf(t, standby)
	if found := counts(t, c); found.Waiting.Degraded || !found.Waiting.Replica || !found.Closed {
		t.Errorf("a standby: %+v, %+v", found, found.Waiting)
	}
	primary.Kill()
	standby.Promote()
	if found := counts(t, c); !found.Waiting.Degraded || found.Waiting.Replica || found.Closed {
		t.Errorf("once it is promoted: %+v, %+v", found, found.Waiting)
	}
}

func TestInspectorReadsWhatAServerRunsWith(t *testing.T) {
	server := postgrestest.Start(t, "a-db-0", postgrestest.Parameter("work_mem", "8192"))
	i := postgres.NewInspector(postgrestest.Password)
	found, err := i.Inspect(t.Context(), host(server), []string{"fsync", "shared_buffers", "work_mem", "system_identifier", "no_such_setting"})
	if err != nil {
		t.Fatal(err)
	}
	want := engine.Inspection{
		Identity: "a-db-0", Version: one[string](t, server, "SELECT 'PostgreSQL ' || split_part(current_setting('server_version'), ' ', 1)"),
		Settings: map[string]string{
			"fsync": "on", "shared_buffers": "32MB", "work_mem": "8MB", "system_identifier": one[string](t, server, "SELECT system_identifier::text FROM pg_control_system()"),
		},
	}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Error(diff)
	}
	for expected, same := range map[string]bool{"32MB": true, "4096": true, "4097": false, "32768kB": true} { // a plain number is of 8 kB
		if i.Same("shared_buffers", expected, found.Settings["shared_buffers"]) != same {
			t.Errorf("shared_buffers %s and 32MB: same is not %t", expected, same)
		}
	}
	if !i.Same("work_mem", "8192", "8MB") || i.Same("work_mem", "8MB", "16MB") || !i.Same("fsync", "true", "on") {
		t.Error("settings are compared otherwise than the server reads them")
	}
}
