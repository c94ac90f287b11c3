package verdict

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/evidencetest"
	"replab.dev/internal/wire"
)

// In sound evidence db-0, which acknowledged writes until it was killed, has one ghost.
func TestGhostsOfANodeWhoseDataAreGoneAreUnknown(t *testing.T) {
	wiped := func(e *evidence.Run) {
		n := &e.Audit.Nodes[0]
		n.Extra, n.ExtraProbeWrites, n.GhostTransactions, n.HoldsOwn = ptr.To[int64](0), ptr.To[int64](0), ptr.To[int64](0), ptr.To(false)
	}
	deleted := func(medium string) func(*evidence.Run) {
		return func(e *evidence.Run) {
			e.Spec.Topology.Storage = v1alpha1.StorageSpec{Medium: medium}
			e.Spec.Faults = []v1alpha1.Fault{{Name: "crash", Action: v1alpha1.ActionDeletePod}}
			e.Faults[0].Role, e.Faults[0].Clock = v1alpha1.NodePrimary, &v1alpha1.ClockStatus{}
		}
	}
	for name, c := range map[string]struct {
		change func(*evidence.Run)
		ghosts string
		says   string
	}{
		"data that are there":                          {func(*evidence.Run) {}, "1", ""},
		"data that are there, and no ghost":            {func(e *evidence.Run) { wiped(e); e.Audit.Nodes[0].HoldsOwn = ptr.To(true) }, "0", ""},
		"a node that acknowledged writes and has none": {wiped, "absent", "it acknowledged writes and holds none of its own"},
		"whatever its role is now":                     {func(e *evidence.Run) { wiped(e); e.Audit.Nodes[0].Role = wire.RoleReader }, "absent", "holds none of its own"},
		"a node that could not be asked for its own":   {func(e *evidence.Run) { e.Audit.Nodes[0].HoldsOwn = nil }, "absent", "its own transactions cannot be told apart"},
		"a replica that never wrote has none of its own": {func(e *evidence.Run) {
			wiped(e)
			e.Recorder.Writers, e.State.Failovers = e.Recorder.Writers[1:], nil
			e.Audit.Nodes[0].Role = wire.RoleReader
		}, "0", ""},
		"who wrote is not known of a restarted recorder":        {func(e *evidence.Run) { wiped(e); e.Recorder.Writers, e.Recorder.Incomplete = nil, "restarted" }, "absent", "holds none of its own"},
		"who wrote is not known where no answer named its node": {func(e *evidence.Run) { wiped(e); e.Recorder.Writers = nil }, "absent", "holds none of its own"},
		"a deleted pod whose data were in memory":               {deleted(v1alpha1.MediumMemory), "absent", "with its pod"},
		"a deleted pod whose data were on the node":             {deleted(v1alpha1.MediumNode), "absent", "with its pod"},
		"a deleted pod whose data are on a claim":               {deleted(v1alpha1.MediumVolumeClaim), "1", ""},
		"a deleted replica's data in memory held no ghosts":     {func(e *evidence.Run) { deleted(v1alpha1.MediumMemory)(e); e.Faults[0].Pod = "db-2" }, "1", ""},
		"a killed server's data in memory are there": {func(e *evidence.Run) {
			deleted(v1alpha1.MediumMemory)(e)
			e.Spec.Faults[0].Action = v1alpha1.ActionKill
		}, "1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			e, s := evidencetest.Sound(), v1alpha1.ReplicationExperimentStatus{}
			e.Spec.Goals = []v1alpha1.Goal{{Metric: "ghostWrites", Max: ptr.To[int64](1)}}
			c.change(&e)
			Judge(e, &s)
			met := "True"
			if c.ghosts == "absent" {
				met = "Unknown"
				if s.Nodes[0].GhostWrites != nil || s.Nodes[0].GhostTransactions != nil || s.Nodes[0].Rows == nil {
					t.Errorf("node %+v", s.Nodes[0])
				}
			}
			if got := fmt.Sprint(text(s.GhostWrites)); got != c.ghosts || string(s.Goals[0].Met) != met {
				t.Errorf("ghosts %v, goal %s; want %s", got, s.Goals[0].Met, c.ghosts)
			}
			if !strings.Contains(s.Nodes[0].Note, c.says) {
				t.Errorf("the note is %q, want %q", s.Nodes[0].Note, c.says)
			}
		})
	}
}

