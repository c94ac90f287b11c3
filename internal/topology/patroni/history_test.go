package patroni

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"replab.dev/internal/topology"
	"replab.dev/internal/wire"
)

// TestFailoversAreTermsAfterAnothersEnd, by the clock of the new writer; one whose server took its place again is none.
func TestFailoversAreTermsAfterAnothersEnd(t *testing.T) {
	all := trio()
	all["a-db-0"].Terms = []wire.WriterTerm{
		{From: moment(1), To: momentPtr(4)},
		{From: moment(8), To: momentPtr(20), After: "a-db-0"},
		{From: moment(50), After: "a-db-2"},
	}
	all["a-db-1"].Terms = []wire.WriterTerm{{From: moment(22), To: momentPtr(30), After: "a-db-0", NoticedAt: momentPtr(21), ClosedAt: momentPtr(21)}}
	all["a-db-2"].Terms = []wire.WriterTerm{{From: moment(40), To: momentPtr(45), After: "a-db-1", NoticedAt: momentPtr(39)}}
	state := assess(t, params(), all)
	want := []topology.Failover{
		{Clock: "a-db-1", OldWriter: "a-db-0", NewWriter: "a-db-1", DetectedAt: moment(21), PromotedAt: momentPtr(22), Seen: true, ClosedAt: momentPtr(21)},
		{Clock: "a-db-2", OldWriter: "a-db-1", NewWriter: "a-db-2", DetectedAt: moment(39), PromotedAt: momentPtr(40), Seen: true},
		{Clock: "a-db-0", OldWriter: "a-db-2", NewWriter: "a-db-0", DetectedAt: moment(50), PromotedAt: momentPtr(50), Seen: true, Undetected: true},
	}
	if d := cmp.Diff(want, state.Failovers); d != "" {
		t.Errorf("failovers (-want +got):\n%s", d)
	}
	again := []topology.RestartInPlace{{Node: "a-db-0", Clock: "a-db-0", LostAt: moment(4), At: moment(8)}}
	if d := cmp.Diff(again, state.RestartsInPlace); d != "" {
		t.Errorf("restartsInPlace (-want +got):\n%s", d)
	}
}

// TestAFailoverThatWasAskedForIsPlanned, and one that comes long after, after one that failed, or to another node is not.
func TestAFailoverThatWasAskedForIsPlanned(t *testing.T) {
	for name, c := range map[string]struct {
		switchover wire.Switchover
		planned    bool
	}{
		"done":            {wire.Switchover{From: "a-db-0", RequestedAt: moment(19), To: "a-db-1", Outcome: wire.SwitchoverDone}, true},
		"clocks differ":   {wire.Switchover{From: "a-db-0", RequestedAt: moment(25), To: "a-db-1", Outcome: wire.SwitchoverDone}, true},
		"under way":       {wire.Switchover{From: "a-db-0", RequestedAt: moment(19)}, true},
		"failed":          {wire.Switchover{From: "a-db-0", RequestedAt: moment(19), Outcome: wire.SwitchoverFailed}, false},
		"to another node": {wire.Switchover{From: "a-db-0", RequestedAt: moment(19), To: "a-db-2", Outcome: wire.SwitchoverDone}, false},
		"afterwards":      {wire.Switchover{From: "a-db-0", RequestedAt: moment(40), To: "a-db-1", Outcome: wire.SwitchoverDone}, false},
		"long before":     {wire.Switchover{From: "a-db-0", RequestedAt: moment(-60), To: "a-db-1", Outcome: wire.SwitchoverDone}, false},
	} {
		all := trio()
		c.switchover.Name = "planned"
		all["a-db-0"].Switchovers = []wire.Switchover{c.switchover}
		all["a-db-1"].Terms = []wire.WriterTerm{{From: moment(22), After: "a-db-0", NoticedAt: momentPtr(21)}}
		state := assess(t, params(), all)
		if got := state.Failovers[0].Planned; got != c.planned {
			t.Errorf("%s: planned is %v", name, got)
		}
		if w := state.Switchover("planned"); w == nil || w.OldWriter != "a-db-0" || w.NewWriter != c.switchover.To || w.Clock != "a-db-0" {
			t.Errorf("%s: the switchover is told as %+v", name, w)
		}
	}
}

// TestOneSwitchoverPlansOneFailover: the next one, soon after, was nobody's wish.
func TestOneSwitchoverPlansOneFailover(t *testing.T) {
	all := trio()
	all["a-db-0"].Terms = []wire.WriterTerm{{From: moment(1), To: momentPtr(20)}, {From: moment(30), To: momentPtr(40), After: "a-db-1"}}
	all["a-db-0"].Switchovers = []wire.Switchover{{Name: "planned", From: "a-db-0", RequestedAt: moment(19), To: "a-db-1", Outcome: wire.SwitchoverDone}}
	all["a-db-1"].Terms = []wire.WriterTerm{{From: moment(22), To: momentPtr(29), After: "a-db-0"}, {From: moment(45), After: "a-db-0"}}
	var planned []bool
	for _, f := range assess(t, params(), all).Failovers {
		planned = append(planned, f.Planned)
	}
	if d := cmp.Diff([]bool{true, false, false}, planned); d != "" {
		t.Error(d)
	}
}
