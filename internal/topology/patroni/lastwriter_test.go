package patroni

import (
	"strings"
	"testing"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/topology"
	"replab.dev/internal/wire"
)

// TestAssessWhileNobodyTakesWrites: the one that the others name counts as the writer, whoever of them had the writes before, and what may
// keep standbys from them is said.
func TestAssessWhileNobodyTakesWrites(t *testing.T) {
	all := trio()
	delete(all, "a-db-0")
	all["a-db-1"].Terms = []wire.WriterTerm{{From: moment(1), To: momentPtr(5)}}
	all["a-db-2"].Terms = []wire.WriterTerm{{From: moment(6), To: momentPtr(9), After: "a-db-1"}}
	state := assess(t, params(), all)
	if len(state.Writers) != 1 || state.Writers[0] != "a-db-0" || state.Deployed {
		t.Errorf("%+v", state)
	}
	if len(state.Silent) != 1 || state.Silent[0] != "a-db-0" {
		t.Errorf("silent are %v", state.Silent)
	}
	if !strings.Contains(state.Why, "maximumLagOnFailoverBytes") || !strings.Contains(state.Why, "1048576") {
		t.Errorf("it waits for %q", state.Why)
	}
	if settled, _ := state.Settled(map[string]topology.Leave{"a-db-0": topology.MayBeDown}); settled {
		t.Error("settled without a writer")
	}
	if state := assess(t, params(), nil); state.Known || !strings.Contains(state.Why, "connection refused") {
		t.Errorf("no agent answers, and the state is %+v", state)
	}
}

// TestWhoIsThePrimaryWhileNobodyTakesWrites: never a standby that had the writes before, and nobody where nobody can tell.
func TestWhoIsThePrimaryWhileNobodyTakesWrites(t *testing.T) {
	// db-0 had the writes until db-1 took them, and is a standby now.
	began := func() map[string]*wire.ManagerState {
		all := trio()
		all["a-db-0"] = standby()
		all["a-db-0"].Terms = []wire.WriterTerm{{From: moment(1), To: momentPtr(5)}}
		for _, m := range all {
			m.Leader = "a-db-1"
		}
		all["a-db-1"] = &wire.ManagerState{State: "stopped", NodeHistory: wire.NodeHistory{Leader: "a-db-1", Terms: []wire.WriterTerm{{From: moment(6), To: momentPtr(30), After: "a-db-0"}}}}
		return all
	}
	named := func(all map[string]*wire.ManagerState, leader string) {
		for _, m := range all {
			m.Leader = leader
		}
	}
	for name, c := range map[string]struct {
		change func(map[string]*wire.ManagerState)
		want   string
	}{
		"the last one is down":                    {func(map[string]*wire.ManagerState) {}, "a-db-1"},
		"its agent does not answer":               {func(all map[string]*wire.ManagerState) { delete(all, "a-db-1") }, "a-db-1"},
		"nobody holds its lock":                   {func(all map[string]*wire.ManagerState) { named(all, "") }, "a-db-1"},
		"its agent went with it, and so its lock": {func(all map[string]*wire.ManagerState) { delete(all, "a-db-1"); named(all, "") }, ""},
		"the clock of the one before is ahead": {func(all map[string]*wire.ManagerState) {
			named(all, "")
			all["a-db-0"].Terms[0] = wire.WriterTerm{From: moment(50), To: momentPtr(55)}
		}, "a-db-1"},
		"the one that is named is a standby": {func(all map[string]*wire.ManagerState) { delete(all, "a-db-1"); named(all, "a-db-0") }, ""},
		"managers name different ones":       {func(all map[string]*wire.ManagerState) { all["a-db-2"].Leader = "a-db-0" }, ""},
		"what a manager said that is dead": {func(all map[string]*wire.ManagerState) {
			all["a-db-1"].Leader = "a-db-0"
			all["a-db-1"].Answers = false
		}, "a-db-1"},
		"nobody ever took them": {func(all map[string]*wire.ManagerState) {
			for name := range all {
				all[name] = standby()
			}
			named(all, "")
		}, ""},
	} {
		all := began()
		c.change(all)
		state := assess(t, params(), all)
		if got := strings.Join(state.Writers, " "); got != c.want {
			t.Errorf("%s: %q is to take them, want %q", name, got, c.want)
		}
		hit := ""
		for _, n := range state.Targets(v1alpha1.Fault{Target: v1alpha1.TargetPrimary}) {
			hit += n.Name
		}
		if hit != c.want {
			t.Errorf("%s: a fault on the primary hits %q, want %q", name, hit, c.want)
		}
	}
}

// TestAStandbyIsNotThePrimaryWhereAgentsSeeNoProcess, whatever the managers name: that it runs is known by its address alone.
func TestAStandbyIsNotThePrimaryWhereAgentsSeeNoProcess(t *testing.T) {
	states := map[string]wire.NodeState{}
	for _, name := range []string{"a-db-0", "a-db-1", "a-db-2"} {
		m := standby()
		m.Runs, m.Leader = true, "a-db-0"
		states[name] = wire.NodeState{Manager: m}
	}
	state := Driver{}.Assess(params(), answers(t, params(), states))
	if len(state.Writers) != 0 || state.Nodes[0].Role != topology.Reader {
		t.Errorf("%q are to take the writes, and the node that all name is a standby: %+v", state.Writers, state.Nodes[0])
	}
}
