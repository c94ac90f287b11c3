package verdict

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/evidencetest"
	"replab.dev/internal/wire"
)

// In sound evidence db-0 is an old primary that is kept apart, and db-1 the primary.
func TestUnreadServingNodeIsInconclusive(t *testing.T) {
	add := func(role wire.Role, failed string) func(*evidence.Run) {
		return func(e *evidence.Run) {
			e.Audit.Nodes = append(e.Audit.Nodes, wire.AuditedNode{Name: "db-2", Role: role, Failed: failed})
		}
	}
	held := func(f v1alpha1.Fault) func(*evidence.Run) {
		return func(e *evidence.Run) {
			add(wire.RoleReader, "node db-2 gave no answer")(e)
			f.Name = "hold"
			e.Spec.Faults = append(e.Spec.Faults, f)
			entry := e.Faults[0]
			entry.Name, entry.Fault, entry.Pod, entry.Clock = "hold", "hold", "db-2", &v1alpha1.ClockStatus{}
			e.Faults = append(e.Faults, entry)
		}
	}
	for name, c := range map[string]struct {
		change func(*evidence.Run)
		want   v1alpha1.Verdict
		reason string
	}{
		"replica without an answer": {add(wire.RoleReader, "node db-2 gave no answer"), v1alpha1.VerdictInconclusive, "The audit could not check node db-2: node db-2 gave no answer."},
		"corrupt replica":           {add(wire.RoleReader, "node db-2: table users has 9 rows when counted and 8 when scanned"), v1alpha1.VerdictInconclusive, "9 rows when counted"},
		"second writer":             {add(wire.RoleWriter, "node db-2 gave no answer"), v1alpha1.VerdictInconclusive, "node db-2 gave no answer."},
		"primary without checksum": {
			func(e *evidence.Run) { e.Audit.Nodes[1].Failed = "sum up the rows of node db-1: disk error" }, v1alpha1.VerdictInconclusive,
			"The audit could not check node db-1: sum up the rows of node db-1: disk error.",
		},
		"old primary kept apart": {func(e *evidence.Run) {
			e.Audit.Nodes[0] = wire.AuditedNode{Name: "db-0", Role: wire.RoleIsolated, Failed: "node db-0 gave no answer"}
		}, v1alpha1.VerdictPassed, "Ghost writes of node db-0 are unknown: node db-0 gave no answer."},
		"old primary whose transactions were not counted": {func(e *evidence.Run) {
			e.Audit.Nodes[0].GhostTransactions, e.Audit.Nodes[0].Failed = nil, "count the transactions that only node db-0 has: timeout"
		}, v1alpha1.VerdictPassed, "Ghost writes of node db-0 are counted by its rows alone: count the transactions that only node db-0 has: timeout."},
		"node that died after the nodes had come to rest": {add(wire.RoleDown, "node db-2 gave no answer"), v1alpha1.VerdictInconclusive, "The audit could not check node db-2: node db-2 gave no answer."},
		"node that a fault keeps down":                    {held(v1alpha1.Fault{Action: v1alpha1.ActionKill, HoldSeconds: -1}), v1alpha1.VerdictPassed, "Ghost writes of node db-2 are unknown"},
		"node that a fault keeps paused":                  {held(v1alpha1.Fault{Action: v1alpha1.ActionPause, HoldSeconds: -1}), v1alpha1.VerdictPassed, "Ghost writes of node db-2 are unknown"},
		"node that a fault had down before":               {held(v1alpha1.Fault{Action: v1alpha1.ActionKill, HoldSeconds: 5}), v1alpha1.VerdictInconclusive, "The audit could not check node db-2"},
		"node that is cut off from its peers, and not from the audit": {
			held(v1alpha1.Fault{Action: v1alpha1.ActionPartition, PartitionFrom: v1alpha1.PartitionPeers, HoldSeconds: -1}),
			v1alpha1.VerdictInconclusive, "The audit could not check node db-2",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := judged(c.change)
			if all := strings.Join(allSaid(s), "\n"); s.Verdict != c.want || !strings.Contains(all, c.reason) {
				t.Errorf("%s, want %s and %q: %s", s.Verdict, c.want, c.reason, all)
			}
			if unknown := strings.Contains(c.reason, "are unknown"); unknown && s.GhostWrites != nil {
				t.Errorf("ghosts are %d", *s.GhostWrites)
			}
		})
	}
}

