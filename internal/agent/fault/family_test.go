package fault

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"replab.dev/internal/agent/proc"
	"replab.dev/internal/wire"
)

// crowd is a node whose manager starts the server whenever there is none, and whose server is busy starting others.
type crowd struct {
	*node
	session int // of all of them
	manager *proc.Finder
}

func newCrowd(t *testing.T) *crowd {
	t.Helper()
	c := &crowd{node: newNode(t)}
	mark := t.TempDir()
	finder := func(mark string) *proc.Finder {
		return proc.NewFinder("sh", func(argv []string) bool { return len(argv) == 4 && argv[3] == mark })
	}
	c.finder, c.manager = finder(c.mark), finder(mark)
	c.family = proc.NewFamily(c.finder, c.manager)
	server := `n=0; while [ $n -lt 200 ]; do sleep 600 & n=$((n+1)); done; wait`
	cmd := exec.Command("sh", "-c", fmt.Sprintf("while :; do sh -c '%s' %s; done", server, c.mark), mark)
	run(t, cmd, &syscall.SysProcAttr{Setsid: true})
	c.session = cmd.Process.Pid
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("manager %d, states: %v", c.session, c.alive())
		}
		_ = unix.Kill(-c.session, unix.SIGKILL)
	})
	eventually(t, "the server has started somebody", func() bool { return len(c.alive()) > 2 })
	return c
}

// alive are those of the crowd that have not ended, with their states.
func (c *crowd) alive() map[proc.Process]string {
	all, err := procfs.AllProcs()
	must(c.t, err)
	found := map[proc.Process]string{}
	for _, p := range all {
		if stat, err := p.Stat(); err == nil && stat.Session == c.session && stat.State != "Z" && stat.State != "X" {
			found[proc.Process{PID: p.PID, StartTicks: stat.Starttime}] = stat.State
		}
	}
	return found
}

func (c *crowd) server() proc.Process {
	c.t.Helper()
	var p proc.Process
	eventually(c.t, "the server runs", func() (ok bool) {
		found, err := c.finder.Find()
		p = found
		return err == nil
	})
	return p
}

func TestNobodyOfAFamilySurvivesAKill(t *testing.T) {
	c := newCrowd(t)
	m := c.node.manager()
	r := put(t, m, c.request("crash", wire.FaultKill, -1))
	if left := c.alive(); len(left) > 0 {
		t.Errorf("alive: %v", left)
	}
	if !r.Confirmed || r.InjectedAt == nil || !holds(t, c.node, "crash") || !strings.Contains(r.Evidence, "others of it and its manager are gone") {
		t.Errorf("record: %+v", r)
	}
	if again := get(t, c.node.manager(), "crash"); asJSON(t, again) != asJSON(t, r) {
		t.Errorf("a new agent says %s, it was %s", asJSON(t, again), asJSON(t, r))
	}
}

func TestAPauseStopsAFamilyAndItsEndResumesIt(t *testing.T) {
	c := newCrowd(t)
	m := c.node.manager()
	server := c.server()
	r := put(t, m, c.request("hang", wire.FaultPause, -1))
	if !r.Confirmed || !strings.Contains(r.Evidence, "are stopped") {
		t.Errorf("record: %+v", r)
	}
	for p, state := range c.alive() {
		if state != "T" {
			t.Errorf("process %d is in state %s", p.PID, state)
		}
	}
	look(t, m, "hang")
	if r := get(t, m, "hang"); r.ReleasedAt != nil {
		t.Errorf("it ended: %+v", r)
	}
	m.Close()
	next := c.node.manager()
	if r := get(t, next, "hang"); r.ReleasedAt != nil || !stopped(t, server) {
		t.Errorf("under a new agent: %+v", r)
	}
	_, err := next.Release("hang")
	must(t, err)
	eventually(t, "all run", func() bool {
		for _, state := range c.alive() {
			if state == "T" {
				return false
			}
		}
		return true
	})
	if now := c.server(); now != server {
		t.Errorf("the server is %+v, it was %+v", now, server)
	}
}

func TestAFamilyOfWhichOneIsWokenIsNotPaused(t *testing.T) {
	c := newCrowd(t)
	m := c.node.manager()
	put(t, m, c.request("hang", wire.FaultPause, -1))
	manager, err := c.manager.Find()
	must(t, err)
	must(t, unix.Kill(manager.PID, unix.SIGCONT))
	eventually(t, "it is noticed", func() bool { return get(t, m, "hang").ReleasedAt != nil })
	if r := get(t, m, "hang"); !strings.Contains(r.Evidence, fmt.Sprintf("process %d of the server is not stopped", manager.PID)) {
		t.Errorf("record: %+v", r)
	}
}

func TestAServerThatIsKilledAloneIsStartedByItsManager(t *testing.T) {
	c := newCrowd(t)
	m := c.node.manager()
	before := c.server()
	manager, err := c.manager.Find()
	must(t, err)
	r := put(t, m, c.request("crash", wire.FaultKillServer, 0))
	if !r.Confirmed || r.InjectedAt == nil || r.ReleasedAt == nil || r.HeldUntil != nil || holds(t, c.node, "crash") || before.Alive() {
		t.Errorf("record: %+v", r)
	}
	if now := c.server(); now == before || !manager.Alive() {
		t.Errorf("the server is %+v, it was %+v; its manager lives: %v", now, before, manager.Alive())
	}
}

func TestAManagerWithoutAServerIsKilled(t *testing.T) {
	c := newCrowd(t)
	c.finder = proc.NewFinder("sh", func([]string) bool { return false })
	c.family = proc.NewFamily(c.finder, c.manager)
	m := c.node.manager()
	r := put(t, m, c.request("crash", wire.FaultKill, -1))
	if left := c.alive(); len(left) > 0 || !r.Confirmed || !strings.Contains(r.Evidence, "without a server, are gone") {
		t.Errorf("alive: %v; record: %+v", left, r)
	}
}

// freezing is a kill whose agent ends between stopping and killing.
type freezing struct{ kill }

func (f freezing) inject(r *record) error {
	if err := putHold(f.holdDir, *r); err != nil {
		return err
	}
	h, _, err := freeze(f.family)
	if err == nil {
		h.close()
		panic(ended{})
	}
	return err
}

func TestPartialKillResumesAllOnRelease(t *testing.T) {
	c := newCrowd(t)
	m := c.node.manager()
	m.actions[wire.FaultKill] = freezing{m.actions[wire.FaultKill].(kill)}
	func() {
		defer func() {
			if _, ok := recover().(ended); !ok {
				t.Fatal("the agent did not end at the act")
			}
		}()
		_, _ = m.Put(c.request("crash", wire.FaultKill, -1))
	}()
	next := c.node.manager()
	if r := get(t, next, "crash"); r.Confirmed || r.InjectedAt != nil {
		t.Errorf("record: %+v", r)
	}
	eventually(t, "the server is stopped", func() bool { return stopped(t, c.server()) })
	_, err := next.Release("crash")
	must(t, err)
	eventually(t, "the server runs again", func() bool { return !stopped(t, c.server()) })
}

func TestAFamilyThatIsNotThereIsNotFrozen(t *testing.T) {
	none := proc.NewFinder("sh", func([]string) bool { return false })
	if h, _, err := freeze(proc.NewFamily(none, none)); !errors.Is(err, proc.ErrNone) || len(h) > 0 {
		t.Errorf("%v, %v", h, err)
	}
}
