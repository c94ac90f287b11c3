package fault

import (
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"replab.dev/internal/agent/nft"
	"replab.dev/internal/wire"
	"replab.dev/test/netns"
)

// TestAHoldThatSomebodyElseEndsIsNoticed: the record says when and what was seen.
func TestAHoldThatSomebodyElseEndsIsNoticed(t *testing.T) {
	const hold = 3_600_000
	for name, c := range map[string]struct {
		request func(*node) wire.FaultRequest
		end     func(*testing.T, *node)
		seen    string
		root    bool
	}{
		"a server that is started": {
			func(n *node) wire.FaultRequest { return n.request("x", wire.FaultKill, hold) },
			func(_ *testing.T, n *node) { n.start() }, "was started meanwhile", false,
		},
		"a server that is woken": {
			func(n *node) wire.FaultRequest { return n.request("x", wire.FaultPause, hold) },
			func(t *testing.T, n *node) { signal(t, n, unix.SIGCONT) }, "is not stopped", false,
		},
		"a server that is killed while it is stopped": {
			func(n *node) wire.FaultRequest { return n.request("x", wire.FaultPause, hold) },
			func(t *testing.T, n *node) { signal(t, n, unix.SIGKILL) }, "is gone", false,
		},
		"rules that are taken away": {
			func(n *node) wire.FaultRequest { return n.request("x", wire.FaultPartition, hold, "127.0.0.7") },
			func(t *testing.T, _ *node) { must(t, nft.Heal("x")) }, "not in the packet filter", true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if c.root {
				netns.Need(t)
			}
			n := newNode(t)
			n.start()
			m := n.manager()
			r := put(t, m, c.request(n))
			look(t, m, "x")
			if again := get(t, m, "x"); !r.Confirmed || again.ReleasedAt != nil {
				t.Fatalf("record: %+v, later %+v", r, again)
			}
			c.end(t, n)
			eventually(t, "it is noticed", func() bool { return get(t, m, "x").ReleasedAt != nil })
			if r := get(t, m, "x"); !r.Confirmed || !strings.Contains(r.Evidence, "it ended before its time: ") || !strings.Contains(r.Evidence, c.seen) || holds(t, n, "x") {
				t.Errorf("record: %+v", r)
			}
		})
	}
}

// look has the manager look now at what a hold is to keep as it is, instead of when the next look is due.
func look(t *testing.T, m *Manager, name string) {
	t.Helper()
	f := m.find(name)
	eventually(t, "the next look is scheduled", func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.timer != nil && f.timer.Stop()
	})
	m.watch(f)
}

func signal(t *testing.T, n *node, s unix.Signal) {
	t.Helper()
	p, err := n.finder.Find()
	must(t, err)
	must(t, unix.Kill(p.PID, s))
}

// TestAHoldStandsWhenAFaultDoesWhatIsPlanned to the same server.
func TestAHoldStandsWhenAFaultDoesWhatIsPlanned(t *testing.T) {
	n := newNode(t)
	n.start()
	m := n.manager()
	put(t, m, n.request("hang", wire.FaultPause, -1))
	put(t, m, n.request("crash", wire.FaultKill, -1))
	for _, name := range []string{"hang", "crash"} {
		look(t, m, name)
		if r := get(t, m, name); r.ReleasedAt != nil {
			t.Errorf("it ended: %+v", r)
		}
	}

	n = newNode(t) // a server that runs until its pod is deleted
	n.start()
	m = n.manager()
	put(t, m, n.request("gone", wire.FaultHold, -1))
	look(t, m, "gone")
	if r := get(t, m, "gone"); r.ReleasedAt != nil {
		t.Errorf("it ended: %+v", r)
	}
}

// TestAKillBeforeAPauseExcusesNoEndOfIt: it was another server's.
func TestAKillBeforeAPauseExcusesNoEndOfIt(t *testing.T) {
	for _, action := range []wire.FaultAction{wire.FaultKill, wire.FaultKillServer} {
		n := newNode(t)
		n.start()
		m := n.manager()
		if r := put(t, m, n.request("crash", action, 0)); !r.Confirmed {
			t.Fatalf("%s: %+v", action, r)
		}
		n.start()
		put(t, m, n.request("hang", wire.FaultPause, 3_600_000))
		look(t, m, "hang")
		if r := get(t, m, "hang"); !r.Confirmed || r.ReleasedAt != nil {
			t.Fatalf("%s, and then a pause: %+v", action, r)
		}
		signal(t, n, unix.SIGCONT)
		eventually(t, "it is noticed", func() bool { return get(t, m, "hang").ReleasedAt != nil })
		if r := get(t, m, "hang"); !strings.Contains(r.Evidence, "it ended before its time: ") || !strings.Contains(r.Evidence, "is not stopped") {
			t.Errorf("%s, and then a pause: %+v", action, r)
		}
	}
}

// TestAPartitionTellsWhenItWasWidened.
func TestAPartitionTellsWhenItWasWidened(t *testing.T) {
	netns.Need(t)
	n := newNode(t)
	m := n.manager()
	put(t, m, n.request("wide", wire.FaultPartition, -1, "127.0.0.2"))
	before := time.Now().Truncate(time.Microsecond)
	r := put(t, m, n.request("wide", wire.FaultPartition, -1, "127.0.0.2", "127.0.0.3"))
	if len(r.Widened) != 1 || r.Widened[0].Address != "127.0.0.3" || r.Widened[0].At.Time.Before(before) {
		t.Errorf("record: %+v", r)
	}
	if again := put(t, m, n.request("wide", wire.FaultPartition, -1, "127.0.0.3")); len(again.Widened) != 1 {
		t.Errorf("record: %+v", again)
	}
	_, err := m.Release("wide")
	must(t, err)
}
