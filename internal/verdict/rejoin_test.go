package verdict

import (
	"fmt"
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

// The fault of sound comes at 30,005 ms. Its node's clock is the recorder's, the manager's is 1000 ms ahead, give or take 10.
func TestTheTimeUntilANodeIsBack(t *testing.T) {
	asked := func(action v1alpha1.FaultAction, hold int64) func(*evidence.Run) {
		return func(e *evidence.Run) {
			e.Spec.Faults = []v1alpha1.Fault{{Name: "crash", AtSeconds: 30, Action: action, HoldSeconds: hold}}
			e.Faults[0].PlannedTime = evidencetest.At(30_000)
			if hold > 0 {
				e.Faults[0].ReleasedTime = evidencetest.AtPtr(30_005 + hold*1000)
			}
		}
	}
	away := func(node string, left, back int64) func(*evidence.Run) {
		return func(e *evidence.Run) {
			a := topology.Absence{Node: node, Clock: "director", Absence: wire.Absence{LeftAt: evidencetest.At(left + 1000)}}
			if back > 0 {
				a.BackAt = evidencetest.AtPtr(back + 1000)
			}
			e.State.Absences = append(e.State.Absences, a)
		}
	}
	rebuilt := func(asked int64) func(*evidence.Run) {
		return func(e *evidence.Run) {
			a := &e.State.Absences[0]
			a.RequestedAt, a.Resync = evidencetest.AtPtr(asked+1000), &v1alpha1.ResyncStatus{Method: v1alpha1.ResyncClone, DurationMilliseconds: ptr.To[int64](7)}
		}
	}
	byTransfer := func(e *evidence.Run) { // without anybody's request
		e.State.Absences[0].Resync = &v1alpha1.ResyncStatus{Method: v1alpha1.ResyncIST, DurationMilliseconds: ptr.To[int64](7)}
	}
	again := func(e *evidence.Run) { e.Faults = append(e.Faults, evidencetest.Hit("again", "db-0", 31_000)) }
	elsewhere := func(e *evidence.Run) {
		e.Faults, e.Recorder.Clocks = append(e.Faults, evidencetest.Hit("again", "db-1", 36_000)), append(e.Recorder.Clocks, evidencetest.Clock("db-1", 0, 0))
	}
	beside := func(e *evidence.Run) {
		e.Faults = append(e.Faults, evidencetest.Hit("crash.2", "db-1", 30_010))
		e.Faults[1].Fault, e.Faults[1].PlannedTime = "crash", evidencetest.At(30_000)
		e.Recorder.Clocks = append(e.Recorder.Clocks, evidencetest.Clock("db-1", 0, 0))
	}
	failover := func(from string, detected int64) func(*evidence.Run) {
		return func(e *evidence.Run) {
			e.State.Failovers = append(e.State.Failovers, topology.Failover{Clock: "director", OldWriter: from, NewWriter: "db-2", DetectedAt: evidencetest.At(detected + 1000)})
		}
	}
	silent := func(nodes ...string) func(*evidence.Run) { return func(e *evidence.Run) { e.State.Silent = nodes } }
	for name, c := range map[string]struct {
		changes []func(*evidence.Run)
		want    string
	}{
		"a pause that did not move it, and then another's fault did":     {[]func(*evidence.Run){asked(v1alpha1.ActionPause, 5), elsewhere, away("db-0", 36_500, 38_000)}, "leave for this fault alone"},
		"a pause, and another's fault of which nobody knows when it was": {[]func(*evidence.Run){asked(v1alpha1.ActionPause, 5), func(e *evidence.Run) { e.Faults = append(e.Faults, evidencetest.Hit("again", "db-1", 36_000)) }, away("db-0", 35_500, 38_000)}, "leave for this fault alone"},
		"a pause, and another's fault once it had left":                  {[]func(*evidence.Run){asked(v1alpha1.ActionPause, 5), elsewhere, away("db-0", 35_500, 38_000)}, "3005 Resume"},
		"a pause, and then another's failover moved it":                  {[]func(*evidence.Run){asked(v1alpha1.ActionPause, 5), failover("db-1", 36_000), away("db-0", 36_500, 38_000)}, "leave for this fault alone"},
		"a pause that led to a failover":                                 {[]func(*evidence.Run){asked(v1alpha1.ActionPause, 5), failover("db-0", 31_000), away("db-0", 31_100, 38_000)}, "3005 Resume"},
		"a fault of another node at the same moment":                     {[]func(*evidence.Run){asked(v1alpha1.ActionPause, 5), beside, failover("db-1", 31_000), away("db-0", 31_100, 38_000)}, "3005 Resume"},
		"a killed server left by its own fault, whatever came after it": {[]func(*evidence.Run){asked(v1alpha1.ActionKill, 0), func(e *evidence.Run) {
			e.Faults, e.Recorder.Clocks = append(e.Faults, evidencetest.Hit("again", "db-1", 31_000)), append(e.Recorder.Clocks, evidencetest.Clock("db-1", 0, 0))
		}, failover("db-1", 31_050), away("db-0", 31_100, 33_000)}, "3005 Restart"},
		"from the fault, where it does not hold":         {[]func(*evidence.Run){asked(v1alpha1.ActionKill, 0), away("db-0", 30_100, 33_000)}, "3005 Restart"},
		"a server that is started again in its place":    {[]func(*evidence.Run){asked(v1alpha1.ActionKillServer, 0), away("db-0", 30_100, 33_000)}, "3005 Restart"},
		"from the end of the hold":                       {[]func(*evidence.Run){asked(v1alpha1.ActionKill, 5), away("db-0", 30_100, 37_000)}, "2005 Restart"},
		"a pause is followed by what it had been doing":  {[]func(*evidence.Run){asked(v1alpha1.ActionPause, 5), away("db-0", 31_100, 35_500)}, "505 Resume"},
		"a rebuilding from when it was asked for":        {[]func(*evidence.Run){asked(v1alpha1.ActionKill, 5), away("db-0", 30_100, 90_000), rebuilt(80_500)}, "9500 Clone in 7"},
		"what its group gave it":                         {[]func(*evidence.Run){asked(v1alpha1.ActionKill, 5), away("db-0", 30_100, 37_000), byTransfer}, "2005 IST in 7"},
		"the first time that it was away":                {[]func(*evidence.Run){asked(v1alpha1.ActionKill, 0), away("db-0", 30_100, 33_000), away("db-0", 34_000, 35_000)}, "3005 Restart"},
		"it is not back":                                 {[]func(*evidence.Run){asked(v1alpha1.ActionKill, 0), away("db-0", 30_100, 0)}, "it was not back"},
		"it did not leave":                               {[]func(*evidence.Run){asked(v1alpha1.ActionKill, 0)}, "did not see it leave"},
		"another node did":                               {[]func(*evidence.Run){asked(v1alpha1.ActionKill, 0), away("db-1", 30_100, 33_000)}, "did not see it leave"},
		"it had left before":                             {[]func(*evidence.Run){asked(v1alpha1.ActionKill, 0), away("db-0", 29_000, 33_000)}, "did not see it leave"},
		"it left long after":                             {[]func(*evidence.Run){asked(v1alpha1.ActionKill, 0), away("db-0", 36_000, 37_000)}, "did not see it leave"},
		"it left after the next fault":                   {[]func(*evidence.Run){asked(v1alpha1.ActionKill, 0), again, away("db-0", 31_200, 33_000)}, "did not see it leave"},
		"it was back before the fault had ended":         {[]func(*evidence.Run){asked(v1alpha1.ActionPartition, 10), away("db-0", 30_100, 33_000)}, "back before the fault ended"},
		"nobody knows when the hold ended":               {[]func(*evidence.Run){asked(v1alpha1.ActionKill, -1), away("db-0", 30_100, 33_000)}, "the end of its hold is unknown"},
		"the topology does not answer":                   {[]func(*evidence.Run){asked(v1alpha1.ActionKill, 0), away("db-0", 30_100, 33_000), func(e *evidence.Run) { e.State.Known = false }}, "the failover manager or the nodes did not answer"},
		"the node does not answer":                       {[]func(*evidence.Run){asked(v1alpha1.ActionKill, 0), silent("db-0")}, "node db-0 did not answer when the run was judged."},
		"another one does not, and may have taken over":  {[]func(*evidence.Run){asked(v1alpha1.ActionPause, 5), away("db-0", 31_100, 38_000), silent("db-1")}, "node db-1 did not answer when the run was judged, and may"},
		"two others do not":                              {[]func(*evidence.Run){asked(v1alpha1.ActionPause, 5), away("db-0", 31_100, 38_000), silent("db-1", "db-2")}, "nodes db-1, db-2 did not answer"},
		"another one does not, and this was killed":      {[]func(*evidence.Run){asked(v1alpha1.ActionKill, 0), away("db-0", 30_100, 33_000), silent("db-1")}, "3005 Restart"},
		"the clock of the node was never measured":       {[]func(*evidence.Run){asked(v1alpha1.ActionKill, 0), away("db-0", 30_100, 33_000), func(e *evidence.Run) { e.Recorder.Clocks = e.Recorder.Clocks[1:] }}, "the clock of the fault was not measured"},
		"the manager's clock was never measured":         {[]func(*evidence.Run){asked(v1alpha1.ActionKill, 0), away("db-0", 30_100, 33_000), func(e *evidence.Run) { e.Recorder.Clocks = e.Recorder.Clocks[:1] }}, "the clock of director was never measured"},
		"the clocks differ too much":                     {[]func(*evidence.Run){asked(v1alpha1.ActionKill, 0), away("db-0", 30_100, 33_000), func(e *evidence.Run) { e.Recorder.Clocks[1] = evidencetest.Clock("director", 800, 1200) }}, "differ too much"},
		"where the node left cannot be told from before": {[]func(*evidence.Run){asked(v1alpha1.ActionKill, 0), away("db-0", 30_000, 33_000)}, "3005 Restart"},
	} {
		t.Run(name, func(t *testing.T) {
			s := judged(func(e *evidence.Run) {
				e.Recorder.Clocks = []wire.Clock{evidencetest.Clock("db-0", 0, 0), evidencetest.Clock("director", 990, 1010)}
				for _, change := range c.changes {
					change(e)
				}
			})
			got, reasons := "", strings.Join(allSaid(s), "\n")
			if f := s.Faults[0]; f.RejoinMilliseconds != nil {
				got = fmt.Sprint(*f.RejoinMilliseconds, " ", f.Resync.Method)
				if took := f.Resync.DurationMilliseconds; took != nil {
					got += fmt.Sprint(" in ", *took)
				}
			} else if f.Resync != nil {
				t.Errorf("no rejoin time, but a resync %+v", f.Resync)
			}
			stated := strings.ContainsAny(c.want[:1], "0123456789")
			if stated && got != c.want || !stated && (got != "" || !strings.Contains(reasons, c.want)) {
				t.Errorf("%q, want %q: %s", got, c.want, reasons)
			}
		})
	}
	s := judged(func(e *evidence.Run) { e.Faults[0].Confirmed = metav1.ConditionFalse })
	if s.Faults[0].RejoinMilliseconds != nil || strings.Contains(strings.Join(allSaid(s), " "), "was back after fault") {
		t.Errorf("of a fault that is not confirmed: %+v, %q", s.Faults[0], s.Reasons)
	}
}

// A planned change is asked for before the outage begins.
func TestAPlannedFailover(t *testing.T) {
	planned := func(e *evidence.Run) {
		e.Spec.Faults = []v1alpha1.Fault{{Name: "crash", AtSeconds: 30, Action: v1alpha1.ActionSwitchover}}
		e.Faults[0].PlannedTime, e.Faults[0].InjectedTime = evidencetest.At(29_900), evidencetest.AtPtr(30_990)
		e.Recorder.Clocks = []wire.Clock{evidencetest.Clock("director", 990, 1010)}
		e.State.Switchovers = []topology.Switchover{{Name: "crash", Clock: "director", RequestedAt: evidencetest.At(30_990), Outcome: topology.SwitchoverDone}}
		e.State.Failovers = []topology.Failover{{
			Clock: "director", OldWriter: "db-0", NewWriter: "db-1", DetectedAt: evidencetest.At(30_900), PromotedAt: evidencetest.AtPtr(32_500), Planned: true,
		}}
	}
	s := judged(planned)
	f := s.Failover
	if f == nil || !f.Planned || f.DetectionMilliseconds != nil || *f.PromotionMilliseconds != 1600 || *f.RoutingMilliseconds != 500 || *f.OutageMilliseconds != 2000 {
		t.Errorf("failover %+v", f)
	}
	if c := s.Faults[0].Clock; c == nil || c.LeastAheadMicroseconds != 990_000 || *s.Faults[0].OutageMilliseconds != 2000 {
		t.Errorf("fault %+v, by clock %+v", s.Faults[0], c)
	}
	s = judged(func(e *evidence.Run) {
		planned(e)
		e.State.Failovers[0].PromotedAt = evidencetest.AtPtr(30_950) // before the last acknowledgement of the old primary
	})
	if s.Failover == nil || s.Failover.Planned || s.Failover.PromotionMilliseconds != nil {
		t.Errorf("failover %+v", s.Failover)
	}
	for promoted, stated := range map[int64]bool{30_950: true, 25_900: false} { // clients went on writing to the old primary, for a while
		s = judged(func(e *evidence.Run) {
			planned(e)
			f := &e.State.Failovers[0]
			f.OldServes, f.DetectedAt, f.PromotedAt = true, evidencetest.At(promoted-250), evidencetest.AtPtr(promoted)
		})
		if f := s.Failover; f == nil || f.Planned != stated || stated && (*f.PromotionMilliseconds != 250 || *f.RoutingMilliseconds != *f.OutageMilliseconds) {
			t.Errorf("promoted at %d ms: failover %+v", promoted, f)
		}
	}
}

// TestAPartitionThatLeaksAndAHoldThatLastsTooLong are not what was planned.
func TestAPartitionThatLeaksAndAHoldThatLastsTooLong(t *testing.T) {
	for want, change := range map[string]func(*v1alpha1.FaultStatus){
		"Fault crash did not cut pod db-0 off from everything that it should: pod db-1 came": func(f *v1alpha1.FaultStatus) { f.Leak = "pod db-1 came" },
		"Fault crash on pod db-0 ended late: seen; it ended 5000 ms after its time": func(f *v1alpha1.FaultStatus) {
			f.State, f.Confirmed, f.Evidence = v1alpha1.FaultEndedLate, metav1.ConditionFalse, "seen; it ended 5000 ms after its time"
		},
	} {
		s := judged(func(e *evidence.Run) { change(&e.Faults[0]) })
		if s.Verdict != v1alpha1.VerdictInconclusive || !strings.Contains(strings.Join(allSaid(s), "\n"), want) {
			t.Errorf("%s: %q, want %q", s.Verdict, s.Reasons, want)
		}
	}
}

func TestARejoinByTwoClocksHasBounds(t *testing.T) {
	s := judged(func(e *evidence.Run) {
		e.Recorder.Clocks = []wire.Clock{evidencetest.Clock("db-0", -20, 20), evidencetest.Clock("director", 0, 0)}
		e.State.Absences = []topology.Absence{{Node: "db-0", Clock: "director", Absence: wire.Absence{LeftAt: evidencetest.At(31_000), BackAt: evidencetest.AtPtr(31_030)}}}
		e.Spec.Faults = []v1alpha1.Fault{{Name: "crash", Action: v1alpha1.ActionKill}}
		e.Faults[0].InjectedTime = evidencetest.AtPtr(31_000)
	})
	if got := boundsOf(s, "faults[crash].rejoinMilliseconds"); got != "10 to 50" || *s.Faults[0].RejoinMilliseconds != 50 {
		t.Errorf("%s: %v", got, text(s.Faults[0].RejoinMilliseconds))
	}
}
