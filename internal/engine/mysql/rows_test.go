package mysql_test

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/mysql"
	"replab.dev/internal/engine/mysql/mysqltest"
	"replab.dev/internal/wire"
)

// TestAServerAloneIsRead after it was killed, by a server that knows no groups: what it would not know of a member's is made loose.
func TestAServerAloneIsRead(t *testing.T) {
	t.Run("that is no member", func(t *testing.T) { readsAlone(t, mysqltest.Start(t, "node"), ":1") })
	t.Run("with a member's settings", func(t *testing.T) {
		s, _ := startMember(t)
		readsAlone(t, s, "")
	})
}

// readsAlone kills a server and reads it alone. executed is in its set of GTIDs; without it there are none.
func readsAlone(t *testing.T, s *mysqltest.Server, executed string) {
	t.Helper()
	s.Open()
	s.Exec("INSERT INTO social.probe_writes VALUES (1, 'x'), (3, 'x')")
	s.Kill()
	argv, _ := s.Command()
	socket := filepath.Join(filepath.Dir(s.Socket), "alone.sock")
	start := mysql.Server{}.Alone(argv, engine.StartParams{Socket: socket})
	i := slices.Index(start.Argv, "--wsrep-provider=none")
	if i < 0 {
		t.Fatalf("alone it is started with the library: %q", start.Argv)
	}
	start.Argv[i] = "--loose-wsrep-provider=none"
	var log bytes.Buffer
	cmd := exec.Command(start.Argv[0], start.Argv[1:]...)
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		_ = cmd.Wait()
		if t.Failed() {
			t.Log(log.String())
		}
	}()
	rows := openRows(t, socket)
	defer rows.Close()
	var ids []uint64
	err := rows.IDs(t.Context(), wire.ProbeTable, "id", func(id uint64, _ bool) error {
		ids = append(ids, id)
		return nil
	})
	if err != nil || !slices.Equal(ids, []uint64{1, 3}) {
		t.Errorf("read %v, %v", ids, err)
	}
	if n, err := rows.Count(t.Context(), wire.ProbeTable); err != nil || n != 2 {
		t.Errorf("counted %d, %v", n, err)
	}
	if set, err := rows.Executed(t.Context()); err != nil || (set == "") != (executed == "") || !strings.Contains(set, executed) {
		t.Errorf("executed %q, %v, want %q", set, err, executed)
	}
	if s.DB(wire.AccountAdmin, "").Ping() == nil {
		t.Error("a server that runs alone listens to the network")
	}
}

func openRows(t *testing.T, socket string) engine.Rows {
	t.Helper()
	var err error
	for range 1200 {
		var rows engine.Rows
		if rows, err = (mysql.Server{}).OpenRows(t.Context(), socket, mysqltest.Password); err == nil {
			return rows
		}
		time.Sleep(50 * time.Millisecond) // between two tries
	}
	t.Fatal(err)
	return nil
}
