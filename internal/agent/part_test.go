package agent

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"replab.dev/internal/agent/agenttest"
	"replab.dev/internal/agent/part"
	"replab.dev/internal/engine"
	"replab.dev/internal/engine/enginetest"
	patroni "replab.dev/internal/topology/patroni/agent"
	"replab.dev/internal/wire"
)

// led is an engine whose manager says what a test has it say: that its node leads, or that another one does.
type led struct {
	leader   atomic.Pointer[string]
	switched atomic.Int64
	stays    atomic.Bool // the server open for writes, whoever leads
}

const ledNode, otherNode = "a-db-0", "a-db-1"

func newLed() *led {
	l := &led{}
	l.elect(ledNode)
	return l
}

func (l *led) elect(node string) { l.leader.Store(&node) }
func (l *led) leads() bool       { return *l.leader.Load() == ledNode }
func (l *led) open() bool        { return l.leads() || l.stays.Load() }

func (*led) IsServer(argv, process []string) bool                { return slices.Equal(argv, process) }
func (l *led) Client(string, string) (engine.Client, error)      { return ledClient{l}, nil }
func (l *led) ManagerClient(string, string) engine.ManagerClient { return l }
func (*led) RemoteClient(wire.Endpoint, string, string) engine.RemoteClient {
	return nil
}

func (l *led) Node(context.Context) (engine.ManagerNode, error) {
	return engine.ManagerNode{Holds: l.leads(), State: "running"}, nil
}

func (l *led) Cluster(context.Context) (engine.ManagerCluster, error) {
	return engine.ManagerCluster{Leader: *l.leader.Load(), LeaderTimeline: l.timeline(), Running: 2, Streaming: 1}, nil
}

func (*led) Settings(context.Context) (engine.ManagerSettings, error) {
	return engine.ManagerSettings{Words: map[string]string{"ttl": "30"}}, nil
}

func (l *led) SwitchOver(context.Context, string) (string, error) {
	l.switched.Add(1)
	l.elect(otherNode)
	return otherNode, nil
}

func (*led) Pause(context.Context) error { return nil }

// timeline goes on with each promotion, of which a test has one at most.
func (l *led) timeline() int64 {
	if l.leads() {
		return 1
	}
	return 2
}

// ledClient is the server's: it is as its manager wants it, unless it stays open.
type ledClient struct{ *led }

func (c ledClient) Writable(context.Context) (bool, error) { return c.open(), nil }
func (c ledClient) Replication(context.Context) (engine.Replication, error) {
	return engine.Replication{Applies: !c.open()}, nil
}
func (ledClient) Fence(context.Context) error { return nil }
func (ledClient) Close() error                { return nil }

func (c ledClient) Position(context.Context) (engine.ServerPosition, error) {
	position := engine.ServerPosition{Writable: c.open(), Streaming: !c.open(), Timeline: 1}
	if !c.open() {
		position.Timeline = c.timeline()
	}
	return position, nil
}

// managedBy is the configuration of an agent beside a server that a manager runs; it is a process of the test.
func managedBy(t *testing.T) wire.AgentConfig {
	t.Helper()
	t.Setenv(wire.EnvPodName, ledNode)
	cfg := nobody(t)
	cfg.Engine, cfg.Leases, cfg.RunDir = "Led", false, t.TempDir()
	cfg.Server, cfg.Process = []string{"sleep", fmt.Sprintf("3600.%d", os.Getpid())}, "sleep"
	cfg.Manager = &wire.ManagerConfig{Argv: []string{"no-manager"}, Process: "no-manager"}
	server := exec.Command(cfg.Server[0], cfg.Server[1:]...)
	must(t, server.Start())
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	return cfg
}

func TestWhatAManagerDoesIsTold(t *testing.T) {
	e := newLed()
	a := serveWith(t, managedBy(t), e)
	state := func() *wire.ManagerState {
		var told wire.NodeState
		if code, body := a.ask("GET", wire.AgentPathState, nil, &told); code != 200 || told.Manager == nil {
			t.Fatalf("%d %s, with %+v of the manager", code, body, told.Manager)
		}
		return told.Manager
	}
	agenttest.Eventually(t, "it takes the writes", func() bool { return state().Writes && state().Config["ttl"] == "30" })
	response, err := http.Post(a.url+wire.AgentPathSwitchover, "application/json", http.NoBody)
	must(t, err)
	response.Body.Close()
	if response.StatusCode != http.StatusUnauthorized {
		t.Errorf("a switchover without a token: %d", response.StatusCode)
	}
	order := wire.SwitchoverRequest{Name: "planned", From: ledNode}
	for range 2 {
		if code, body := a.ask("POST", wire.AgentPathSwitchover, order, nil); code != 202 {
			t.Fatalf("%d %s", code, body)
		}
	}
	agenttest.Eventually(t, "another one does", func() bool {
		s := state()
		return s.Streaming && len(s.Switchovers) == 1 && s.Switchovers[0].Outcome == wire.SwitchoverDone && s.Switchovers[0].To == otherNode
	})
	if s := state(); len(s.Terms) != 1 || s.Terms[0].To == nil || s.Why == "" {
		t.Errorf("then it is told as %+v", s)
	}
	if n := e.switched.Load(); n != 1 {
		t.Errorf("the manager was asked for it %d times", n)
	}
	for want, order := range map[int]wire.SwitchoverRequest{409: {Name: "again", From: ledNode}, 400: {Name: "again", From: otherNode}} {
		if code, body := a.ask("POST", wire.AgentPathSwitchover, order, nil); code != want {
			t.Errorf("%+v: %d %s, want %d", order, code, body, want)
		}
	}
}

// TestAServerThatIsOpenAndNotTheManagersChoiceIsNoPrimary, as after a pause that its lock did not outlast.
func TestAServerThatIsOpenAndNotTheManagersChoiceIsNoPrimary(t *testing.T) {
	e := newLed()
	a := serveWith(t, managedBy(t), e)
	a.becomes(wire.AgentPathPrimary, true)
	e.stays.Store(true)
	e.elect(otherNode)
	agenttest.Eventually(t, "it says whom the lock is not with", func() bool {
		return strings.Contains(a.why(wire.AgentPathPrimary), "does not hold the leader lock")
	})
	if a.is(wire.AgentPathPrimary) || a.is(wire.AgentPathReplica) {
		t.Errorf("it has a role: %s, %s", a.why(wire.AgentPathPrimary), a.why(wire.AgentPathReplica))
	}
}

func TestNodesWithoutAManagerTellOfNone(t *testing.T) {
	a := serve(t, nobody(t))
	var told wire.NodeState
	if code, body := a.ask("GET", wire.AgentPathState, nil, &told); code != 200 || told.Manager != nil {
		t.Errorf("%d %s: %+v", code, body, told.Manager)
	}
	if code, _ := a.ask("POST", wire.AgentPathSwitchover, wire.SwitchoverRequest{Name: "planned", From: ledNode}, nil); code != 404 {
		t.Errorf("a switchover of a node that nobody asks: %d", code)
	}
}

func TestAnEngineWithoutManagersIsRefusedOne(t *testing.T) {
	cfg := nobody(t)
	cfg.Manager = &wire.ManagerConfig{Argv: []string{"no-manager"}, Process: "no-manager"}
	if _, err := patroni.NewPart(part.Node{Config: cfg, Engine: enginetest.Locals[cfg.Engine]}); err == nil || !strings.Contains(err.Error(), "MySQL knows no managers") {
		t.Errorf("error is %v", err)
	}
}
