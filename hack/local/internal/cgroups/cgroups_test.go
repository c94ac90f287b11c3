package cgroups

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestGroup runs on the control groups of a virtual machine, since it changes what the root hands down.
func TestGroup(t *testing.T) {
	if os.Getenv("REPLAB_VM") == "" {
		t.Skip("it changes the machine's control groups: make test-vm")
	}
	const g = Group("/replab-test")
	for range 2 {
		must(t, g.Ensure())
	}
	pod := filepath.Join(mount, string(g), "pod")
	must(t, os.Mkdir(pod, 0o755))
	if all, handed := read(t, mount, "cgroup.controllers"), read(t, pod, "cgroup.controllers"); handed != all || !strings.Contains(handed, "memory") {
		t.Errorf("of %q pods are handed down %q", all, handed)
	}

	cmd := exec.Command("sleep", "600")
	must(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	must(t, os.WriteFile(filepath.Join(pod, "cgroup.procs"), []byte(strconv.Itoa(cmd.Process.Pid)), 0o644))
	if ids, err := g.processes(); err != nil || len(ids) != 1 || ids[0].PID != cmd.Process.Pid {
		t.Fatalf("processes %+v, %v; want %d", ids, err, cmd.Process.Pid)
	}
	if g.Remove() == nil {
		t.Error("it was removed with a process in it")
	}
	must(t, g.EndProcesses(10*time.Second))
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Fatal("the process has not ended")
	}
	for range 2 {
		must(t, g.Remove())
	}
	if _, err := os.Stat(filepath.Dir(pod)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
}

func read(t *testing.T, dir, file string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, file))
	must(t, err)
	return string(b)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
