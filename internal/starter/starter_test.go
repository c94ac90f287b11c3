package starter

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"replab.dev/internal/agent/agenttest"
	"replab.dev/internal/agent/notes"
	"replab.dev/internal/agent/proc"
	"replab.dev/internal/engine/enginetest"
	"replab.dev/internal/engine/secrettest"
	"replab.dev/internal/wire"
)

func TestMain(m *testing.M) {
	if os.Getenv(agenttest.Command) == "" {
		os.Exit(m.Run())
	}
	if err := Command(enginetest.Starters, nil).Execute(); err != nil {
		fmt.Fprintln(os.Stderr, "replab:", err)
		os.Exit(1)
	}
}

func TestAnEmptyNodeIsMadeAndBootsReadOnly(t *testing.T) {
	n := agenttest.NewNode(t)
	w := n.Wrapper()
	n.Ready(w)

	var id, superReadOnly int
	row := n.Server.DB(wire.AccountAdmin, "").QueryRow("SELECT @@server_id, @@super_read_only")
	if err := row.Scan(&id, &superReadOnly); err != nil {
		t.Fatal(err)
	}
	if id != 103 || superReadOnly != 1 {
		t.Errorf("server id %d, super_read_only %d; want 103 of pod node-3, 1", id, superReadOnly)
	}
	var rows int
	if err := n.Server.DB(wire.AccountProbe, wire.Database).QueryRow("SELECT COUNT(*) FROM users").Scan(&rows); err != nil {
		t.Errorf("the probe account cannot read the app's table: %v", err)
	}
	if left := find(t, n.TmpDir); left != "" {
		t.Errorf("%s was left behind", left)
	}
	if strings.Contains(w.Output(t), secrettest.Password) {
		t.Error("the log holds a password")
	}

	w.Signal(t, syscall.SIGTERM)
	if code := w.Wait(t); code != 0 {
		t.Errorf("after SIGTERM the wrapper exits with %d, want the server's 0:\n%s", code, w.Output(t))
	}
	if !strings.Contains(w.Output(t), "Shutdown complete") {
		t.Errorf("the server was not stopped in order:\n%s", w.Output(t))
	}
}

func TestTheServerIsStartedAnewWhenItAsksForIt(t *testing.T) {
	n := agenttest.NewNode(t).WithData()
	w := n.Wrapper()
	n.Ready(w)
	before := serverOf(t, n)
	n.Server.Open()
	n.Server.Exec("INSERT INTO social.probe_writes VALUES (1, 'x')")
	_, _ = n.Server.DB(wire.AccountAdmin, "").Exec("RESTART") // the server may be gone before it answers
	agenttest.Eventually(t, "another process is the server", func() bool { return !before.Alive() })
	n.Ready(w)
	var rows int
	if err := n.Server.DB(wire.AccountProbe, wire.Database).QueryRow("SELECT COUNT(*) FROM probe_writes").Scan(&rows); err != nil || rows != 1 {
		t.Errorf("%d rows, %v after the restart; want the 1 from before", rows, err)
	}
}

func TestTheServerIsStartedAnewAfterAClone(t *testing.T) {
	donor := enginetest.Start(t, "donor")
	donor.Open()
	donor.Exec("INSERT INTO social.probe_writes VALUES (7, 'x')")
	n := agenttest.NewNode(t).WithData()
	w := n.Wrapper()
	n.Ready(w)
	before := serverOf(t, n)
	n.Server.Open()
	n.Server.Exec(fmt.Sprintf("SET GLOBAL clone_valid_donor_list='127.0.0.1:%d'", donor.Port))
	_, _ = n.Server.DB(wire.AccountAdmin, "").Exec(fmt.Sprintf("CLONE INSTANCE FROM '%s'@'127.0.0.1':%d IDENTIFIED BY '%s'",
		wire.AccountReplication, donor.Port, enginetest.Password)) // the server may be gone before it answers
	agenttest.Eventually(t, "another process is the server", func() bool { return !before.Alive() })
	n.Ready(w)
	var id int
	if err := n.Server.DB(wire.AccountProbe, wire.Database).QueryRow("SELECT id FROM probe_writes").Scan(&id); err != nil || id != 7 {
		t.Errorf("row %d, %v after the clone; want the donor's 7", id, err)
	}
}

func TestTheWrapperEndsAsItsServerWasKilled(t *testing.T) {
	n := agenttest.NewNode(t).WithData()
	w := n.Wrapper()
	n.Ready(w)
	kill(t, serverOf(t, n))
	if code := w.Wait(t); code != 128+9 {
		t.Errorf("exit code %d, want 137", code)
	}
	n.Ready(n.Wrapper()) // as the kubelet starts it again
}

