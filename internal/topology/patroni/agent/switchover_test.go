package agent

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"replab.dev/internal/agent/history"
	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

// clusterAt is what a manager told of all nodes, asked at a moment.
func clusterAt(seconds float64, leader string, timeline int64) answer[engine.ManagerCluster] {
	return answer[engine.ManagerCluster]{value: engine.ManagerCluster{Leader: leader, LeaderTimeline: timeline}, asked: at(seconds), at: at(seconds)}
}

func TestHowASwitchoverEnded(t *testing.T) {
	wrong := errors.New("no answer")
	o := order{name: "s", at: at(10), timeline: 3}
	for name, c := range map[string]struct {
		to      string
		asked   error
		cluster answer[engine.ManagerCluster]
		now     float64
		want    string // outcome and who, "" while it is open
	}{
		"another node leads, promoted":                      {"a-db-2", nil, clusterAt(14, "a-db-2", 4), 14, "Done a-db-2"},
		"it has the lock, and is not promoted yet":          {"a-db-2", nil, clusterAt(14, "a-db-2", 3), 14, ""},
		"it was never seen to be promoted":                  {"a-db-2", nil, clusterAt(37, "a-db-2", 3), 38, "Done a-db-2"},
		"the manager answered nothing, and another leads":   {"", wrong, clusterAt(14, "a-db-0", 4), 14, "Done a-db-0"},
		"the lock went on to a third":                       {"a-db-2", nil, clusterAt(14, "a-db-0", 5), 14, "Done a-db-0"},
		"this node leads still":                             {"", wrong, clusterAt(14, self, 3), 14, ""},
		"this node leads still, at the end":                 {"", wrong, clusterAt(38, self, 3), 38, "Failed no answer"},
		"nobody leads":                                      {"", nil, clusterAt(14, "", 0), 14, ""},
		"nobody leads, at the end":                          {"", nil, clusterAt(38, "", 0), 38, "Failed no other"},
		"who led before it was asked for says nothing":      {"", wrong, clusterAt(9, "a-db-0", 4), 14, ""},
		"nothing was told since, but what was answered":     {"a-db-2", nil, clusterAt(9, self, 3), 38, "Done a-db-2"},
		"the manager was never heard, and did not answer":   {"", wrong, answer[engine.ManagerCluster]{}, 38, "Failed no answer"},
		"the manager was never heard, and time is not over": {"", wrong, answer[engine.ManagerCluster]{}, 37, ""},
	} {
		ended := o.outcome(self, c.to, c.asked, c.cluster, at(c.now))
		got := ""
		if ended != nil {
			got = strings.TrimSpace(ended.Outcome + " " + ended.To + ended.Why)
		}
		if !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// fakeManager answers what a test says, and nothing else.
type fakeManager struct {
	engine.ManagerClient
	switched, paused atomic.Int64
	to               string
	err              error
}

func (f *fakeManager) SwitchOver(context.Context, string) (string, error) {
	f.switched.Add(1)
	return f.to, f.err
}

func (f *fakeManager) Pause(context.Context) error {
	f.paused.Add(1)
	return nil
}

// fakeServer is what the watcher of a server would tell.
type fakeServer struct{ look Look }

func (*fakeServer) Run(context.Context) {}

func (f *fakeServer) Look() (Look, error) { return f.look, nil }

// leading is a member that takes the writes, beside files in a folder.
func leading(t *testing.T, dir string, client engine.ManagerClient) *Member {
	t.Helper()
	server := &fakeServer{Look{At: time.Now(), Server: "p1", Position: &engine.ServerPosition{Writable: true, Timeline: 3, Written: 100, Waits: true}}}
	m, err := New(wire.ManagerConfig{PauseAt: 3}, self, dir, dir, server, client)
	if err != nil {
		t.Fatal(err)
	}
	m.hears(engine.ManagerNode{Holds: true, State: "running", Role: "primary", Version: "4.0.7"}, engine.ManagerCluster{Leader: self, LeaderTimeline: 3, Running: 3, Streaming: 2})
	if err := m.think(time.Now()); err != nil {
		t.Fatal(err)
	}
	return m
}

// hears has the manager have told something just now.
func (m *Member) hears(node engine.ManagerNode, cluster engine.ManagerCluster) {
	now := time.Now()
	m.poller.mu.Lock()
	defer m.poller.mu.Unlock()
	m.poller.node = answer[engine.ManagerNode]{value: node, asked: now, at: now}
	m.poller.cluster = answer[engine.ManagerCluster]{value: cluster, asked: now, at: now}
	m.poller.timeline = cluster.LeaderTimeline
}

// runsOrders carries orders out until the test ends.
func runsOrders(t *testing.T, m *Member) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		m.switchOvers(ctx)
		close(ended)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
}

// endedAs waits until the last switchover has ended.
func endedAs(t *testing.T, m *Member) wire.Switchover {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) { // between two looks
		all := m.State().Switchovers
		if last := all[len(all)-1]; last.Outcome != "" {
			return last
		}
	}
	t.Fatal("it has not ended within a minute")
	return wire.Switchover{}
}

