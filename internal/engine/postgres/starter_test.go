package postgres_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/postgres"
	"replab.dev/internal/engine/postgres/postgrestest"
	"replab.dev/internal/wire"
)

// TestAServerAloneHoldsItsRowsAndChangesNone of one that took writes, and of one that followed.
func TestAServerAloneHoldsItsRowsAndChangesNone(t *testing.T) {
	primary := postgrestest.Start(t, "a-db-0")
	standby := primary.Standby("a-db-1")
	primary.Exec("INSERT INTO probe_writes VALUES (7, 'x')")
	standby.CatchUp(primary)
	for _, s := range []*postgrestest.Server{primary, standby} {
		s.Kill()
		conn := alone(t, s)
		var row int64
		if err := conn.QueryRow(t.Context(), "SELECT id FROM probe_writes").Scan(&row); err != nil || row != 7 {
			t.Errorf("%s alone has row %d, %v", s.Name, row, err)
		}
		if _, err := conn.Exec(t.Context(), "INSERT INTO probe_writes VALUES (8, 'x')"); err == nil {
			t.Errorf("%s alone takes writes", s.Name)
		}
		var walsenders, receivers int
		var listens string
		err := conn.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM pg_stat_replication), (SELECT count(*) FROM pg_stat_wal_receiver),
			current_setting('listen_addresses')`).Scan(&walsenders, &receivers, &listens)
		if err != nil || walsenders+receivers != 0 || listens != "" {
			t.Errorf("%s alone has %d walsenders, %d receivers and listens at %q, %v", s.Name, walsenders, receivers, listens, err)
		}
	}
}

// TestAServerAloneKeepsItsLog, without older parts of which nothing could be taken back.
func TestAServerAloneKeepsItsLog(t *testing.T) {
	server := postgrestest.Start(t, "a-db-0")
	for i := range 4 {
		server.Exec(fmt.Sprintf("INSERT INTO probe_writes VALUES (%d, 'x'); SELECT pg_switch_wal()", i))
	}
	server.Kill()
	segments, err := filepath.Glob(filepath.Join(server.Data(), "pg_wal", "0000000100000000*"))
	if err != nil || len(segments) < 4 {
		t.Fatalf("its log has %q, %v", segments, err)
	}
	conn := alone(t, server)
	if _, err := conn.Exec(t.Context(), "CHECKPOINT"); err != nil { // as at its end
		t.Fatal(err)
	}
	for _, segment := range segments {
		if _, err := os.Stat(segment); err != nil {
			t.Error(err)
		}
	}
}

// alone runs a killed server alone until the test ends, and returns a session of its administrator.
func alone(t *testing.T, s *postgrestest.Server) *pgx.Conn {
	t.Helper()
	start := postgres.Server{}.Alone([]string{"postgres", "-D", s.Data()}, engine.StartParams{Socket: filepath.Join(s.Dir, "any.sock")})
	for _, file := range start.Remove {
		_ = os.Remove(file)
	}
	cmd := postgrestest.Command(t, start.Argv[0], start.Argv[1:]...)
	run(t, cmd)
	deadline := time.Now().Add(time.Minute)
	for {
		conn, err := pgx.Connect(t.Context(), fmt.Sprintf("host=%s port=5433 user=%s dbname=%s", s.Dir, wire.AccountAdmin, wire.Database))
		if err == nil {
			t.Cleanup(func() { _ = conn.Close(context.Background()) })
			if argv := arguments(t, cmd.Process.Pid); (postgres.Server{}).IsServer([]string{"postgres", "-D", s.Data()}, argv) {
				t.Errorf("the server alone is taken for one in its place: %q", argv)
			}
			return conn
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s alone does not answer: %v", s.Name, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// run starts a program that ends with the test.
func run(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	started, ended := make(chan error, 1), make(chan struct{})
	go func() { // it goes with the thread that forks: keep that
		runtime.LockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait()
		}
		close(ended)
	}()
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGQUIT)
		<-ended
	})
}

// arguments of a process.
func arguments(t *testing.T, pid int) []string {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimRight(string(text), "\x00"), "\x00")
}

func TestTheServerIsKnownByItsArguments(t *testing.T) {
	server := postgrestest.Start(t, "a-db-0")
	argv := []string{"postgres", "-D", server.Data()}
	pids := server.Processes()
	if got := arguments(t, pids[0]); !(postgres.Server{}).IsServer(argv, got) {
		t.Errorf("the server is not known: %q", got)
	}
	for _, pid := range pids[1:] {
		got := arguments(t, pid)
		for i := 0; i < 100 && (postgres.Server{}).IsServer(argv, got); i++ { // one that was just forked has its parent's arguments for a moment
			time.Sleep(10 * time.Millisecond)
			got = arguments(t, pid)
		}
		if (postgres.Server{}).IsServer(argv, got) {
			t.Errorf("a part of the server is taken for it: %q", got)
		}
	}
	patroni := []string{"/usr/lib/postgresql/17/bin/postgres", "-D", server.Data(), "--config-file=/x", "--port=5432"}
	if !(postgres.Server{}).IsServer(argv, patroni) {
		t.Errorf("the server is not known as Patroni starts it: %q", patroni)
	}
	for _, other := range [][]string{
		{},
		{"postgres"},
		{"postgres", "-D", server.Data() + "2"},
		{"pg_rewind", "-D", server.Data()},
		{"postgres", "--single", "-D", server.Data()},
		slices.Concat(patroni, []string{"-C", "data_directory"}),
		{"postgres", "-D", server.Data(), "-c", "cluster_name=replab-alone"},
	} {
		if (postgres.Server{}).IsServer(argv, other) {
			t.Errorf("%q is taken for the server", other)
		}
	}
}
