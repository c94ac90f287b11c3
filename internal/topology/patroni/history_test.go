package patroni

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
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
	all["a-db-1"].Terms = []wire.WriterTerm{{From: moment(22), To: momentPtr(30), After: "a-db-0", NoticedAt: momentPtr(21)}}
	all["a-db-2"].Terms = []wire.WriterTerm{{From: moment(40), To: momentPtr(45), After: "a-db-1", NoticedAt: momentPtr(39)}}
	state := assess(t, params(), all)
	want := []topology.Failover{
		{Clock: "a-db-1", OldWriter: "a-db-0", NewWriter: "a-db-1", DetectedAt: moment(21), PromotedAt: momentPtr(22), Seen: true},
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
		"done":            {wire.Switchover{RequestedAt: moment(19), To: "a-db-1", Outcome: wire.SwitchoverDone}, true},
		"clocks differ":   {wire.Switchover{RequestedAt: moment(25), To: "a-db-1", Outcome: wire.SwitchoverDone}, true},
		"under way":       {wire.Switchover{RequestedAt: moment(19)}, true},
		"failed":          {wire.Switchover{RequestedAt: moment(19), Outcome: wire.SwitchoverFailed}, false},
		"to another node": {wire.Switchover{RequestedAt: moment(19), To: "a-db-2", Outcome: wire.SwitchoverDone}, false},
		"afterwards":      {wire.Switchover{RequestedAt: moment(40), To: "a-db-1", Outcome: wire.SwitchoverDone}, false},
		"long before":     {wire.Switchover{RequestedAt: moment(-60), To: "a-db-1", Outcome: wire.SwitchoverDone}, false},
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
	all["a-db-0"].Switchovers = []wire.Switchover{{Name: "planned", RequestedAt: moment(19), To: "a-db-1", Outcome: wire.SwitchoverDone}}
	all["a-db-1"].Terms = []wire.WriterTerm{{From: moment(22), To: momentPtr(29), After: "a-db-0"}, {From: moment(45), After: "a-db-0"}}
	var planned []bool
	for _, f := range assess(t, params(), all).Failovers {
		planned = append(planned, f.Planned)
	}
	if d := cmp.Diff([]bool{true, false, false}, planned); d != "" {
		t.Error(d)
	}
}

// TestHowANodeCameBack: the time during which it was read before its own commits were taken back is not the topology's.
func TestHowANodeCameBack(t *testing.T) {
	rewind := func(code int) *wire.RewindNote {
		return &wire.RewindNote{BeganAt: moment(10), EndedAt: moment(16), InspectedMilliseconds: 2000, ExitCode: code}
	}
	for name, c := range map[string]struct {
		absence wire.Absence
		want    topology.Absence
	}{
		"by itself": {wire.Absence{}, topology.Absence{}},
		"rewound": {wire.Absence{Rewind: rewind(0)}, topology.Absence{
			RequestedAt: momentPtr(12), Resync: &v1alpha1.ResyncStatus{Method: v1alpha1.ResyncRewind, DurationMilliseconds: ptr.To[int64](4000)},
		}},
		"copied": {wire.Absence{Copied: true, CopyMilliseconds: ptr.To[int64](77)}, topology.Absence{
			Resync: &v1alpha1.ResyncStatus{Method: v1alpha1.ResyncBackup, DurationMilliseconds: ptr.To[int64](77)},
		}},
		"copied, and nobody saw when it was done": {wire.Absence{Copied: true}, topology.Absence{Resync: &v1alpha1.ResyncStatus{Method: v1alpha1.ResyncBackup}}},
		"copied, since it could not be rewound": {wire.Absence{Rewind: rewind(1), Copied: true, CopyMilliseconds: ptr.To[int64](77)}, topology.Absence{
			RequestedAt: momentPtr(12), Resync: &v1alpha1.ResyncStatus{Method: v1alpha1.ResyncBackup, DurationMilliseconds: ptr.To[int64](77)},
		}},
		"it cannot be rewound": {wire.Absence{Rewind: rewind(1)}, topology.Absence{RequestedAt: momentPtr(12)}},
	} {
		c.absence.LeftAt, c.absence.BackAt = moment(5), momentPtr(20)
		c.want.Node, c.want.Clock, c.want.LeftAt, c.want.BackAt = "a-db-1", "a-db-1", moment(5), momentPtr(20)
		all := trio()
		all["a-db-1"].Absences = []wire.Absence{c.absence}
		if d := cmp.Diff([]topology.Absence{c.want}, assess(t, params(), all).Absences); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}
