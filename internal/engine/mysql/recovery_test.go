package mysql_test

import (
	"bytes"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"replab.dev/internal/engine/mysql"
	"replab.dev/internal/engine/mysql/mysqltest"
	"replab.dev/internal/wire"
)

// TestAServerTellsThatItsDataWereNotClosed: by that a note of its position is believed or not.
func TestAServerTellsThatItsDataWereNotClosed(t *testing.T) {
	s := mysqltest.Start(t, "node")
	s.Open()
	s.Exec("INSERT INTO social.probe_writes VALUES (1, 'x')")
	s.Kill()
	if log := startedAgain(t, s); !strings.Contains(log, mysql.NotClosed) {
		t.Errorf("after it was killed the server does not say that its data were not closed:\n%s", log)
	}
	if log := startedAgain(t, s); strings.Contains(log, mysql.NotClosed) {
		t.Errorf("after it ended in order the server says that its data were not closed:\n%s", log)
	}
}

// startedAgain starts a server and ends it in order once it answers. It returns what the server said.
func startedAgain(t *testing.T, s *mysqltest.Server) string {
	t.Helper()
	argv, _ := s.Command()
	var log bytes.Buffer
	cmd := exec.Command(argv[0], append(argv[1:], "--log-error-verbosity=3")...)
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	db := s.DB(wire.AccountAdmin, "")
	answers := false
	for range 1200 {
		if answers = db.Ping() == nil; answers {
			break
		}
		time.Sleep(50 * time.Millisecond) // between two tries
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil || !answers {
		t.Fatalf("it answered: %t, and ended with %v:\n%s", answers, err, log.String())
	}
	return log.String()
}
