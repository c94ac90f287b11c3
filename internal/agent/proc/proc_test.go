package proc

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Arguments that have the test binary stand in for something else.
const (
	standIn = "a-server-for-tests" // sleeps
	worker  = "a-worker-for-tests" // ends after 30 ms of processor time
)

func TestMain(m *testing.M) {
	role := ""
	if len(os.Args) > 1 {
		role = os.Args[1]
	}
	switch role {
	case standIn:
		for {
			_ = unix.Pause()
		}
	case worker:
		for used := (unix.Rusage{}); used.Utime.Nano()+used.Stime.Nano() < (30 * time.Millisecond).Nanoseconds(); {
			_ = unix.Getrusage(unix.RUSAGE_SELF, &used)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// start runs the test binary under a name, with a mark among its arguments. It is reaped only by the returned function.
func start(t *testing.T, name, mark string) (pid int, reap func()) {
	t.Helper()
	link := filepath.Join(t.TempDir(), name)
	self, err := os.Executable()
	must(t, err)
	must(t, os.Symlink(self, link))
	cmd := exec.Command(link, standIn, mark)
	must(t, cmd.Start())
	reap = func() { _ = cmd.Wait() }
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		reap()
	})
	return cmd.Process.Pid, reap
}

func marked(mark string) func([]string) bool {
	return func(argv []string) bool { return slices.Contains(argv, mark) }
}

func TestTheServerIsFoundByItsNameAndArguments(t *testing.T) {
	mark := t.TempDir()
	f := NewFinder("a-name-that-is-longer-than-the-kernel-keeps", marked(mark))
	if _, err := f.Find(); !errors.Is(err, ErrNone) {
		t.Fatalf("without a server: %v", err)
	}
	start(t, "another-name", mark)
	start(t, "a-name-that-is-longer-than-the-kernel-keeps", "another mark")
	if p, err := f.Find(); !errors.Is(err, ErrNone) {
		t.Fatalf("found %+v, %v", p, err)
	}
	before := time.Now()
	pid, reap := start(t, "a-name-that-is-longer-than-the-kernel-keeps", mark)
	first := find(t, f, pid)
	if first.PID != pid || !first.Alive() {
		t.Errorf("found %+v, want pid %d", first, pid)
	}
	started, err := first.StartedAt()
	must(t, err)
	if started.Before(before.Add(-20*time.Millisecond)) || started.After(time.Now()) {
		t.Errorf("started at %s, want after %s", started, before)
	}

	h, err := first.Open()
	must(t, err)
	defer h.Close()
	if over, err := h.Ended(0); over || err != nil {
		t.Errorf("ended: %v, %v", over, err)
	}
	must(t, h.Signal(unix.SIGKILL))
	if over, err := h.Ended(10 * time.Second); !over || err != nil {
		t.Errorf("ended: %v, %v", over, err)
	}
	if first.Alive() { // a zombie: nobody has reaped it
		t.Error("a zombie counts as alive")
	}
	if _, err := f.Find(); !errors.Is(err, ErrNone) {
		t.Errorf("a zombie was found: %v", err)
	}
	reap()
	second, _ := start(t, "a-name-that-is-longer-than-the-kernel-keeps", mark)
	if got := find(t, f, second); got.PID != second {
		t.Errorf("found %+v, want the next server %d", got, second)
	}
}

func TestAPidThatIsAnothersNowIsNotSignalled(t *testing.T) {
	pid, _ := start(t, "server", "x")
	stat, err := (Process{PID: pid}).stat()
	if err == nil {
		t.Fatalf("a process of another time was found: %+v", stat)
	}
	if h, err := (Process{PID: pid, StartTicks: 1}).Open(); err == nil {
		h.Close()
		t.Error("a handle was opened on a process that got the pid of another")
	}
}

func find(t *testing.T, f *Finder, pid int) Process {
	t.Helper()
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); <-ticker.C {
		if p, err := f.Find(); err == nil {
			return p
		}
	}
	t.Fatalf("process %d was not found", pid)
	return Process{}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestAnIDIsOfOneProcess, also of one that got another one's pid.
func TestAnIDIsOfOneProcess(t *testing.T) {
	ids := map[string]Process{}
	for _, p := range []Process{{12, 345}, {1, 2345}, {123, 45}, {12, 346}, {13, 345}} {
		if other, known := ids[p.ID()]; known {
			t.Errorf("%+v and %+v are both %s", p, other, p.ID())
		}
		ids[p.ID()] = p
	}
}
