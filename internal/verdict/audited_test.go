package verdict

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/topology"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/wire"
)

func TestAnAuditOfSomethingElse(t *testing.T) {
	replica := func(e *evidence.Run) {
		e.Rest = &v1alpha1.RestStatus{AtRest: metav1.ConditionTrue}
		e.Audit.Nodes = append(e.Audit.Nodes, wire.AuditedNode{
			Name: "db-2", Role: wire.RoleReader, Rows: ptr.To[int64](990), Missing: ptr.To[int64](3), Extra: ptr.To[int64](0), ExtraProbeWrites: ptr.To[int64](0),
		})
	}
	cut := func(holdSeconds int64) func(*evidence.Run) {
		return func(e *evidence.Run) {
			replica(e)
			e.Spec.Faults = []v1alpha1.Fault{{Name: "cut", HoldSeconds: holdSeconds}}
			f := e.Faults[0]
			f.Name, f.Fault, f.Pod, f.Clock = "cut", "cut", "db-2", &v1alpha1.ClockStatus{}
			e.Faults = append(e.Faults, f)
		}
	}
	writer := func(e *evidence.Run, missing, extra int64) {
		if e.Rest == nil {
			e.Rest = &v1alpha1.RestStatus{AtRest: metav1.ConditionTrue, Writers: []string{"db-1", "db-2"}}
		}
		e.Audit.Nodes = append(e.Audit.Nodes, wire.AuditedNode{
			Name: "db-2", Role: wire.RoleWriter, Rows: ptr.To[int64](993), Missing: &missing, Extra: &extra, ExtraProbeWrites: ptr.To[int64](0),
		})
	}
	for name, c := range map[string]struct {
		change  func(*evidence.Run)
		verdict v1alpha1.Verdict
		says    string
	}{
		"the ledger's end was not read": {func(e *evidence.Run) {
			e.Audit.Writes.Sent, e.Audit.Writes.Acknowledged = 900, 890
		}, v1alpha1.VerdictInvalid, "a ledger of 900 writes (890 acknowledged); the recorder kept 1000 (990 acknowledged)"},
		"a replica at rest that misses rows":            {replica, v1alpha1.VerdictInvalid, "db-2 reports that it applied all writes, but its table lacks 3 of them"},
		"one that was cut off for a while":              {cut(5), v1alpha1.VerdictInvalid, "db-2 reports that it applied all"},
		"one that was still cut off misses what it may": {cut(-1), v1alpha1.VerdictPassed, ""},
		"one that had not come to rest": {func(e *evidence.Run) {
			replica(e)
			e.Rest = &v1alpha1.RestStatus{AtRest: metav1.ConditionFalse, Note: "db-2 lags"}
		}, v1alpha1.VerdictInconclusive, "db-2 lags"},
		"one whose killed server may have lost rows": {func(e *evidence.Run) {
			replica(e)
			e.Spec.Topology.Durability, e.State.Absences = v1alpha1.DurabilityVolatile, []topology.Absence{{Node: "db-2"}}
		}, v1alpha1.VerdictPassed, ""},
		"what was held has taken the writes back since": {func(e *evidence.Run) {
			e.Rest = &v1alpha1.RestStatus{AtRest: metav1.ConditionTrue, Writers: []string{"db-1"}}
			e.State.Writers, e.State.Nodes = []string{"db-0"}, []topology.NodeState{{Name: "db-0", Role: wire.RoleWriter}, {Name: "db-1", Role: wire.RoleReader}}
		}, v1alpha1.VerdictPassed, ""},
		"another node had taken over when the tables had been read": {func(e *evidence.Run) {
			e.Rest = &v1alpha1.RestStatus{AtRest: metav1.ConditionTrue, Writers: []string{"db-0"}}
		}, v1alpha1.VerdictInconclusive, "node db-1, but another failover moved the writes"},
		"another writer beside the one that all are compared with is one no more": {func(e *evidence.Run) {
			e.Rest = &v1alpha1.RestStatus{AtRest: metav1.ConditionTrue, Writers: []string{"db-1"}}
			writer(e, 0, 0)
		}, v1alpha1.VerdictPassed, ""},
		"another writer lacks a write":         {func(e *evidence.Run) { writer(e, 1, 0) }, v1alpha1.VerdictInvalid, "db-2 reports that it applied all writes, but its table lacks 1 of them"},
		"another writer has one of its own":    {func(e *evidence.Run) { writer(e, 0, 1) }, v1alpha1.VerdictInvalid, "db-2 also takes writes, and has 1 that"},
		"another writer that was held has one": {func(e *evidence.Run) { cut(-1)(e); e.Audit.Nodes = e.Audit.Nodes[:2]; writer(e, 4, 1) }, v1alpha1.VerdictPassed, ""},
		"another node took over meanwhile": {func(e *evidence.Run) {
			e.State.Writers, e.State.Nodes = []string{"db-0"}, []topology.NodeState{{Name: "db-0", Role: wire.RoleWriter}, {Name: "db-1", Role: wire.RoleDown}}
		}, v1alpha1.VerdictInconclusive, "node db-1, but another failover moved the writes"},
		"nobody knows who takes the writes": {func(e *evidence.Run) { e.State.Writers = nil }, v1alpha1.VerdictInconclusive, "node db-1. Whether it still took the writes"},
	} {
		t.Run(name, func(t *testing.T) {
			s := judged(c.change)
			if all := strings.Join(allSaid(s), " "); s.Verdict != c.verdict || !strings.Contains(all, c.says) {
				t.Errorf("verdict %s, want %s: %q, want %q in it", s.Verdict, c.verdict, s.Reasons, c.says)
			}
		})
	}
}

