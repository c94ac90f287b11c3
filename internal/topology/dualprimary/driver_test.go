package dualprimary

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/engine/mariadb"
	"replab.dev/internal/engine/mysql"
	"replab.dev/internal/topology"
	"replab.dev/internal/wire"
)

func params(spec *v1alpha1.DualPrimarySpec) topology.Params {
	return topology.Params{
		Name: "a", Namespace: "ns", ClusterDomain: "cluster.local", Engine: "MySQL", Server: mysql.Server{},
		Spec: v1alpha1.TopologySpec{Type: v1alpha1.TopologyDualPrimary, Nodes: 2, DualPrimary: spec},
	}
}

// placed is a node in its place, as changed.
func placed(change func(*wire.PairState)) wire.NodeState {
	s := wire.PairState{NodeHistory: wire.NodeHistory{Writes: true}, Placed: true, Answers: true, Follows: true, CaughtUp: true}
	if change != nil {
		change(&s)
	}
	return wire.NodeState{ServerPID: 1, Pair: &s}
}

func assess(t *testing.T, nodes ...wire.NodeState) topology.State {
	t.Helper()
	answers := topology.Answers{}
	for i, name := range []string{"a-db-0", "a-db-1"} {
		if i >= len(nodes) {
			answers[name] = topology.Answer{Err: "refused"}
			continue
		}
		body, err := json.Marshal(nodes[i])
		if err != nil {
			t.Fatal(err)
		}
		answers[name] = topology.Answer{Body: body}
	}
	return Driver{}.Assess(params(nil), answers)
}

func TestAssess(t *testing.T) {
	down := wire.NodeState{Pair: &wire.PairState{Placed: true}}
	for name, c := range map[string]struct {
		nodes    []wire.NodeState
		writers  []string
		roles    [2]topology.Role
		deployed bool
		settled  bool
	}{
		"both take writes": {
			[]wire.NodeState{placed(nil), placed(nil)},
			[]string{"a-db-0", "a-db-1"},
			[2]topology.Role{topology.Writer, topology.Writer},
			true, true,
		},
		"one was never in its place": {
			[]wire.NodeState{placed(nil), placed(func(s *wire.PairState) { s.Placed = false })},
			[]string{"a-db-0", "a-db-1"},
			[2]topology.Role{topology.Writer, topology.Writer},
			false, true,
		},
		"one lacks something": {
			[]wire.NodeState{placed(nil), placed(func(s *wire.PairState) { s.CaughtUp = false })},
			[]string{"a-db-0", "a-db-1"},
			[2]topology.Role{topology.Writer, topology.Writer},
			true, false,
		},
		"one lacks something for good": {
			[]wire.NodeState{placed(nil), placed(func(s *wire.PairState) { s.CaughtUp, s.Stopped, s.Why = false, "duplicate key", "stopped" })},
			[]string{"a-db-0", "a-db-1"},
			[2]topology.Role{topology.Writer, topology.Writer},
			true, true,
		},
		"one is back and closed": {
			[]wire.NodeState{placed(func(s *wire.PairState) { s.Writes, s.CaughtUp = false, false }), placed(nil)},
			[]string{"a-db-1"},
			[2]topology.Role{topology.Reader, topology.Writer},
			true, false,
		},
		"one has no server": {
			[]wire.NodeState{placed(nil), down},
			[]string{"a-db-0"},
			[2]topology.Role{topology.Writer, topology.Down},
			true, false,
		},
		"one has a server that does not answer": {
			[]wire.NodeState{placed(nil), {ServerPID: 1, Pair: &wire.PairState{Placed: true}}},
			[]string{"a-db-0"},
			[2]topology.Role{topology.Writer, topology.Down},
			true, false,
		},
		"one agent is silent": {
			[]wire.NodeState{placed(nil)},
			[]string{"a-db-0"},
			[2]topology.Role{topology.Writer, topology.Down},
			false, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := assess(t, c.nodes...)
			settled, why := s.Settled(nil)
			if !slices.Equal(s.Writers, c.writers) || s.Nodes[0].Role != c.roles[0] || s.Nodes[1].Role != c.roles[1] || s.Deployed != c.deployed || settled != c.settled {
				t.Errorf("%+v, settled %t: %s", s, settled, why)
			}
			if !s.Independent {
				t.Errorf("the nodes are not independent: %+v", s)
			}
		})
	}
	if s := assess(t); s.Known {
		t.Errorf("nobody answers: %+v", s)
	}
}

// TestACutBetweenThemExcusesBoth: each lacks what the other one takes.
func TestACutBetweenThemExcusesBoth(t *testing.T) {
	behind := func(s *wire.PairState) { s.CaughtUp, s.Follows = false, false }
	s := assess(t, placed(behind), placed(behind))
	if settled, _ := s.Settled(nil); settled {
		t.Error("settled while both lack something, and no fault holds")
	}
	if settled, why := s.Settled(map[string]topology.Leave{"a-db-0": topology.MayLag}); !settled {
		t.Errorf("not settled while one is cut off from the other: %s", why)
	}
}

func TestTheSpecDecidesHowTheyReplicate(t *testing.T) {
	for name, c := range map[string]struct {
		spec       *v1alpha1.DualPrimarySpec
		waits      int
		logs, sync bool
	}{
		"by default":     {nil, 1, true, true},
		"asynchronous":   {&v1alpha1.DualPrimarySpec{SemiSync: ptr.To(false)}, 0, true, false},
		"without copies": {&v1alpha1.DualPrimarySpec{LogReplicaUpdates: ptr.To(false)}, 1, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Driver{}.System(params(c.spec))
			if err != nil {
				t.Fatal(err)
			}
			if s.CommitWaits != c.waits || s.CountCommits != c.sync || (s.Settings.SemiSync != nil) != c.sync || s.Settings.Pair.LogReplicaUpdates != c.logs || !s.Independent || !s.Routes.Several {
				t.Errorf("%+v", s)
			}
			if off := strings.Contains(s.Files["my.cnf"], "log-replica-updates=OFF\n"); off == c.logs {
				t.Errorf("the servers are told:\n%s", s.Files["my.cnf"])
			}
			var agent wire.AgentConfig
			if err := json.Unmarshal([]byte(s.Files["agent.json"]), &agent); err != nil {
				t.Fatal(err)
			}
			if agent.Pair == nil || agent.Pair.SemiSync != c.sync || len(agent.Pair.Nodes) != 2 || agent.Pair.Port != 3306 {
				t.Errorf("the agents are told %+v", agent.Pair)
			}
		})
	}
}

// TestNodesNumberApart: rows and transactions of the two never have the same number.
func TestNodesNumberApart(t *testing.T) {
	p := params(nil)
	p.Engine, p.Server = "MariaDB", mariadb.Server{}
	s, err := Driver{}.System(p)
	if err != nil {
		t.Fatal(err)
	}
	if config := s.Files["mariadb.cnf"]; !strings.Contains(config, "auto-increment-increment=2\n") || !strings.Contains(config, "log-slave-updates=ON\n") {
		t.Errorf("the servers are told:\n%s", config)
	}
	var server wire.ServerConfig
	if err := json.Unmarshal([]byte(s.Files["server.json"]), &server); err != nil || !server.Pair {
		t.Errorf("the start wrappers are told %+v, %v", server, err)
	}
}
