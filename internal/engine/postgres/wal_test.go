package postgres_test

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/postgres"
	"replab.dev/internal/engine/postgres/postgrestest"
	"replab.dev/internal/wire"
	"replab.dev/test/halt"
)

// programs of the servers' image.
func programs(t *testing.T) postgres.Log {
	return postgres.Tools(func(_ context.Context, program string, arguments ...string) *exec.Cmd {
		cmd := postgrestest.Command(t, program, arguments...)
		cmd.Env = append(cmd.Env, "LC_ALL=C", "PGPASSWORD="+postgrestest.Password)
		return cmd
	})
}

func sourceOf(s *postgrestest.Server) string {
	return fmt.Sprintf("host=%s port=%d user=%s dbname=postgres sslmode=prefer", s.Endpoint().Host, s.Port, wire.AccountAdmin)
}

// cutOff stops a server from sending its log to anybody.
func cutOff(t *testing.T, s *postgrestest.Server) {
	t.Helper()
	stopped := 0
	for _, pid := range s.Processes() {
		if strings.Contains(strings.Join(arguments(t, pid), " "), "walsender") {
			halt.Process(t, pid)
			stopped++
		}
	}
	if stopped == 0 {
		t.Fatalf("%s sends its log to nobody", s.Name)
	}
}

// TestRowsAndCommitsThatNobodyElseHasAgree of a primary that died after its standby was cut off.
func TestRowsAndCommitsThatNobodyElseHasAgree(t *testing.T) {
	primary := postgrestest.Start(t, "a-db-0")
	standby := primary.Standby("a-db-1")
	writeRows(primary, "1", "2")
	primary.Exec("INSERT INTO probe_writes VALUES (1, 'x')")
	open, err := primary.Connect(wire.AccountApp, wire.Database).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := open.Exec(t.Context(), "INSERT INTO users (write_id, first_name, last_name, password) VALUES (10, 'a', 'b', 'c')"); err != nil {
		t.Fatal(err)
	}
	writeRows(primary, "3") // flushes what was written before
	primary.Exec("SELECT pg_switch_wal()")
	standby.CatchUp(primary)
	cutOff(t, primary)

	if err := open.Commit(t.Context()); err != nil { // its row was written before the fork, in another file
		t.Fatal(err)
	}
	writeRows(primary, "11", "12")
	primary.Exec("INSERT INTO probe_writes VALUES (2, 'x')")
	primary.Exec(`BEGIN; INSERT INTO probe_writes VALUES (3, 'x'); SAVEPOINT s;
INSERT INTO users (write_id, first_name, last_name, password) SELECT i, 'a', 'b', 'c' FROM generate_series(20, 29) i; RELEASE s; COMMIT`)
	primary.Exec("BEGIN; INSERT INTO users (write_id, first_name, last_name, password) VALUES (99, 'a', 'b', 'c'); ROLLBACK")
	primary.Exec("CREATE TABLE other (i int); INSERT INTO other VALUES (1)")
	primary.Exec("UPDATE users SET city = 'x' WHERE write_id = 1")
	primary.Kill()
	standby.Promote()

	log := programs(t)
	fork, err := log.Fork(t.Context(), primary.Data(), sourceOf(standby))
	if err != nil || fork.Timeline != 1 || fork.NewTimeline != 2 {
		t.Fatalf("%+v, %v", fork, err)
	}
	found, err := log.Commits(t.Context(), primary.Data(), fork)
	if err != nil {
		t.Fatal(err)
	}
	alone(t, primary)
	socket := filepath.Join(primary.Dir, "any.sock")
	files, err := postgres.Server{}.Tables(t.Context(), socket, postgrestest.Password, wire.UsersTable, wire.ProbeTable)
	if err != nil {
		t.Fatal(err)
	}
	// Statements in one message are one transaction: the table and its row came together.
	got := []int64{found.Inserted[files[wire.UsersTable]], found.Inserted[files[wire.ProbeTable]]}
	if !slices.Equal(got, []int64{4, 2}) || found.All < 7 {
		t.Errorf("commits to users and to probe_writes: %v of %+v; files %v", got, found, files)
	}
	ids, rows := heldBy(t, socket)
	if want := []uint64{1, 2, 3, 10, 11, 12, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29}; !slices.Equal(ids, want) || rows != int64(len(want)) {
		t.Errorf("it holds %v of %d rows, want %v", ids, rows, want)
	}
	if c := read(t, standby); !slices.Equal(c.ids, []uint64{1, 2, 3}) {
		t.Errorf("the other one has %v", c.ids)
	}

	// The other way round nothing is to be taken back: it began where the other one ended.
	standby.Stop()
	back, err := log.Commits(t.Context(), standby.Data(), engine.Fork{Timeline: 2, Position: "0/FF000000"})
	if err == nil {
		t.Errorf("of a position behind the log's end: %+v", back)
	}
}

// TestNothingIsTakenBackOfAServerThatStoppedInOrder, whose standby had all of it.
func TestNothingIsTakenBackOfAServerThatStoppedInOrder(t *testing.T) {
	primary := postgrestest.Start(t, "a-db-0")
	standby := primary.Standby("a-db-1")
	writeRows(primary, "1", "2")
	standby.CatchUp(primary)
	primary.Stop()
	standby.Promote()
	log := programs(t)
	fork, err := log.Fork(t.Context(), primary.Data(), sourceOf(standby))
	if err != nil {
		t.Fatal(err)
	}
	if found, err := log.Commits(t.Context(), primary.Data(), fork); err != nil || found.All != 0 || len(found.Inserted) != 0 || found.End == "" {
		t.Errorf("%+v, %v", found, err)
	}
	if other, err := log.Fork(t.Context(), primary.Data(), sourceOf(standby)+" user=nobody"); err == nil {
		t.Errorf("of a server that lets nobody in: %+v", other)
	}
}

// heldBy reads a server that runs alone.
func heldBy(t *testing.T, socket string) (ids []uint64, rows int64) {
	t.Helper()
	held, err := postgres.Server{}.OpenRows(t.Context(), socket, postgrestest.Password)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	err = held.IDs(t.Context(), wire.UsersTable, "write_id", func(id uint64, _ bool) error {
		ids = append(ids, id)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(ids)
	if rows, err = held.Count(t.Context(), wire.UsersTable); err != nil {
		t.Fatal(err)
	}
	if where, err := held.Executed(t.Context()); err != nil || !strings.HasPrefix(where, "1:0/") {
		t.Errorf("it has come to %q, %v", where, err)
	}
	return ids, rows
}

// TestRowsOfAStandbyThatRunsAlone, whose primary is elsewhere.
func TestRowsOfAStandbyThatRunsAlone(t *testing.T) {
	primary := postgrestest.Start(t, "a-db-0")
	standby := primary.Standby("a-db-1")
	writeRows(primary, "5", "6")
	standby.CatchUp(primary)
	standby.Kill()
	alone(t, standby)
	if ids, rows := heldBy(t, filepath.Join(standby.Dir, "any.sock")); rows != 2 || cmp.Diff([]uint64{5, 6}, ids) != "" {
		t.Errorf("it holds %v of %d rows", ids, rows)
	}
}
