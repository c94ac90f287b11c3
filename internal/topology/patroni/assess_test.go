package patroni

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/internal/engine"
	"replab.dev/internal/topology"
	"replab.dev/internal/wire"
)

func moment(second int) metav1.MicroTime {
	return metav1.NewMicroTime(time.Date(2026, 1, 1, 0, 0, second, 0, time.UTC))
}

func momentPtr(second int) *metav1.MicroTime { return ptr.To(moment(second)) }

// leader has written 100 bytes, and all that params ask for is in order with it.
func leader() *wire.ManagerState {
	return &wire.ManagerState{
		Answers: true, Holds: true, NodeHistory: wire.NodeHistory{Writes: true, Leader: "a-db-0", Terms: []wire.WriterTerm{{From: moment(1)}}}, Waits: true, Paused: true, Members: 3, Timeline: 1, Written: 100,
		Config: params().Server.(engine.Described).Kept(Settings(params())),
	}
}

func standby() *wire.ManagerState {
	return &wire.ManagerState{Answers: true, Streaming: true, Synchronous: true, Paused: true, NodeHistory: wire.NodeHistory{Leader: "a-db-0"}, Members: 3, Timeline: 1, Received: 100, Applied: 100}
}

// trio is a cluster in order. A node that is nil has an agent that does not answer.
func trio() map[string]*wire.ManagerState {
	return map[string]*wire.ManagerState{"a-db-0": leader(), "a-db-1": standby(), "a-db-2": standby()}
}

// assess has the answers of agents made sense of, beside servers that run.
func assess(t *testing.T, p topology.Params, told map[string]*wire.ManagerState) topology.State {
	t.Helper()
	states := map[string]wire.NodeState{}
	for name, m := range told {
		if m != nil {
			states[name] = wire.NodeState{ServerPID: 7, Manager: m}
		}
	}
	return Driver{}.Assess(p, answers(t, p, states))
}

func answers(t *testing.T, p topology.Params, states map[string]wire.NodeState) topology.Answers {
	t.Helper()
	all := topology.Answers{}
	for _, n := range nodes(p).Nodes() {
		s, ok := states[n.Name]
		if !ok {
			all[n.Name] = topology.Answer{Err: "connection refused"}
			continue
		}
		body, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		all[n.Name] = topology.Answer{Body: body}
	}
	return all
}

func TestAssessOfAClusterInOrder(t *testing.T) {
	state := assess(t, params(), trio())
	if !state.Known || !state.Deployed || len(state.Writers) != 1 || state.Writers[0] != "a-db-0" || state.Why != "" {
		t.Fatalf("%+v", state)
	}
	if settled, why := state.Settled(nil); !settled {
		t.Errorf("not settled: %s", why)
	}
	if state.Manager["synchronous_mode"] != "quorum" {
		t.Errorf("Patroni runs with %v", state.Manager)
	}
	for i, want := range []topology.Role{topology.Writer, topology.Reader, topology.Reader} {
		if got := state.Nodes[i]; got.Role != want || !got.CaughtUp {
			t.Errorf("node %d is %+v, want %s", i, got, want)
		}
	}
}

// TestRolesOfNodes by what their agents tell.
func TestRolesOfNodes(t *testing.T) {
	for name, c := range map[string]struct {
		change   func(*wire.ManagerState) // of a-db-1
		role     topology.Role
		caughtUp bool
		why      string // a part of it
	}{
		"it follows":                   {func(*wire.ManagerState) {}, topology.Reader, true, ""},
		"it has not applied all":       {func(m *wire.ManagerState) { m.Applied = 99 }, topology.Reader, false, ""},
		"it is on another timeline":    {func(m *wire.ManagerState) { m.Timeline = 2 }, topology.Reader, false, "timeline 2"},
		"it receives nothing":          {func(m *wire.ManagerState) { m.Streaming = false }, topology.Reader, false, "receives nothing"},
		"it lost its lock":             {func(m *wire.ManagerState) { m.Streaming, m.Written = false, 99 }, topology.Reader, false, "its lock is over"},
		"its server is hung or starts": {func(m *wire.ManagerState) { *m = wire.ManagerState{State: "starting"} }, topology.Down, false, `"starting"`},
		"it is made a copy of another": {func(m *wire.ManagerState) {
			*m = wire.ManagerState{State: "creating replica", NodeHistory: wire.NodeHistory{Why: "a copy"}}
		}, topology.Down, false, "a copy"},
		"both take writes for a moment": {func(m *wire.ManagerState) { m.Streaming, m.Writes, m.Written, m.Timeline = false, true, 99, 1 }, topology.Reader, false, "its lock is over"},
	} {
		t.Run(name, func(t *testing.T) {
			all := trio()
			c.change(all["a-db-1"])
			state := assess(t, params(), all)
			if got := state.Nodes[1]; got.Role != c.role || got.CaughtUp != c.caughtUp || !strings.Contains(got.Why, c.why) || c.why == "" && got.Why != "" {
				t.Errorf("%+v, want %s, caught up %v, since it %q", got, c.role, c.caughtUp, c.why)
			}
			if len(state.Writers) != 1 || state.Writers[0] != "a-db-0" {
				t.Errorf("writers %v", state.Writers)
			}
			if settled, _ := state.Settled(nil); settled != c.caughtUp || state.Deployed != c.caughtUp {
				t.Errorf("settled %v, deployed %v", settled, state.Deployed)
			}
		})
	}
}

// TestOfTwoThatTakeWritesTheLaterHistoryCounts: the other has not heard of it.
func TestOfTwoThatTakeWritesTheLaterHistoryCounts(t *testing.T) {
	all := trio()
	next := leader()
	next.Timeline, next.Terms = 2, []wire.WriterTerm{{From: moment(20), After: "a-db-0", NoticedAt: momentPtr(19)}}
	all["a-db-1"] = next
	state := assess(t, params(), all)
	if state.Writers[0] != "a-db-1" || len(state.Writers) != 1 || state.Nodes[0].Role != topology.Reader || state.Nodes[0].CaughtUp {
		t.Errorf("%+v", state)
	}
}

// TestANodeWithoutAServerIsDown, and says what Patroni does with it.
func TestANodeWithoutAServerIsDown(t *testing.T) {
	states := map[string]wire.NodeState{}
	for name, m := range trio() {
		states[name] = wire.NodeState{ServerPID: 7, Manager: m}
	}
	states["a-db-1"] = wire.NodeState{Manager: &wire.ManagerState{State: "stopped", Timeline: 1, Applied: 100}}
	states["a-db-2"] = wire.NodeState{ServerPID: 7}
	state := Driver{}.Assess(params(), answers(t, params(), states))
	if got := state.Nodes[1]; got.Role != topology.Down || !strings.Contains(got.Why, `no server, and is "stopped"`) {
		t.Errorf("%+v", got)
	}
	if got := state.Nodes[2]; got.Role != topology.Down || !strings.Contains(got.Why, "cannot be read") {
		t.Errorf("an agent that knows of no Patroni: %+v", got)
	}
}