// TestNodesThatHoldTheSameWritesHoldTheSameRows, or the run is Invalid.
func TestNodesThatHoldTheSameWritesHoldTheSameRows(t *testing.T) {
	nodes := func(role wire.Role, missing int64, primary, other string) func(*evidence.Run) {
		return func(e *evidence.Run) {
			e.Rest = &v1alpha1.RestStatus{AtRest: metav1.ConditionTrue}
			e.Audit.Nodes = []wire.AuditedNode{
				{Name: "db-1", Role: wire.RoleWriter, Checksum: primary},
				{Name: "db-0", Role: role, Missing: &missing, Extra: ptr.To[int64](0), ExtraProbeWrites: ptr.To[int64](0), Checksum: other},
			}
		}
	}
	for name, c := range map[string]struct {
		change func(*evidence.Run)
		want   v1alpha1.Verdict
	}{
		"the same":                  {nodes(wire.RoleReader, 0, "17", "17"), v1alpha1.VerdictPassed},
		"others":                    {nodes(wire.RoleReader, 0, "17", "18"), v1alpha1.VerdictInvalid},
		"others of another writer":  {nodes(wire.RoleWriter, 0, "17", "18"), v1alpha1.VerdictInvalid},
		"not summed up":             {nodes(wire.RoleReader, 0, "17", ""), v1alpha1.VerdictPassed},
		"the primary was not":       {nodes(wire.RoleReader, 0, "", "18"), v1alpha1.VerdictPassed},
		"of a node that is no part": {nodes(wire.RoleIsolated, 0, "17", "18"), v1alpha1.VerdictPassed},
		"of one that is held": {func(e *evidence.Run) {
			nodes(wire.RoleReader, 0, "17", "18")(e)
			e.Spec.Faults = []v1alpha1.Fault{{Name: "crash", Action: v1alpha1.ActionPartition, HoldSeconds: -1}}
		}, v1alpha1.VerdictPassed},
	} {
		t.Run(name, func(t *testing.T) {
			if s := judged(c.change); s.Verdict != c.want {
				t.Errorf("%s, want %s: %q", s.Verdict, c.want, s.Reasons)
			}
		})
	}
}

// TestNodesThatAreBackHoldWhatTheyWereBroughtBackWith, or the run is Invalid.
func TestNodesThatAreBackHoldWhatTheyWereBroughtBackWith(t *testing.T) {
	back := func(missing, extra int64, sum, failed string) func(*evidence.Run) {
		return func(e *evidence.Run) {
			e.Recount = &wire.AuditResult{Nodes: []wire.AuditedNode{
				{Name: "db-0", Role: wire.RoleReader, Rows: ptr.To[int64](993), Missing: &missing, Extra: &extra, Checksum: sum, Failed: failed},
				{Name: "db-1", Role: wire.RoleWriter, Rows: ptr.To[int64](993), Checksum: "17"},
			}}
		}
	}
	for name, c := range map[string]struct {
		change func(*evidence.Run)
		want   v1alpha1.Verdict
		rows   bool
		reason string
	}{
		"all of it":           {back(0, 0, "17", ""), v1alpha1.VerdictPassed, true, ""},
		"less":                {back(2, 0, "16", ""), v1alpha1.VerdictInvalid, true, "lacks 2 and has 0 of its own"},
		"more":                {back(0, 1, "18", ""), v1alpha1.VerdictInvalid, true, "lacks 0 and has 1 of its own"},
		"something else":      {back(0, 0, "18", ""), v1alpha1.VerdictInvalid, true, "checksums 18 and 17"},
		"nobody could ask it": {back(0, 0, "", "it gave no answer"), v1alpha1.VerdictInconclusive, false, "db-0 came back after the audit and was not compared: it gave no answer"},
		"it cannot be read":   {func(e *evidence.Run) { e.Recount = &wire.AuditResult{Failed: "no JSON"} }, v1alpha1.VerdictInconclusive, false, "were not compared: no JSON"},
		"nobody asked it":     {func(*evidence.Run) {}, v1alpha1.VerdictPassed, false, ""},
		"a server that forgets": {func(e *evidence.Run) {
			back(2, 0, "16", "")(e)
			e.Spec.Topology.Durability, e.Spec.Faults = v1alpha1.DurabilityVolatile, []v1alpha1.Fault{{Name: "crash", Action: v1alpha1.ActionKill}}
		}, v1alpha1.VerdictPassed, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := judged(c.change)
			if s.Nodes[1].RejoinedRows != nil {
				t.Error("the node that others were compared with is said to have come back")
			}
			if s.Verdict != c.want || (s.Nodes[0].RejoinedRows != nil) != c.rows || !strings.Contains(strings.Join(allSaid(s), "\n"), c.reason) {
				t.Errorf("%s, rows %v: %q", s.Verdict, text(s.Nodes[0].RejoinedRows), s.Reasons)
			}
		})
	}
}
