package proc

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

// shell runs a script that ends with the test, and all that it starts. $0 is mark, $1 a file that the script may write pids to.
func shell(t *testing.T, script, mark string) (pid int, pids func() []int) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "pids")
	cmd := exec.Command("sh", "-c", script, mark, file)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = unix.Kill(-cmd.Process.Pid, unix.SIGKILL)
		_ = cmd.Wait()
	})
	return cmd.Process.Pid, func() (list []int) {
		text, err := os.ReadFile(file)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		for field := range strings.FieldsSeq(string(text)) {
			var pid int
			_, err := fmt.Sscan(field, &pid)
			must(t, err)
			list = append(list, pid)
		}
		return list
	}
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !is(); time.Sleep(5 * time.Millisecond) { // between two looks
		if time.Now().After(deadline) {
			t.Fatalf("not so within a minute: %s", what)
		}
	}
}

// parent has two children, the second of which has one.
const parent = `sleep 600 & echo $! >>"$1"
sh -c 'sleep 600 & echo $! >>"$1"; wait' other "$1" & echo $! >>"$1"
wait`

func TestAFamilyIsAllThatDescendsFromManagerAndServer(t *testing.T) {
	managerMark, serverMark := t.TempDir(), t.TempDir()
	manager, server := NewFinder("sh", marked(managerMark)), NewFinder("sh", marked(serverMark))
	f := NewFamily(server, manager)
	if all, err := f.All(); !errors.Is(err, ErrNone) || len(all) > 0 {
		t.Fatalf("of nobody: %v, %v", all, err)
	}
	serverPID, serverPIDs := shell(t, parent, serverMark)
	eventually(t, "the server has its children", func() bool { return len(serverPIDs()) == 3 })
	of := func(f *Family) (pids []int) {
		all, err := f.All()
		must(t, err)
		for _, p := range all {
			pids = append(pids, p.PID)
		}
		return pids
	}
	want := append([]int{serverPID}, serverPIDs()...)
	if got := of(f); got[0] != serverPID || !same(got, want) {
		t.Errorf("without a manager that runs: %v, want %v", got, want)
	}
	managerPID, managerPIDs := shell(t, parent, managerMark)
	eventually(t, "the manager has its children", func() bool { return len(managerPIDs()) == 3 })
	if got := of(f); got[0] != managerPID || got[4] != serverPID || !same(got, slices.Concat(want, []int{managerPID}, managerPIDs())) {
		t.Errorf("manager and server: %v, of the server %v, of the manager %d and %v", got, want, managerPID, managerPIDs())
	}
	if got := of(NewFamily(server, nil)); !slices.Equal(got, []int{serverPID}) {
		t.Errorf("the server alone: %v, want %d", got, serverPID)
	}
	// One that descends from the manager is there once.
	if got := of(NewFamily(manager, manager)); !same(got, append(managerPIDs(), managerPID)) {
		t.Errorf("a server that is the manager's child: %v", got)
	}
}

func same(a, b []int) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// A server's child has its name and arguments until it gives itself others.
func TestAChildThatLooksLikeItsServerIsNotTheServer(t *testing.T) {
	mark := t.TempDir()
	pid, pids := shell(t, `(while :; do sleep 600; done) & echo $! >>"$1"; wait`, mark)
	eventually(t, "it has a child", func() bool { return len(pids()) == 1 })
	f := NewFinder("sh", marked(mark))
	child, err := procfs.NewProc(pids()[0])
	must(t, err)
	if argv, err := child.CmdLine(); err != nil || !slices.Contains(argv, mark) {
		t.Fatalf("the child does not look like its parent: %q, %v", argv, err)
	}
	if p, ok := f.match(child); ok {
		t.Errorf("it is taken for the server: %+v", p)
	}
	if p := find(t, f, pid); p.PID != pid {
		t.Errorf("found %+v, want %d", p, pid)
	}
}

// Children that come, work and go: what they have used stays.
func TestUsageOfAFamilyNeverGoesBack(t *testing.T) {
	mark := t.TempDir()
	self, err := os.Executable()
	must(t, err)
	pid, pids := shell(t, `i=0; while [ $i -lt 16 ]; do i=$((i+1)); `+self+` `+worker+`; done; echo 1 >>"$1"; sleep 600 & wait`, mark)
	finder := NewFinder("sh", marked(mark))
	find(t, finder, pid)
	f := NewFamily(finder, NewFinder("sh", func([]string) bool { return false }))
	var last Usage
	sample := func() {
		server, u, err := f.Usage()
		must(t, err)
		if server.PID != pid || u.CPUMicroseconds < last.CPUMicroseconds || u.WrittenBytes < last.WrittenBytes || u.ReadBytes < last.ReadBytes {
			t.Fatalf("of process %d, want %d: %+v after %+v", server.PID, pid, u, last)
		}
		last = u
	}
	eventually(t, "the children are gone", func() bool { sample(); return len(pids()) > 0 })
	sample()
	own, err := find(t, finder, pid).Usage()
	must(t, err)
	if last.CPUMicroseconds <= own.CPUMicroseconds {
		t.Errorf("its children used nothing: %+v, itself %+v", last, own)
	}
	if server, alone, err := NewFamily(finder, nil).Usage(); err != nil || server.PID != pid || alone.CPUMicroseconds > last.CPUMicroseconds {
		t.Errorf("without a manager it is the server's own: %+v of %+v, %v", alone, server, err)
	}
}

func TestWithoutAServerThereIsNoUsage(t *testing.T) {
	mark := t.TempDir()
	shell(t, `sleep 600 & wait`, mark)
	none := NewFinder("sh", func([]string) bool { return false })
	if _, u, err := NewFamily(none, NewFinder("sh", marked(mark))).Usage(); !errors.Is(err, ErrNone) {
		t.Errorf("of a manager alone: %+v, %v", u, err)
	}
}

func TestSharedMemoryCountsOnce(t *testing.T) {
	got := total([]reading{
		{used: Usage{Threads: 3, CPUMicroseconds: 1, ReadBytes: 10, WrittenBytes: 100}, private: 1000, shared: 50_000, mapped: 700_000},
		{used: Usage{Threads: 4, CPUMicroseconds: 2, ReadBytes: 20, WrittenBytes: 200}, private: 2000, shared: 90_000, mapped: 600_000},
		{used: Usage{CPUMicroseconds: 4, ReadBytes: 40, WrittenBytes: 400}}, // has ended
	})
	if want := (Usage{Threads: 7, CPUMicroseconds: 7, ReadBytes: 70, WrittenBytes: 700, ResidentBytes: 793_000}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