// TestGhostsOfInspectedNodes are what a node held at any of its starts, or nobody knows; never 0 for want of knowledge.
func TestGhostsOfInspectedNodes(t *testing.T) {
	for name, c := range map[string]struct {
		nodes  []*wire.InspectedNode // of db-0, the primary, and db-1
		change func(*evidence.Run)
		ghosts string // of each and their sum
		reason string
	}{
		"none":           {[]*wire.InspectedNode{{Ghosts: ptr.To[int64](0)}, {Ghosts: ptr.To[int64](0)}}, nil, "0 0 0", ""},
		"of both":        {[]*wire.InspectedNode{{Ghosts: ptr.To[int64](2)}, {Ghosts: ptr.To[int64](3)}}, func(e *evidence.Run) { e.Audit.GhostWrites = ptr.To[int64](4) }, "2 3 4", ""},
		"one is unknown": {[]*wire.InspectedNode{{Ghosts: ptr.To[int64](2)}, {Unknown: "its data were gone"}}, nil, "2 absent absent", "Ghost writes of node db-1 are unknown: its data were gone."},
		"a start before the load could not be read": {[]*wire.InspectedNode{{Ghosts: ptr.To[int64](0)}, {Ghosts: ptr.To[int64](1), Unknown: "it could not be read", UnknownAt: evidencetest.AtPtr(-9_000)}}, nil, "0 1 1", ""},
		"a start in the load could not be read": {
			[]*wire.InspectedNode{{Ghosts: ptr.To[int64](0)}, {Ghosts: ptr.To[int64](1), Unknown: "it could not be read", UnknownAt: evidencetest.AtPtr(9_000)}},
			nil, "0 absent absent", "Ghost writes of node db-1 are unknown: it could not be read",
		},
		"nobody asked it":                    {[]*wire.InspectedNode{{Unknown: "its agent does not answer"}, {Ghosts: ptr.To[int64](0)}}, nil, "absent 0 absent", "Ghost writes of node db-0 are unknown: its agent does not answer."},
		"its data were made before the load": {[]*wire.InspectedNode{{Ghosts: ptr.To[int64](0), FreshAt: evidencetest.AtPtr(-100)}, {Ghosts: ptr.To[int64](0), FreshAt: evidencetest.AtPtr(-60_000)}}, nil, "0 0 0", ""},
		"somebody deleted its pod with its data": {
			[]*wire.InspectedNode{{Ghosts: ptr.To[int64](0), FreshAt: evidencetest.AtPtr(-60_000)}, {Ghosts: ptr.To[int64](0), FreshAt: evidencetest.AtPtr(25_000)}},
			nil, "0 absent absent", "Ghost writes of node db-1 are unknown: its data were created at 12:00:25, during the load",
		},
		"its clock is ahead": {
			[]*wire.InspectedNode{{Ghosts: ptr.To[int64](0)}, {Ghosts: ptr.To[int64](0), FreshAt: evidencetest.AtPtr(5_000)}},
			func(e *evidence.Run) { e.Recorder.Clocks[2] = evidencetest.Clock("db-1", 9_990, 10_010) }, "0 0 0", "",
		},
		"its clock is behind": {
			[]*wire.InspectedNode{{Ghosts: ptr.To[int64](0)}, {Ghosts: ptr.To[int64](0), FreshAt: evidencetest.AtPtr(-5_000)}},
			func(e *evidence.Run) { e.Recorder.Clocks[2] = evidencetest.Clock("db-1", -10_010, -9_990) }, "0 absent absent", "during the load; earlier data are gone",
		},
		"by a clock that nobody knows they may have been made in the load": {
			[]*wire.InspectedNode{{Ghosts: ptr.To[int64](0)}, {Ghosts: ptr.To[int64](0), FreshAt: evidencetest.AtPtr(-60_000)}},
			func(e *evidence.Run) { e.Recorder.Clocks = e.Recorder.Clocks[:2] }, "0 absent absent",
			"Ghost writes of node db-1 are unknown: its data were created at 11:59:00 by an unmeasured clock",
		},
		"and a start that could not be read may have been in it": {
			[]*wire.InspectedNode{{Ghosts: ptr.To[int64](0)}, {Ghosts: ptr.To[int64](1), Unknown: "it could not be read", UnknownAt: evidencetest.AtPtr(-9_000)}},
			func(e *evidence.Run) { e.Recorder.Clocks = e.Recorder.Clocks[:2] }, "0 absent absent", "Ghost writes of node db-1 are unknown: it could not be read",
		},
		"its pod was deleted with its data": {[]*wire.InspectedNode{{Ghosts: ptr.To[int64](0)}, {Ghosts: ptr.To[int64](0)}}, func(e *evidence.Run) {
			e.Spec.Faults = []v1alpha1.Fault{{Name: "crash", Action: v1alpha1.ActionDeletePod}}
			e.Spec.Topology.Storage.Medium = v1alpha1.MediumMemory
			e.Faults[0].Pod, e.Faults[0].Role = "db-1", v1alpha1.NodeReplica
		}, "0 absent absent", "Ghost writes of node db-1 are unknown: fault crash deleted its data"},
	} {
		t.Run(name, func(t *testing.T) {
			s := judged(func(e *evidence.Run) {
				e.Audit.Nodes = []wire.AuditedNode{
					{Name: "db-0", Role: wire.RoleWriter, Inspected: c.nodes[0]},
					{Name: "db-1", Role: wire.RoleReader, Missing: ptr.To[int64](0), Extra: ptr.To[int64](0), ExtraProbeWrites: ptr.To[int64](0), Inspected: c.nodes[1]},
				}
				e.Recorder.Clocks = append(e.Recorder.Clocks, evidencetest.Clock("db-1", 0, 0))
				if c.change != nil {
					c.change(e)
				}
			})
			got := fmt.Sprint(text(s.Nodes[0].GhostWrites), " ", text(s.Nodes[1].GhostWrites), " ", text(s.GhostWrites))
			if all := strings.Join(allSaid(s), "\n"); got != c.ghosts || !strings.Contains(all, c.reason) {
				t.Errorf("ghosts %s, want %s: %s", got, c.ghosts, all)
			}
		})
	}
}
