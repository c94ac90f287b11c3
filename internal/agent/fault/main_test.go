package fault

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"replab.dev/internal/agent/proc"
	"replab.dev/internal/wire"
	"replab.dev/test/netns"
)

// bystander is the argument that has the test binary stand in for a server: it sleeps.
const bystander = "a-server-for-tests"

// TestMain lets the test binary be the bystander.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == bystander {
		for {
			_ = unix.Pause()
		}
	}
	os.Exit(netns.Main(m))
}

// node is a state directory beside a process that stands in for the server.
type node struct {
	t        *testing.T
	stateDir string
	mark     string // an argument of its server, which no other test's has
	finder   *proc.Finder
	family   *proc.Family
	podUID   string
}

func newNode(t *testing.T) *node {
	n := &node{t: t, stateDir: t.TempDir(), mark: t.TempDir(), podUID: "uid"}
	self, err := os.Executable()
	must(t, err)
	n.finder = proc.NewFinder(filepath.Base(self), func(argv []string) bool { return slices.Contains(argv, n.mark) })
	n.family = proc.NewFamily(n.finder, nil)
	return n
}

// start starts its server.
func (n *node) start() proc.Process {
	n.t.Helper()
	self, err := os.Executable()
	must(n.t, err)
	run(n.t, exec.Command(self, bystander, n.mark), &syscall.SysProcAttr{})
	var p proc.Process
	eventually(n.t, "the server runs", func() bool {
		p, err = n.finder.Find()
		return err == nil
	})
	return p
}

// run starts a process that ends with the test.
func run(t *testing.T, cmd *exec.Cmd, how *syscall.SysProcAttr) {
	t.Helper()
	how.Pdeathsig = syscall.SIGKILL
	cmd.SysProcAttr = how
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // Pdeathsig follows the thread that forks
		defer runtime.UnlockOSThread()
		started <- cmd.Start()
		_ = cmd.Wait()
	}()
	must(t, <-started)
	t.Cleanup(func() { _ = cmd.Process.Kill() })
}

func (n *node) holdDir() string { return filepath.Join(n.stateDir, "holds") }

// manager is a new agent's.
func (n *node) manager() *Manager {
	n.t.Helper()
	m, err := New(n.stateDir, n.holdDir(), n.podUID, n.finder, n.family)
	must(n.t, err)
	n.t.Cleanup(m.Close)
	return m
}

func (n *node) request(name string, action wire.FaultAction, holdMilliseconds int64, addresses ...string) wire.FaultRequest {
	return wire.FaultRequest{Name: name, PodUID: n.podUID, Action: action, HoldMilliseconds: holdMilliseconds, Addresses: addresses}
}

// put returns the record once it is concluded.
func put(t *testing.T, m *Manager, r wire.FaultRequest) wire.FaultRecord {
	t.Helper()
	_, err := m.Put(r)
	must(t, err)
	eventually(t, "the fault is concluded", func() bool { return get(t, m, r.Name).Concluded })
	return get(t, m, r.Name)
}

func get(t *testing.T, m *Manager, name string) wire.FaultRecord {
	t.Helper()
	record, err := m.Get(name)
	must(t, err)
	return record
}

func stopped(t *testing.T, p proc.Process) bool {
	t.Helper()
	s, err := p.Stopped()
	must(t, err)
	return s
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for deadline := time.Now().Add(time.Minute); !holds(); <-ticker.C {
		if time.Now().After(deadline) {
			t.Fatalf("not so within a minute: %s", what)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
