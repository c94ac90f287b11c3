package rewind_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"replab.dev/internal/engine/postgres"
	"replab.dev/internal/engine/postgres/patronitest"
	"replab.dev/internal/engine/postgres/postgrestest"
	"replab.dev/internal/wire"
)

// giveAway has another process of the server's user bear the pid that a killed server has left in its data, as it may be in a new pod.
func giveAway(t *testing.T, n *patronitest.Node) {
	t.Helper()
	other := postgrestest.Command(t, "sleep", "600")
	other.SysProcAttr = nil
	must(t, other.Start())
	t.Cleanup(func() {
		_ = other.Process.Kill()
		_ = other.Wait()
	})
	await(t, "it is the server's user's", func() bool {
		name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", other.Process.Pid))
		return err == nil && string(name) == "sleep\n"
	})
	file := filepath.Join(n.DataDir, "postmaster.pid")
	text, err := os.ReadFile(file)
	must(t, err)
	_, rest, _ := strings.Cut(string(text), "\n")
	must(t, os.WriteFile(file, fmt.Appendf(nil, "%d\n%s", other.Process.Pid, rest), 0o600))
}

func insert(t *testing.T, n *patronitest.Node, id int) error {
	return exec(t, n, fmt.Sprintf("INSERT INTO users (write_id, first_name, last_name, password) VALUES (%d, 'a', 'b', 'c')", id))
}

func exec(t *testing.T, n *patronitest.Node, statement string) error {
	t.Helper()
	conn, err := dial(t, n)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.Background()) }()
	_, err = conn.Exec(t.Context(), statement)
	return err
}

// ids are those of users on a node, nil while it does not answer.
func ids(t *testing.T, n *patronitest.Node) []uint64 {
	t.Helper()
	conn, err := dial(t, n)
	if err != nil {
		return nil
	}
	defer func() { _ = conn.Close(context.Background()) }()
	rows, err := conn.Query(t.Context(), "SELECT write_id FROM users ORDER BY 1")
	if err != nil {
		return nil
	}
	found, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil
	}
	list := []uint64{}
	for _, id := range found {
		list = append(list, uint64(id))
	}
	return list
}

func dial(t *testing.T, n *patronitest.Node) (*pgx.Conn, error) {
	t.Helper()
	return pgx.Connect(t.Context(), fmt.Sprintf("host=%s port=%d user=%s password=%s dbname=%s sslmode=disable connect_timeout=5",
		n.Address, postgres.Port, wire.AccountApp, postgrestest.Password, wire.Database))
}

func await(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !is(); time.Sleep(50 * time.Millisecond) { // between two looks
		if time.Now().After(deadline) {
			t.Fatalf("not so within two minutes: %s", what)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