func TestUnreadPrimaryIsOneReason(t *testing.T) {
	s := judged(func(e *evidence.Run) {
		e.Audit.Writes, e.Audit.Failed = nil, "node db-1 gave no answer"
		e.Audit.Nodes[1] = wire.AuditedNode{Name: "db-1", Role: wire.RoleWriter, Failed: "node db-1 gave no answer"}
		e.Audit.Nodes = append(e.Audit.Nodes, wire.AuditedNode{Name: "db-2", Role: wire.RoleReader, Rows: ptr.To[int64](9), Failed: "not compared: node db-1 gave no answer"})
	})
	if n := strings.Count(strings.Join(allSaid(s), "\n"), "db-1 gave no answer"); s.Verdict != v1alpha1.VerdictInconclusive || n != 1 {
		t.Errorf("%s, said %d times: %q", s.Verdict, n, s.Reasons)
	}
}

func TestUnreadRecountIsInconclusive(t *testing.T) {
	back := func(change func(reader, writer *wire.AuditedNode)) func(*evidence.Run) {
		return func(e *evidence.Run) {
			reader := wire.AuditedNode{Name: "db-0", Role: wire.RoleReader, Rows: ptr.To[int64](993), Missing: ptr.To[int64](0), Extra: ptr.To[int64](0), Checksum: "17"}
			writer := wire.AuditedNode{Name: "db-1", Role: wire.RoleWriter, Rows: ptr.To[int64](993), Checksum: "17"}
			change(&reader, &writer)
			e.Recount = &wire.AuditResult{Nodes: []wire.AuditedNode{reader, writer}}
		}
	}
	for name, c := range map[string]struct {
		change func(*evidence.Run)
		reason string
	}{
		"node that is back": {back(func(reader, _ *wire.AuditedNode) {
			*reader = wire.AuditedNode{Name: "db-0", Role: wire.RoleReader, Failed: "node db-0 gave no answer"}
		}), "db-0 came back after the audit and was not compared: node db-0 gave no answer."},
		"checksum of the primary": {
			back(func(_, writer *wire.AuditedNode) {
				writer.Checksum, writer.Failed = "", "sum up the rows of node db-1: disk error"
			}),
			"The nodes that came back after the audit were not compared: sum up the rows of node db-1: disk error.",
		},
		"an audit without a result": {func(e *evidence.Run) {
			e.Rest = &v1alpha1.RestStatus{AtRest: metav1.ConditionTrue, RecountFailed: "db-0: their audit left no result"}
		}, "The nodes that came back after the audit were not compared: db-0: their audit left no result."},
		"all of it": {func(e *evidence.Run) { e.Recount = &wire.AuditResult{Failed: "no JSON"} }, "The nodes that came back after the audit were not compared: no JSON."},
	} {
		t.Run(name, func(t *testing.T) {
			s := judged(c.change)
			if s.Verdict != v1alpha1.VerdictInconclusive || !strings.Contains(s.Reasons[0], c.reason) {
				t.Errorf("%s: %q", s.Verdict, s.Reasons)
			}
		})
	}
}