func TestASwitchoverIsAskedForOnce(t *testing.T) {
	dir, client := t.TempDir(), &fakeManager{to: "a-db-2"}
	m := leading(t, dir, client)
	for range 2 {
		if err := m.SwitchOver("one"); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.SwitchOver("two"); !errors.Is(err, history.ErrRefused) {
		t.Errorf("another one while it is under way: %v", err)
	}
	runsOrders(t, m)
	m.hears(engine.ManagerNode{}, engine.ManagerCluster{Leader: "a-db-2", LeaderTimeline: 4})
	if s := endedAs(t, m); s.Outcome != wire.SwitchoverDone || s.To != "a-db-2" || s.EndedAt == nil || s.EndedAt.Before(&s.RequestedAt) {
		t.Errorf("it ended as %+v", s)
	}
	if err := m.SwitchOver("one"); err != nil {
		t.Errorf("asked for again: %v", err)
	}
	later, err := New(wire.ManagerConfig{}, self, dir, dir, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if s := later.State().Switchovers; len(s) != 1 || s[0].Outcome != wire.SwitchoverDone {
		t.Errorf("an agent after this one tells %+v", s)
	}
	if n := client.switched.Load(); n != 1 {
		t.Errorf("the manager was asked %d times", n)
	}
	if err := m.think(time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := m.SwitchOver("two"); !errors.Is(err, history.ErrRefused) || !strings.Contains(err.Error(), "does not hold the leader lock") {
		t.Errorf("of a node that takes no writes: %v", err)
	}
}

func TestASwitchoverThatTheManagerRefusesHasFailed(t *testing.T) {
	m := leading(t, t.TempDir(), &fakeManager{err: errors.Join(engine.ErrSwitchOverRefused, errors.New("no good candidates"))})
	runsOrders(t, m)
	if err := m.SwitchOver("one"); err != nil {
		t.Fatal(err)
	}
	if s := endedAs(t, m); s.Outcome != wire.SwitchoverFailed || !strings.Contains(s.Why, "no good candidates") {
		t.Errorf("it ended as %+v", s)
	}
	if err := m.SwitchOver("two"); err != nil {
		t.Errorf("the next one: %v", err)
	}
	endedAs(t, m)
}

func TestAnAgentThatIsStartedAnewAsksForNoSwitchoverAgain(t *testing.T) {
	dir, client := t.TempDir(), &fakeManager{}
	if err := leading(t, dir, client).SwitchOver("one"); err != nil { // and dies before it asks
		t.Fatal(err)
	}
	m := leading(t, dir, client)
	m.hears(engine.ManagerNode{}, engine.ManagerCluster{Leader: "a-db-0", LeaderTimeline: 4})
	runsOrders(t, m)
	if s := endedAs(t, m); s.Outcome != wire.SwitchoverDone || s.To != "a-db-0" {
		t.Errorf("it ended as %+v", s)
	}
	if n := client.switched.Load(); n != 0 {
		t.Errorf("the manager was asked %d times", n)
	}
}
