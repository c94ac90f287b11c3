package verdict

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/topology"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/evidencetest"
	"replab.dev/internal/wire"
)

// apart is the evidence of two primaries that a fault kept from each other: each lacks what the other one took.
func apart(hold int64, missing, extra int64) evidence.Run {
	e := evidencetest.Sound()
	e.Independent = true
	e.Spec.Topology = v1alpha1.TopologySpec{Type: v1alpha1.TopologyDualPrimary, Nodes: 2}
	e.Spec.Faults = []v1alpha1.Fault{{Name: "crash", Action: v1alpha1.ActionPartition, PartitionFrom: v1alpha1.PartitionPeers, HoldSeconds: hold}}
	e.Faults[0].Role = v1alpha1.NodePrimary
	side := func(name string, missing, extra int64, sum string) wire.AuditedNode {
		return wire.AuditedNode{
			Name: name, Role: wire.RoleWriter, Rows: ptr.To[int64](993), Missing: &missing, Extra: &extra, ExtraProbeWrites: ptr.To[int64](0), Lost: &missing, Checksum: sum,
		}
	}
	e.Audit.Nodes = []wire.AuditedNode{side("db-0", missing, extra, "1"), side("db-1", extra, missing, "1")}
	e.Audit.GhostWrites, e.Audit.Divergence = ptr.To(missing+extra), &wire.Divergence{}
	e.State = topology.State{Known: true, Independent: true, Writers: []string{"db-0", "db-1"}, Nodes: []topology.NodeState{
		{Name: "db-0", Role: wire.RoleWriter, CaughtUp: true}, {Name: "db-1", Role: wire.RoleWriter, CaughtUp: true},
	}}
	e.Rest = &v1alpha1.RestStatus{AtRest: metav1.ConditionTrue, Writers: e.State.Writers}
	return e
}

// wrote makes seconds in which the nodes acknowledged the last write, and one without a write between them.
func wrote(e *evidence.Run, nodes ...int) {
	e.Recorder.Timeline = nil
	for _, n := range nodes {
		e.Recorder.Timeline = append(e.Recorder.Timeline, wire.Second{Writer: e.State.Writers[n]}, wire.Second{})
	}
}

func TestAFaultExplainsTwoMoves(t *testing.T) {
	for _, c := range []struct {
		writes v1alpha1.WriteTarget
		nodes  []int
		noted  bool
	}{
		{v1alpha1.WritesPrimary, []int{0, 1, 0}, false}, {v1alpha1.WritesPrimary, []int{0, 1, 0, 0, 1}, true}, {v1alpha1.WritesAll, []int{0, 1, 0, 0, 1}, false},
	} {
		e := apart(5, 0, 0)
		e.Spec.Routing.Writes = c.writes
		wrote(&e, c.nodes...)
		s := v1alpha1.ReplicationExperimentStatus{}
		Judge(e, &s)
		if noted := strings.Contains(strings.Join(s.Notes, " "), "moved the writes"); noted != c.noted {
			t.Errorf("writes %s to %v: noted %t in %q", c.writes, c.nodes, noted, s.Notes)
		}
	}
}

