package postgrestest_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"replab.dev/internal/engine/postgres/postgrestest"
	"replab.dev/internal/wire"
)

func TestAStandbyHasWhatItsPrimaryHas(t *testing.T) {
	primary := postgrestest.Start(t, "a-db-0")
	standby := primary.Standby("a-db-1")
	insert(t, primary.Connect(wire.AccountApp, wire.Database), 7)
	standby.CatchUp(primary)
	for _, s := range []*postgrestest.Server{primary, standby} {
		conn := s.Connect(wire.AccountProbe, wire.Database)
		if got := ask[int64](t, conn, "SELECT write_id FROM users"); got != 7 {
			t.Errorf("%s has write %d, want 7", s.Name, got)
		}
		if got := ask[string](t, conn, "SELECT replab_node()"); got != s.Name {
			t.Errorf("%s takes itself for %s", s.Name, got)
		}
	}
	if got := ask[string](t, primary.Connect(wire.AccountAdmin, "postgres"), "SELECT application_name FROM pg_stat_replication"); got != standby.Name {
		t.Errorf("the primary knows its standby as %s", got)
	}

	primary.Kill()
	standby.Promote()
	insert(t, standby.Connect(wire.AccountApp, wire.Database), 8)
}

func TestAKilledServerLeavesNothingButItsData(t *testing.T) {
	server := postgrestest.Start(t, "a-db-0")
	insert(t, server.Connect(wire.AccountApp, wire.Database), 7)
	pids := server.Processes()
	if len(pids) < 2 {
		t.Fatalf("the server consists of %d processes", len(pids))
	}
	server.Kill()
	for _, pid := range pids {
		state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err == nil && !strings.Contains(string(state), ") Z ") {
			t.Errorf("process %d of the server is left: %s", pid, state)
		}
	}
	server.Run("cluster_name = 'again'")
	conn := server.Connect(wire.AccountApp, wire.Database)
	if got := ask[int64](t, conn, "SELECT write_id FROM users"); got != 7 {
		t.Errorf("the server came back with write %d, want 7", got)
	}
	if got := ask[string](t, conn, "SHOW cluster_name"); got != "again" {
		t.Errorf("the lines of this start are not in its configuration: cluster_name is %q", got)
	}
	server.Stop()
	server.Run()
}

func TestProgramsOfTheImageSeeFoldersOfTests(t *testing.T) {
	server := postgrestest.Start(t, "a-db-0")
	server.Stop()
	out, err := postgrestest.Command(t, "pg_controldata", "-D", server.Data()).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

func insert(t *testing.T, conn *pgx.Conn, writeID int64) {
	t.Helper()
	_, err := conn.Exec(t.Context(), "INSERT INTO users (write_id, first_name, last_name, password) VALUES ($1, 'a', 'b', 'c')", writeID)
	if err != nil {
		t.Fatal(err)
	}
}

func ask[T any](t *testing.T, conn *pgx.Conn, query string) (value T) {
	t.Helper()
	if err := conn.QueryRow(t.Context(), query).Scan(&value); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return value
}