// What the audit noted beside the sets of writes.
func TestAuditSaysWhyWritesAreUnclear(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*wire.WriteSets)
		want   v1alpha1.Verdict
		reason string
	}{
		"rows that nobody seeded": {
			func(w *wire.WriteSets) {
				w.Balanced, w.Why = false, "501 rows of table users have no write id, and 500 were seeded"
			},
			v1alpha1.VerdictInvalid, "501 rows of table users have no write id, and 500 were seeded.",
		},
		"times of lost writes": {
			func(w *wire.WriteSets) { w.Lost, w.Why = 1, "the times of the lost writes are not known: EOF" },
			v1alpha1.VerdictFailed, "No loss window is reported: the times of the lost writes are not known: EOF.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := judged(func(e *evidence.Run) { c.change(e.Audit.Writes) })
			if s.Verdict != c.want || !strings.Contains(strings.Join(allSaid(s), "\n"), c.reason) {
				t.Errorf("%s: %q", s.Verdict, s.Reasons)
			}
		})
	}
}

// A write may be on two old primaries, each of which has it and the primary has not.
func TestGhostWritesAreDistinct(t *testing.T) {
	two := func(distinct *int64) func(*evidence.Run) {
		return func(e *evidence.Run) {
			n := e.Audit.Nodes[0]
			n.Name = "db-2"
			e.Audit.Nodes, e.Audit.GhostWrites = append(e.Audit.Nodes, n), distinct
		}
	}
	for name, c := range map[string]struct {
		change func(*evidence.Run)
		ghosts string
		reason string
	}{
		"the same on two nodes":             {two(ptr.To[int64](1)), "1", ""},
		"one on each of two nodes":          {two(ptr.To[int64](2)), "2", ""},
		"audit that told of no union":       {two(nil), "absent", "ghostWrites is unknown: several nodes have ghost writes, and the audit did not count how many they share."},
		"audit that told of no union, once": {func(*evidence.Run) {}, "1", ""},
		"node that is not known": {func(e *evidence.Run) {
			two(ptr.To[int64](1))(e)
			e.Audit.Nodes[2].HoldsOwn, e.Audit.Nodes[2].Extra = nil, nil
		}, "absent", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := judged(c.change)
			if got, all := fmt.Sprint(text(s.GhostWrites)), strings.Join(allSaid(s), "\n"); got != c.ghosts || !strings.Contains(all, c.reason) {
				t.Errorf("%s ghosts, want %s: %s", got, c.ghosts, all)
			}
		})
	}
}

// A node that joins again by itself keeps no set of its transactions: nothing tells what it had before.
func TestGhostsNeedKnownWriters(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*evidence.Run)
		ghosts string
		reason string
	}{
		"all answers named their nodes": {func(*evidence.Run) {}, "0", ""},
		"no answer did":                 {func(e *evidence.Run) { e.Recorder.Writers = nil }, "absent", "Ghost writes of node db-0 are unknown: 990 acknowledged writes named no node"},
		"some did not":                  {func(e *evidence.Run) { e.Recorder.UnnamedWrites = 7 }, "absent", "Ghost writes of node db-0 are unknown: 7 acknowledged writes named no node"},
		"the recorder was restarted":    {func(e *evidence.Run) { e.Recorder.Incomplete = "restarted" }, "absent", "Ghost writes of node db-0 are unknown: restarted"},
		"the recorder left nothing":     {func(e *evidence.Run) { e.Recorder = nil }, "absent", "Ghost writes of node db-0 are unknown: the recorder's results are missing"},
		"another node followed it": {func(e *evidence.Run) {
			e.State.Failovers[0].OldWriter = "db-0"
		}, "absent", "Ghost writes of node db-0 are unknown: its own transactions cannot be told apart"},
		"another node followed it before the load": {func(e *evidence.Run) {
			e.State.Failovers[0].OldWriter, e.State.Failovers[0].PromotedAt = "db-0", evidencetest.AtPtr(-9_000)
		}, "0", ""},
		"it is known to have its own data": {func(e *evidence.Run) { e.Recorder.Writers, e.Audit.Nodes[0].HoldsOwn = nil, ptr.To(true) }, "0", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := judged(func(e *evidence.Run) {
				e.Recorder.Writers, e.State.Failovers[0].OldWriter = []string{"db-1"}, "db-9"
				e.Audit.Nodes[0] = wire.AuditedNode{
					Name: "db-0", Role: wire.RoleReader, Rows: ptr.To[int64](993), Missing: ptr.To[int64](0), Extra: ptr.To[int64](0), ExtraProbeWrites: ptr.To[int64](0),
				}
				e.Spec.Goals = []v1alpha1.Goal{{Metric: "ghostWrites", Max: ptr.To[int64](0)}}
				c.change(e)
			})
			want := metav1.ConditionTrue
			if c.ghosts == "absent" {
				want = metav1.ConditionUnknown
			}
			if got, all := fmt.Sprint(text(s.GhostWrites)), strings.Join(allSaid(s), "\n"); got != c.ghosts || s.Goals[0].Met != want || !strings.Contains(all, c.reason) {
				t.Errorf("%s ghosts, want %s, goal %s: %s", got, c.ghosts, s.Goals[0].Met, all)
			}
		})
	}
}