func TestIndependentNodes(t *testing.T) {
	differ := func(a *wire.AuditResult, rows int64) {
		a.Divergence = &wire.Divergence{Rows: rows}
		a.Nodes[1].Checksum = "2"
	}
	for name, c := range map[string]struct {
		e        evidence.Run
		change   func(*evidence.Run)
		verdict  v1alpha1.Verdict
		diverged *int64
		says     string // a reason or a note
	}{
		"both have all": {
			e: apart(5, 0, 0), verdict: v1alpha1.VerdictPassed, diverged: ptr.To[int64](0),
		},
		"rows differ": {
			e: apart(5, 0, 0), change: func(e *evidence.Run) { differ(e.Audit, 7) }, verdict: v1alpha1.VerdictPassed, diverged: ptr.To[int64](7),
			says: "7 rows differ between the nodes",
		},
		"writes that the proxy moved": {
			e: apart(5, 0, 0), change: func(e *evidence.Run) { wrote(e, 0, 1, 0, 1) }, verdict: v1alpha1.VerdictPassed, diverged: ptr.To[int64](0),
			says: "moved the writes between the nodes at least 3 times (1 faults)",
		},
		"checksums differ and no row does": {
			e: apart(5, 0, 0), change: func(e *evidence.Run) { e.Audit.Nodes[1].Checksum = "2" }, verdict: v1alpha1.VerdictInvalid, diverged: ptr.To[int64](0),
			says: "holds the same writes as the reference node, but other rows",
		},
		"one says that it has all, and lacks some": {
			e: apart(5, 3, 0), verdict: v1alpha1.VerdictInvalid, diverged: ptr.To[int64](0), says: "db-0 reports that it applied all writes, but its table lacks 3",
		},
		"one lacks some since its replication stopped": {
			e: apart(5, 3, 0), change: func(e *evidence.Run) { e.State.Nodes[0].Stopped, e.State.Nodes[0].Why = true, "duplicate key" },
			verdict: v1alpha1.VerdictPassed, says: "db-0 stopped replicating by itself and lacks 3 writes of the other node: duplicate key",
		},
		"rows of a node that stopped replicating are no divergence": {
			e: apart(5, 0, 0), change: func(e *evidence.Run) { e.State.Nodes[0].Stopped = true; differ(e.Audit, 7) },
			verdict: v1alpha1.VerdictPassed, says: "Divergent rows are not reported: db-0 stopped replicating",
		},
		"nor are those of nodes that did not come to rest": {
			e: apart(5, 0, 0), change: func(e *evidence.Run) { e.Rest.AtRest = metav1.ConditionFalse; differ(e.Audit, 7) },
			verdict: v1alpha1.VerdictInconclusive, says: "Divergent rows are not reported: the nodes had not applied all",
		},
		"apart until the audit, and one stopped since": {
			e: apart(-1, 3, 4), change: func(e *evidence.Run) {
				e.Recount = apart(5, 3, 1).Audit
				e.Recount.Nodes[1].Role = wire.RoleReader
				e.State.Nodes[0].Stopped = true
			}, verdict: v1alpha1.VerdictPassed, says: "Divergent rows are not reported: db-0 stopped replicating",
		},
		"apart until the audit, and not compared since": {
			e: apart(-1, 3, 4), verdict: v1alpha1.VerdictPassed, says: "Divergent rows are not reported: a fault kept the nodes from exchanging their writes",
		},
		"apart until the audit, and compared since": {
			e: apart(-1, 3, 4), change: func(e *evidence.Run) {
				e.Recount = apart(5, 0, 0).Audit
				e.Recount.Nodes[1].Role = wire.RoleReader
				differ(e.Recount, 2)
			}, verdict: v1alpha1.VerdictPassed, diverged: ptr.To[int64](2), says: "2 rows differ",
		},
		"one was not read": {
			e: apart(-1, 0, 0), change: func(e *evidence.Run) {
				e.Spec.Faults[0].Action = v1alpha1.ActionKill
				e.Audit.Nodes[0] = wire.AuditedNode{Name: "db-0", Role: wire.RoleDown, Failed: "no answer"}
				e.Audit.Divergence, e.Audit.GhostWrites = nil, nil
			}, verdict: v1alpha1.VerdictPassed, says: "db-0 was not read. Writes that it alone holds count as lost",
		},
		"rows could not be compared": {
			e: apart(5, 0, 0), change: func(e *evidence.Run) { e.Audit.Divergence.Failed = "lost connection" }, verdict: v1alpha1.VerdictPassed,
			says: "Divergent rows are not reported: lost connection",
		},
	} {
		t.Run(name, func(t *testing.T) {
			e, s := c.e, v1alpha1.ReplicationExperimentStatus{}
			if c.change != nil {
				c.change(&e)
			}
			Judge(e, &s)
			if s.Verdict != c.verdict || !ptr.Equal(s.Writes.DivergentRows, c.diverged) {
				t.Errorf("%s, divergent rows %v: %q, %q", s.Verdict, s.Writes.DivergentRows, s.Reasons, s.Notes)
			}
			if !slices.ContainsFunc(slices.Concat(s.Reasons, s.Notes, []string{""}), func(said string) bool { return strings.Contains(said, c.says) }) {
				t.Errorf("%q is not among %q and %q", c.says, s.Reasons, s.Notes)
			}
		})
	}
}

// TestEachSideIsCounted: what each of two primaries lacks, and what it alone has.
func TestEachSideIsCounted(t *testing.T) {
	e, s := apart(-1, 3, 4), v1alpha1.ReplicationExperimentStatus{}
	Judge(e, &s)
	for i, want := range [][3]int64{{3, 4, 3}, {4, 3, 4}} {
		if n := s.Nodes[i]; *n.Missing != want[0] || *n.GhostWrites != want[1] || *n.Lost != want[2] {
			t.Errorf("node %d: missing %d, of its own %d, lost %d; want %v", i, *n.Missing, *n.GhostWrites, *n.Lost, want)
		}
	}
	if s.GhostWrites == nil || *s.GhostWrites != 7 {
		t.Errorf("ghost writes of both sides: %v", s.GhostWrites)
	}
}

// TestAGoalOnDivergentRowsThatAreUnknownIsUnknown.
func TestAGoalOnDivergentRowsThatAreUnknownIsUnknown(t *testing.T) {
	e, s := apart(-1, 0, 0), v1alpha1.ReplicationExperimentStatus{}
	e.Spec.Goals = []v1alpha1.Goal{{Metric: "divergentRows", Max: ptr.To[int64](0)}}
	if Judge(e, &s); s.Verdict != v1alpha1.VerdictInconclusive {
		t.Errorf("%s: %q", s.Verdict, s.Reasons)
	}
	e.Recount = apart(5, 0, 0).Audit
	if Judge(e, &s); s.Verdict != v1alpha1.VerdictPassed {
		t.Errorf("%s: %q", s.Verdict, s.Reasons)
	}
}
