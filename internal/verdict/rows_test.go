package verdict

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/figure"
	"replab.dev/internal/topology"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/evidencetest"
	"replab.dev/internal/wire"
)

// lossy is evidence of 7 lost writes, of 3 recovered and of 2 vanished ones. Its writer is db-1.
func lossy() evidence.Run {
	e := evidencetest.Sound()
	w := e.Audit.Writes
	w.Lost, w.Recovered, w.Vanished, w.Balanced = 7, 3, 2, true
	return e
}

func moved(e *evidence.Run) {
	e.Rest = &v1alpha1.RestStatus{AtRest: metav1.ConditionTrue, Writers: []string{"db-0"}}
}

func restless(e *evidence.Run) {
	e.Rest = &v1alpha1.RestStatus{AtRest: metav1.ConditionFalse, Note: "db-0 lags"}
}

// TestLossesThatRestOnMissingRowsProveNoMiss: a goal and a suite count only losses that are certain.
func TestLossesThatRestOnMissingRowsProveNoMiss(t *testing.T) {
	unread := func(e *evidence.Run) { // of two primaries
		lost := e.Audit.Writes
		*e = apart(-1, 0, 0)
		e.Audit.Writes = lost
		e.Spec.Faults[0].Action = v1alpha1.ActionKill
		e.Audit.Nodes[0] = wire.AuditedNode{Name: "db-0", Role: wire.RoleDown, Failed: "no answer"}
		e.Audit.Divergence, e.Audit.GhostWrites = nil, nil
	}
	group := func(e *evidence.Run) {
		grouped(e)
		e.Audit.Nodes[0].Role = wire.RoleReader
	}
	several := func(e *evidence.Run) {
		group(e)
		e.Audit.Nodes[0].Role, e.State.Writers = wire.RoleWriter, []string{"db-0", "db-1"}
	}
	for name, c := range map[string]struct {
		change    func(*evidence.Run)
		lost      string
		recovered string
		goal      metav1.ConditionStatus // of at most 0 lost writes
	}{
		"all rows were read":                       {func(*evidence.Run) {}, "7", "3", "False"},
		"another node took over meanwhile":         {moved, "7?", "3?", "Unknown"},
		"nobody knows who takes the writes":        {func(e *evidence.Run) { e.State.Writers = nil }, "7?", "3?", "Unknown"},
		"a replica of a single writer lags":        {restless, "7", "3", "False"},
		"a failover was under way":                 {func(e *evidence.Run) { restless(e); e.State.Failovers = []topology.Failover{{OldWriter: "db-1"}} }, "7?", "3?", "Unknown"},
		"a lagging node may be the writer now":     {func(e *evidence.Run) { restless(e); e.State.Known, e.State.Writers = false, nil }, "7?", "3?", "Unknown"},
		"a member of a group lags":                 {func(e *evidence.Run) { group(e); restless(e) }, "≤7", "≥3", "Unknown"},
		"a member lags, and no recorder's results": {func(e *evidence.Run) { group(e); restless(e); e.Recorder = nil }, "7?", "≥3", "Unknown"},
		"a group at rest":                          {group, "7", "3", "False"},
		"several writers lag":                      {func(e *evidence.Run) { several(e); restless(e) }, "≤7", "≥3", "Unknown"},
		"one of two primaries was not read":        {unread, "≤7", "≥3", "Unknown"},
		"both primaries were read, and one lags": {func(e *evidence.Run) {
			lost := e.Audit.Writes
			*e = apart(5, 0, 0)
			e.Audit.Writes, e.Rest.AtRest = lost, metav1.ConditionFalse
		}, "7", "3", "False"},
		"a loss that may be more and may be none": {func(e *evidence.Run) {
			group(e)
			restless(e)
			e.Recorder.Acknowledgements = nil
		}, "7?", "≥3", "Unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			e, s := lossy(), v1alpha1.ReplicationExperimentStatus{}
			c.change(&e)
			e.Spec.Goals = []v1alpha1.Goal{{Metric: "lostWrites", Max: ptr.To[int64](0)}}
			Judge(e, &s)
			lost, recovered := figure.Read(&s, "writes.lost"), figure.Read(&s, "writes.recovered")
			if lost.Short() != c.lost || s.Columns["lostWrites"] != c.lost || recovered.Short() != c.recovered || s.Goals[0].Met != c.goal {
				t.Errorf("lost %s, recovered %s, goal %s; want %s, %s, %s: %q", lost.Short(), recovered.Short(), s.Goals[0].Met, c.lost, c.recovered, c.goal, s.Reasons)
			}
		})
	}
}

// TestNothingLostIsExactWhileRowsMayCome: more rows make no loss. By a node that may be no writer any more it is no account.
func TestNothingLostIsExactWhileRowsMayCome(t *testing.T) {
	for want, change := range map[string]func(*evidence.Run){
		"0":  func(e *evidence.Run) { grouped(e); restless(e) },
		"0?": moved,
	} {
		e, s := lossy(), v1alpha1.ReplicationExperimentStatus{}
		e.Audit.Writes.Lost = 0
		change(&e)
		Judge(e, &s)
		if got := figure.Read(&s, "writes.lost").Short(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestFiguresOfLossesHaveTheirBounds: what is said of lost writes, and ghosts, is no better known than these.
func TestFiguresOfLossesHaveTheirBounds(t *testing.T) {
	paths := []string{"writes.lostWhileDegraded", "faults[crash].lossWindowMilliseconds", "ghostWrites"}
	for name, c := range map[string]struct {
		change func(*evidence.Run)
		want   []string
	}{
		"all rows were read":               {func(*evidence.Run) {}, []string{"", "", ""}},
		"a member of a group lags":         {func(e *evidence.Run) { e.Grouped = true; restless(e) }, []string{"at most", "at most", "at most"}},
		"another node took over meanwhile": {moved, []string{"contradicted", "contradicted", "contradicted"}},
	} {
		s := judged(func(e *evidence.Run) {
			waitsForNone(e, 40, 40, degradedFrom(20_000, 32_500))
			lost(e, lostFrom(29_000, 29_500, 5))
			e.Recorder.Clocks = []wire.Clock{evidencetest.Clock("db-0", 0, 0)}
			c.change(e)
		})
		for i, path := range paths {
			if f := figure.Read(&s, path); f.Value == nil || f.Bound() != c.want[i] {
				t.Errorf("%s: %s is %s, want %s", name, path, f.Text(), c.want[i])
			}
		}
	}
}

// TestFiguresOfNodesHaveTheirBounds: they are by the rows of the same node.
func TestFiguresOfNodesHaveTheirBounds(t *testing.T) {
	paths := []string{"writes.unexpected", "writes.duplicates", "nodes[db-0].missing", "nodes[db-0].ghostWrites", "nodes[db-0].ghostTransactions"}
	for name, c := range map[string]struct {
		change func(*evidence.Run)
		want   string
	}{
		"all rows were read":               {func(*evidence.Run) {}, "0 0 2 1 3"},
		"a member of a group lags":         {func(e *evidence.Run) { grouped(e); restless(e) }, "≥0 ≥0 ≥2 ≤1 ≤3"},
		"another node took over meanwhile": {moved, "0? 0? 2? 1? 3?"},
	} {
		s := judged(func(e *evidence.Run) {
			e.Audit.Nodes[0].Missing = ptr.To[int64](2)
			c.change(e)
		})
		var got []string
		for _, path := range paths {
			got = append(got, figure.Read(&s, path).Short())
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: %s, want %s", name, text, c.want)
		}
	}
}
