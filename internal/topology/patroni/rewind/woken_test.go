package rewind_test

import (
	"slices"
	"testing"

	"replab.dev/internal/agent/proc"
	"replab.dev/internal/wire"
)

// Nobody starts a node that wakes: what it has and others have not is read all the same.
func TestAnOldPrimaryThatWakesIsReadBeforeItIsRewound(t *testing.T) {
	nodes := start(t)
	old, promoted := newAgent(t, nodes[0]), nodes[1]
	must(t, insert(t, old.node, 1))
	await(t, "the other one has it", func() bool { return slices.Equal(ids(t, promoted), []uint64{1}) })

	old.cutOff(t)
	for _, id := range []int{10, 11} {
		must(t, insert(t, old.node, id))
	}
	fault := old.do(t, wire.FaultPause, -1)
	promoted.Await("it is the leader", "/leader")
	await(t, "it takes writes", func() bool { return insert(t, promoted, 2) == nil })
	all, err := old.family.All() // without those that had ended, and whose parent is stopped
	must(t, err)
	for _, p := range all {
		if stopped, err := p.Stopped(); !stopped || err != nil {
			t.Errorf("process %d is stopped: %v, %v", p.PID, stopped, err)
		}
	}
	_, err = old.faults.Release(fault.Name)
	must(t, err)
	await(t, "the old one follows", func() bool { return slices.Equal(ids(t, old.node), []uint64{1, 2}) })

	found := old.inspector.All().Inspections
	if len(found) != 1 || found[0].Error != "" || found[0].WAL == nil || *found[0].WriteIDs != 3 {
		t.Fatalf("inspected: %+v\n%s", found, old.node.Log())
	}
	if w := found[0].WAL; w.Error != "" || w.UserCommits != 2 || w.ProbeCommits != 0 || w.NewTimeline <= w.Timeline {
		t.Errorf("its log had %+v", w)
	}
	if slices.ContainsFunc(all[1:], proc.Process.Alive) {
		t.Error("a process of the server that took writes is left")
	}
}