func TestUnappliedTransactionsAreTold(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*evidence.Run)
		reason string
	}{
		"none": {func(*evidence.Run) {}, ""},
		"some": {
			func(e *evidence.Run) { e.State.Failovers[0].Unapplied = 12 },
			"Node db-1 took over from db-0 before it had applied 12 received transactions. Acknowledged writes among them may be lost.",
		},
		"before the load": {func(e *evidence.Run) {
			e.State.Failovers[0].Unapplied, e.State.Failovers[0].PromotedAt = 12, evidencetest.AtPtr(-9_000)
		}, ""},
		"a failover that is not over": {func(e *evidence.Run) { e.State.Failovers[0].Unapplied, e.State.Failovers[0].PromotedAt = 12, nil }, "applied 12 received transactions"},
	} {
		t.Run(name, func(t *testing.T) {
			s := judged(c.change)
			all := strings.Join(allSaid(s), "\n")
			if told := strings.Contains(all, "had applied"); told != (c.reason != "") || !strings.Contains(all, c.reason) {
				t.Errorf("want %q: %s", c.reason, all)
			}
		})
	}
}

func TestFailoverNeedsNamedWrites(t *testing.T) {
	const reason = "The failover is not reported: 990 acknowledged writes named no node."
	for name, c := range map[string]struct {
		change func(*evidence.Run)
		told   bool
	}{
		"all answers named their nodes":       {func(*evidence.Run) {}, false},
		"no answer did":                       {func(e *evidence.Run) { e.Recorder.Writers = nil }, true},
		"no answer did, nor took a node over": {func(e *evidence.Run) { e.Recorder.Writers, e.State.Failovers = nil, nil }, false},
		"nor did one before the load": {func(e *evidence.Run) {
			e.Recorder.Writers, e.State.Failovers[0].PromotedAt = nil, evidencetest.AtPtr(-9_000)
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := judged(func(e *evidence.Run) {
				if c.change(e); len(e.Recorder.Writers) == 0 {
					e.Recorder.Availability.Gaps = nil
				}
			})
			if told := strings.Contains(strings.Join(allSaid(s), "\n"), reason); told != c.told {
				t.Errorf("told %v: %q", told, s.Reasons)
			}
		})
	}
}

func TestUnnamedWritesMayBeOfUnsampledPrimary(t *testing.T) {
	s := judged(func(e *evidence.Run) {
		e.Recorder.UnnamedWrites, e.Recorder.Commits.Nodes[0] = 7, wire.NodeCommits{Name: "db-0"}
	})
	if all := strings.Join(allSaid(s), "\n"); s.Replication != nil || !strings.Contains(all, "node db-0 may have acknowledged writes and its counters were never read") {
		t.Errorf("replication is %+v: %s", s.Replication, all)
	}
}