func TestAHeldServerIsNotStarted(t *testing.T) {
	n := agenttest.NewNode(t)
	if err := notes.PutHold(n.Config.HoldDir, notes.Hold{Fault: "crash"}); err != nil {
		t.Fatal(err)
	}
	soon := time.Now().Add(time.Second)
	if err := notes.PutHold(n.Config.HoldDir, notes.Hold{Fault: "other", Until: &soon}); err != nil {
		t.Fatal(err)
	}
	w := n.Wrapper()
	agenttest.Eventually(t, "it says that it waits", func() bool { return strings.Contains(w.Output(t), "crash until it is released") })
	agenttest.Eventually(t, "one of the holds is over", func() bool { return time.Now().After(soon) })
	if _, err := os.Stat(n.Config.DataDir); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("the data directory exists while a hold stands: %v", err)
	}
	if err := notes.RemoveHold(n.Config.HoldDir, "crash"); err != nil {
		t.Fatal(err)
	}
	n.Ready(w)
	if said := strings.Count(w.Output(t), "the server is held"); said != 1 {
		t.Errorf("it says %d times that it waits, want once", said)
	}
}

func TestAWrapperToldToStopWhileHeldStops(t *testing.T) {
	n := agenttest.NewNode(t)
	if err := notes.PutHold(n.Config.HoldDir, notes.Hold{Fault: "crash"}); err != nil {
		t.Fatal(err)
	}
	w := n.Wrapper()
	agenttest.Eventually(t, "it says that it waits", func() bool { return strings.Contains(w.Output(t), "the server is held") })
	w.Signal(t, syscall.SIGTERM)
	if code := w.Wait(t); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
}

func TestAKillInTheMiddleOfMakingTheDataBeginsAnew(t *testing.T) {
	n := agenttest.NewNode(t)
	w := n.Wrapper()
	// The data dictionary is there and the accounts are not yet: half of a data directory.
	half := filepath.Join(n.Config.DataDir+unfinished, "mysql.ibd")
	agenttest.Eventually(t, "the data directory is being made", func() bool { _, err := os.Stat(half); return err == nil })
	w.Signal(t, syscall.SIGKILL)
	w.Wait(t)
	if _, err := os.Stat(n.Config.DataDir); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("half a data directory bears the real name: %v", err)
	}
	second := n.Wrapper()
	n.Ready(second)
	if left := find(t, n.TmpDir); left != "" {
		t.Errorf("%s was left behind", left)
	}
}

func TestStaleSocketDoesNotBlockAStart(t *testing.T) {
	n := agenttest.NewNode(t).WithData()
	// Its pid is a living process's now: this test's.
	if err := os.WriteFile(n.Config.Socket+".lock", fmt.Appendf(nil, "%d\n", os.Getpid()), 0o600); err != nil {
		t.Fatal(err)
	}
	n.Ready(n.Wrapper())
}

func TestAFailedStartSaysWhatFailed(t *testing.T) {
	n := agenttest.NewNode(t)
	if err := os.Remove(filepath.Join(n.Config.SecretDir, wire.AccountApp)); err != nil {
		t.Fatal(err)
	}
	w := n.Wrapper()
	if code := w.Wait(t); code != 1 || !strings.Contains(w.Output(t), "password of account "+wire.AccountApp) {
		t.Errorf("exit code %d and\n%s\nwant 1 and the missing password's account", code, w.Output(t))
	}
}

func TestPodOrdinal(t *testing.T) {
	for _, c := range []struct {
		name, pod string
		want      int
		bad       bool
	}{
		{"the number at the end counts", "semisync-node-2", 2, false},
		{"it may have several digits", "node-12", 12, false},
		{"a name without one is refused", "node", 0, true},
		{"so is one that ends in letters", "node-a", 0, true},
		{"so is an empty one", "", 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := podOrdinal(c.pod)
			if got != c.want || (err != nil) != c.bad {
				t.Errorf("got %d, %v", got, err)
			}
		})
	}
}

func serverOf(t *testing.T, n *agenttest.Node) proc.Process {
	t.Helper()
	p, err := proc.NewFinder(n.Agent.Process, func(argv []string) bool { return n.Server.Flavor.Roles.IsServer(n.Config.Server, argv) }).Find()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func kill(t *testing.T, p proc.Process) {
	t.Helper()
	h, err := p.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if err := h.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

// find returns a file below dir, "" when there is none.
func find(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) == 0 {
		return ""
	}
	return entries[0].Name()
}
