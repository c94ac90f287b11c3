package verdict

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/topology"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/evidencetest"
	"replab.dev/internal/wire"
)

// TestRowsAndLogsOfANodeAgree, or the run is Invalid. In sound evidence db-1 was promoted at 31.5 s; db-0 was read before it rejoined.
func TestRowsAndLogsOfANodeAgree(t *testing.T) {
	read := func(rows, users, probes, at int64) *wire.InspectedNode {
		return &wire.InspectedNode{Inspections: 1, Ghosts: &rows, LoggedGhosts: &rows, GhostCommits: &users, ProbeGhostCommits: &probes, LoggedAt: evidencetest.AtPtr(at)}
	}
	for name, c := range map[string]struct {
		inspected    *wire.InspectedNode
		change       func(*evidence.Run)
		want         v1alpha1.Verdict
		transactions string // only of db-0
		says         string
	}{
		"as many":                             {read(7, 7, 3, 40_000), nil, v1alpha1.VerdictPassed, "10", ""},
		"none":                                {read(0, 0, 0, 40_000), nil, v1alpha1.VerdictPassed, "0", ""},
		"more rows than commits":              {read(7, 6, 3, 40_000), nil, v1alpha1.VerdictInvalid, "9", "Node db-0 held 7 writes of its own, but its log has 6 such commits"},
		"more commits than rows":              {read(6, 7, 3, 40_000), nil, v1alpha1.VerdictInvalid, "10", "held 6 writes of its own, but its log has 7 such commits"},
		"a server that forgets forgets both":  {read(6, 7, 3, 40_000), func(e *evidence.Run) { e.Spec.Topology.Durability = v1alpha1.DurabilityVolatile }, v1alpha1.VerdictInvalid, "10", "its log has 7"},
		"a proxy that sends twice":            {read(6, 7, 3, 40_000), func(e *evidence.Run) { e.SendsTwice = true }, v1alpha1.VerdictPassed, "10", ""},
		"a proxy that sends twice adds none":  {read(7, 6, 3, 40_000), func(e *evidence.Run) { e.SendsTwice = true }, v1alpha1.VerdictInvalid, "9", "its log has 6"},
		"no log was read":                     {&wire.InspectedNode{Inspections: 1, Ghosts: ptr.To[int64](7)}, nil, v1alpha1.VerdictPassed, "absent", ""},
		"a log that could not be read":        {&wire.InspectedNode{Ghosts: ptr.To[int64](7), LogUnknown: "no fork"}, nil, v1alpha1.VerdictPassed, "absent", "Ghost writes of node db-0 are counted by its rows alone: no fork."},
		"another failover came since":         {read(7, 2, 0, 31_400), nil, v1alpha1.VerdictPassed, "absent", "held 7 writes of its own and 2 log commits. They are not compared"},
		"another one is under way":            {read(7, 2, 0, 40_000), func(e *evidence.Run) { e.State.Failovers[0].PromotedAt = nil }, v1alpha1.VerdictPassed, "absent", "They are not compared, because a failover may have followed"},
		"by clocks that do not tell":          {read(7, 2, 0, 31_600), func(e *evidence.Run) { e.Recorder.Clocks[1] = evidencetest.Clock("director", -200, 200) }, v1alpha1.VerdictPassed, "absent", "They are not compared, because a failover may have followed"},
		"by a clock that nobody knows":        {read(7, 2, 0, 40_000), func(e *evidence.Run) { e.Recorder.Clocks = e.Recorder.Clocks[:1] }, v1alpha1.VerdictPassed, "absent", "They are not compared, because a failover may have followed"},
		"whose failovers nobody knows":        {read(7, 2, 0, 40_000), func(e *evidence.Run) { e.State = topology.State{Why: "no answer"} }, v1alpha1.VerdictInconclusive, "absent", "They are not compared, because a failover may have followed"},
		"a node may tell of another one":      {read(7, 2, 0, 40_000), func(e *evidence.Run) { e.State.Silent = []string{"db-2"} }, v1alpha1.VerdictPassed, "absent", "They are not compared, because a failover may have followed"},
		"nothing that could be held to a log": {read(0, 0, 4, 31_400), nil, v1alpha1.VerdictPassed, "absent", "!log commits"},
		"it holds some now": {read(7, 7, 3, 40_000), func(e *evidence.Run) {
			e.Audit.Nodes[0].Extra = ptr.To[int64](1)
		}, v1alpha1.VerdictPassed, "absent", ""},
		"it was not read now": {read(7, 7, 3, 40_000), func(e *evidence.Run) {
			e.Audit.Nodes[0].Extra, e.Audit.Nodes[0].Failed = nil, "no answer"
		}, v1alpha1.VerdictInconclusive, "absent", "The audit could not check node db-0: no answer"},
		"it takes the writes again": {read(7, 7, 3, 40_000), func(e *evidence.Run) {
			n := e.Audit.Nodes
			n[0].Role, n[0].Extra, n[0].ExtraProbeWrites, n[1].Role = wire.RoleWriter, nil, nil, wire.RoleReader
			e.State.Writers = []string{"db-0"}
		}, v1alpha1.VerdictPassed, "10", ""},
		"somebody deleted its data": {read(7, 7, 3, 40_000), func(e *evidence.Run) {
			e.Audit.Nodes[0].Inspected.FreshAt = evidencetest.AtPtr(35_000)
		}, v1alpha1.VerdictPassed, "absent", "Ghost writes of node db-0 are unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			s := judged(func(e *evidence.Run) {
				none := ptr.To[int64](0)
				e.Audit.Nodes[0] = wire.AuditedNode{Name: "db-0", Role: wire.RoleReader, Rows: ptr.To[int64](993), Missing: none, Extra: none, ExtraProbeWrites: none, Inspected: c.inspected}
				if c.change != nil {
					c.change(e)
				}
			})
			all := strings.Join(allSaid(s), "\n")
			says, not := strings.CutPrefix(c.says, "!")
			if s.Verdict != c.want || strings.Contains(all, says) == not {
				t.Errorf("%s, want %s with %q: %s", s.Verdict, c.want, c.says, all)
			}
			if got := fmt.Sprint(text(s.Nodes[0].GhostTransactions)); got != c.transactions {
				t.Errorf("transactions of its own: %s, want %s", got, c.transactions)
			}
		})
	}
}
