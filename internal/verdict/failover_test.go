package verdict

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/figure"
	"replab.dev/internal/topology"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/evidencetest"
	"replab.dev/internal/wire"
)

// TestAFailoversOutageTellsWhatTheRecorderSlept: it is the gap between two acknowledgements, which may be that much shorter.
func TestAFailoversOutageTellsWhatTheRecorderSlept(t *testing.T) {
	for paused, want := range map[int64]string{0: "exact", 101_000: "1899 to 2000", 600_000: "1400 to 2000"} {
		e, s := evidencetest.Sound(), v1alpha1.ReplicationExperimentStatus{}
		e.Recorder.Availability = evidencetest.Available(evidencetest.Hole{From: 30_000, To: 32_000, Node: "db-1"})
		e.Recorder.Availability.Gaps[0].PausedMicroseconds = paused
		if Judge(e, &s); s.Failover == nil || boundsOf(s, "failover.outageMilliseconds") != want {
			t.Errorf("of which it slept %d µs: %+v, want %v", paused, s.Failover, want)
		}
	}
}

// TestAPromotionThatWasSeen took the time until the look that saw it, or less.
func TestAPromotionThatWasSeen(t *testing.T) {
	e, s := evidencetest.Sound(), v1alpha1.ReplicationExperimentStatus{}
	e.Recorder.Clocks = []wire.Clock{evidencetest.Clock("db-0", 0, 0), evidencetest.Clock("director", 8, 12)}
	e.State.Failovers[0].Seen, e.State.Failovers[0].ClosedAt = true, evidencetest.AtPtr(31_450)
	Judge(e, &s)
	if got := boundsOf(s, "failover.promotionMilliseconds"); got != "450 to 501" {
		t.Errorf("the promotion took %s ms", got)
	}
}

// sound has a failover from 30,000 to 32,000 ms; its manager's clock is 10 ms ahead, or a little more or less.
func TestFailover(t *testing.T) {
	told := func(from, to string, detected, promoted int64) topology.Failover {
		return topology.Failover{Clock: "director", OldWriter: from, NewWriter: to, DetectedAt: evidencetest.At(detected), PromotedAt: evidencetest.AtPtr(promoted)}
	}
	for name, c := range map[string]struct {
		change func(*evidence.Run)
		want   string // fault, nodes, outage; detection promotion routing, with its bounds
	}{
		"phases on two clocks carry their uncertainty": {func(*evidence.Run) {}, "crash db-0 db-1 2000; 990 500 510 508 to 513"},
		"without a clock of the manager only its own phase is told": {
			func(e *evidence.Run) { e.Recorder.Clocks = e.Recorder.Clocks[:1] }, "crash db-0 db-1 2000; absent 500 absent unknown",
		},
		"none after which the same node went on": {func(e *evidence.Run) {
			e.Recorder.Availability = evidencetest.Available(evidencetest.Hole{From: 30_000, To: 32_000, Node: "db-0", Errors: 9})
		}, "none"},
		"none where both took writes before": {func(e *evidence.Run) { e.Independent = true }, "none"},
		"none without a fault":               {func(e *evidence.Run) { e.Faults = nil }, "none"},
		"none before the fault":              {func(e *evidence.Run) { e.Faults[0].InjectedTime = evidencetest.AtPtr(33_000) }, "none"},
		"the longest of several, though the manager tells of the other last": {func(e *evidence.Run) {
			e.Recorder.Availability = evidencetest.Available(evidencetest.Hole{From: 30_000, To: 32_000, Node: "db-1"}, evidencetest.Hole{From: 50_000, To: 50_900, Node: "db-0"})
			e.Faults = append(e.Faults, evidencetest.Hit("back", "db-1", 50_001))
			e.State.Failovers = append(e.State.Failovers, told("db-1", "db-0", 50_300, 50_500))
		}, "crash db-0 db-1 2000; 990 500 510 508 to 513"},
		"a later one that is longer": {func(e *evidence.Run) {
			e.Recorder.Availability = evidencetest.Available(evidencetest.Hole{From: 30_000, To: 32_000, Node: "db-1"}, evidencetest.Hole{From: 50_000, To: 52_900, Node: "db-0"})
			e.Faults = append(e.Faults, evidencetest.Hit("back", "db-1", 50_001))
			e.State.Failovers = append(e.State.Failovers, told("db-1", "db-0", 50_310, 50_510))
		}, "back db-1 db-0 2900; 300 200 2400 2398 to 2403"},
		"between two that serve for a while, the one that the manager tells of": {func(e *evidence.Run) {
			e.Recorder.Availability = evidencetest.Available(
				evidencetest.Hole{From: 30_000, To: 30_500, Node: "db-1"}, evidencetest.Hole{From: 30_700, To: 32_900, Node: "db-0"}, evidencetest.Hole{From: 33_000, To: 33_100, Node: "db-1"})
			e.State.Failovers = []topology.Failover{told("db-0", "db-1", 30_000, 30_250)}
			e.State.Failovers[0].Planned, e.State.Failovers[0].OldServes = true, true
		}, "crash db-0 db-1 500; absent 250 260 258 to 263"},
		"the longest where one alone serves, though the manager tells of the other alone": {func(e *evidence.Run) {
			e.Recorder.Availability = evidencetest.Available(evidencetest.Hole{From: 30_000, To: 32_000, Node: "db-1"}, evidencetest.Hole{From: 50_000, To: 50_900, Node: "db-0"})
			e.State.Failovers = []topology.Failover{told("db-1", "db-0", 50_310, 50_510)}
		}, "crash db-0 db-1 2000; absent absent absent unknown"},
		"phases of another failover are not its own": {func(e *evidence.Run) {
			e.State.Failovers = []topology.Failover{told("db-0", "db-1", 33_000, 33_500)}
		}, "crash db-0 db-1 2000; absent absent absent unknown"},
		"nor are those of a failover to another node": {func(e *evidence.Run) {
			e.State.Failovers = []topology.Failover{told("db-0", "db-2", 31_000, 31_500)}
		}, "crash db-0 db-1 2000; absent absent absent unknown"},
		"what was detected and promoted in one moment has no phase between": {func(e *evidence.Run) {
			e.State.Failovers[0].PromotedAt = &e.State.Failovers[0].DetectedAt
		}, "crash db-0 db-1 2000; 990 absent 1010 1008 to 1013"},
		"of a group that had not given the old one up only the detection is known": {func(e *evidence.Run) {
			e.State.Failovers[0].Waits = true
		}, "crash db-0 db-1 2000; 990 absent absent unknown"},
		"of one of which nobody noted when it was decided only the routing is known": {func(e *evidence.Run) {
			e.State.Failovers[0].Undetected, e.State.Failovers[0].DetectedAt = true, *e.State.Failovers[0].PromotedAt
		}, "crash db-0 db-1 2000; absent absent 510 508 to 513"},
		"one that was seen to be open after it had acknowledged was open by then": {func(e *evidence.Run) {
			e.State.Failovers = []topology.Failover{told("db-0", "db-1", 31_000, 32_030)}
			e.State.Failovers[0].Seen = true
		}, "crash db-0 db-1 2000; 990 1010 0 0 to 1013"},
		"one that was seen to be open before it acknowledged may have been so since the decision": {func(e *evidence.Run) { e.State.Failovers[0].Seen = true }, "crash db-0 db-1 2000; 990 500 510 508 to 1013"},
		"or since it was last seen closed": {func(e *evidence.Run) {
			e.State.Failovers[0].Seen, e.State.Failovers[0].ClosedAt = true, evidencetest.AtPtr(31_450)
		}, "crash db-0 db-1 2000; 990 500 510 508 to 563"},
		"without a known decision it may have been open for the whole outage": {func(e *evidence.Run) {
			e.State.Failovers = []topology.Failover{told("db-0", "db-1", 31_500, 31_500)}
			e.State.Failovers[0].Seen, e.State.Failovers[0].Undetected = true, true
		}, "crash db-0 db-1 2000; absent absent 510 508 to 2000"},
		"nor is it another where it was seen late": {func(e *evidence.Run) {
			e.State.Failovers = []topology.Failover{told("db-0", "db-1", 32_050, 32_050)}
			e.State.Failovers[0].Seen, e.State.Failovers[0].Undetected, e.State.Failovers[0].ClosedAt = true, true, evidencetest.AtPtr(31_910)
		}, "crash db-0 db-1 2000; absent absent 0 0 to 103"},
		"one that was opened after it had acknowledged is another": {func(e *evidence.Run) {
			e.State.Failovers = []topology.Failover{told("db-0", "db-1", 31_000, 32_030)}
		}, "crash db-0 db-1 2000; absent absent absent unknown"},
		"as is one that was decided afterwards": {func(e *evidence.Run) {
			e.State.Failovers = []topology.Failover{told("db-0", "db-1", 32_020, 32_030)}
			e.State.Failovers[0].Seen = true
		}, "crash db-0 db-1 2000; absent absent absent unknown"},
		"nor are there any where the new writer does not answer": {func(e *evidence.Run) {
			e.State.Failovers, e.State.Silent = nil, []string{"db-1"}
		}, "crash db-0 db-1 2000; absent absent absent unknown"},
		"nor where a switchover was asked for, and the old one does not answer, which alone knows of it": {func(e *evidence.Run) {
			e.State.Silent = []string{"db-0"}
			e.Spec.Faults = []v1alpha1.Fault{{Name: "crash", Action: v1alpha1.ActionSwitchover}}
		}, "crash db-0 db-1 2000; absent absent absent unknown"},
		"without a switchover an old primary that is silent hides nothing": {func(e *evidence.Run) {
			e.State.Silent = []string{"db-0"}
		}, "crash db-0 db-1 2000; 990 500 510 508 to 513"},
		"a third that does not answer knows nothing of it": {func(e *evidence.Run) {
			e.State.Silent = []string{"db-2"}
		}, "crash db-0 db-1 2000; 990 500 510 508 to 513"},
		"nor those of one that is under way": {func(e *evidence.Run) { e.State.Failovers[0].PromotedAt = nil }, "crash db-0 db-1 2000; absent absent absent unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			e, s := evidencetest.Sound(), v1alpha1.ReplicationExperimentStatus{}
			e.Recorder.Clocks = []wire.Clock{evidencetest.Clock("db-0", 0, 0), evidencetest.Clock("director", 8, 12)}
			c.change(&e)
			Judge(e, &s)
			got := "none"
			if f := s.Failover; f != nil {
				got = fmt.Sprintf("%s %s %s %v; %v %v %v %s", f.Fault, f.OldPrimary, f.NewPrimary, text(f.OutageMilliseconds),
					text(f.DetectionMilliseconds), text(f.PromotionMilliseconds), text(f.RoutingMilliseconds), boundsOf(s, "failover.routingMilliseconds"))
			}
			if got != c.want {
				t.Errorf("failover %q, want %q", got, c.want)
			}
			const says = "The phases of the failover from db-0 to db-1 are not reported"
			if said, absent := strings.Contains(strings.Join(allSaid(s), "\n"), says), strings.Contains(c.want, "absent absent absent"); said != absent {
				t.Errorf("it is said why it has no phases: %t; the reasons are %q", said, s.Reasons)
			}
		})
	}
}

// TestSilentNodeHidesALongerTakeover, where old writers go on serving: it may have been a change as well, or not.
func TestSilentNodeHidesALongerTakeover(t *testing.T) {
	for silent, stated := range map[string]bool{"": true, "db-1": true, "db-2": false} {
		s := judged(func(e *evidence.Run) {
			e.Recorder.Clocks = []wire.Clock{evidencetest.Clock("db-0", 0, 0), evidencetest.Clock("director", 8, 12)}
			e.Recorder.Availability = evidencetest.Available(evidencetest.Hole{From: 30_000, To: 30_500, Node: "db-1"}, evidencetest.Hole{From: 40_000, To: 40_900, Node: "db-2"})
			e.State.Failovers = []topology.Failover{{
				Clock: "director", OldWriter: "db-0", NewWriter: "db-1", DetectedAt: evidencetest.At(30_000), PromotedAt: evidencetest.AtPtr(30_250), Planned: true, OldServes: true,
			}}
			if silent != "" {
				e.State.Silent = []string{silent}
			}
		})
		const says = "The failover is not reported: node db-2 did not answer when the run was judged, and may have taken over for longer."
		if said := strings.Contains(strings.Join(allSaid(s), "\n"), says); (s.Failover != nil) != stated || said == stated {
			t.Errorf("%q is silent: %+v, %q", silent, s.Failover, s.Reasons)
		}
	}
}

// TestSilentSecondWriterLeavesFailoverUnknown: the longest gap may be one back to the old writer.
func TestSilentSecondWriterLeavesFailoverUnknown(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*evidence.Run)
		stated bool
	}{
		"the new one is silent":          {func(e *evidence.Run) { e.State.Silent = []string{"db-1"} }, false},
		"the old one is silent":          {func(e *evidence.Run) { e.State.Silent, e.State.Switchovers = []string{"db-0"}, nil }, false},
		"nobody knows when it was asked": {func(e *evidence.Run) { e.State.Silent, e.State.Switchovers = []string{"db-1"}, nil }, false},
		"a third one is silent":          {func(e *evidence.Run) { e.State.Silent = []string{"db-2"} }, true},
		"the old one takes no writes":    {func(e *evidence.Run) { e.State.Silent, e.State.OldServes = []string{"db-1"}, false }, true},
		"it was no planned change":       {func(e *evidence.Run) { e.State.Silent, e.Spec.Faults[0].Action = []string{"db-1"}, v1alpha1.ActionKill }, true},
		"the planned change came later": {func(e *evidence.Run) {
			e.State.Silent, e.Spec.Faults[0].Name, e.State.Switchovers[0].Name = []string{"db-1"}, "later", "later"
			e.Faults = append(e.Faults, evidencetest.Hit("later", "db-0", 50_000))
		}, true},
		"the longest gap is told": {func(e *evidence.Run) {
			e.State.Silent = []string{"db-1"}
			e.State.Failovers = []topology.Failover{{Clock: "db-0", OldWriter: "db-1", NewWriter: "db-0", DetectedAt: evidencetest.At(31_000), PromotedAt: evidencetest.AtPtr(32_000)}}
		}, true},
	} {
		s := judged(func(e *evidence.Run) {
			e.Spec.Faults = []v1alpha1.Fault{{Name: "crash", AtSeconds: 30, Action: v1alpha1.ActionSwitchover}}
			e.Recorder.Availability = evidencetest.Available(
				evidencetest.Hole{From: 30_000, To: 30_500, Node: "db-1"}, evidencetest.Hole{From: 30_700, To: 32_900, Node: "db-0"}, evidencetest.Hole{From: 33_000, To: 33_100, Node: "db-1"})
			e.State.Failovers, e.State.OldServes = nil, true
			e.State.Switchovers = []topology.Switchover{{Name: "crash", Clock: "db-0", RequestedAt: evidencetest.At(30_005), OldWriter: "db-0", NewWriter: "db-1", Outcome: topology.SwitchoverDone}}
			c.change(e)
		})
		const says = "and clients may have written to db-1 and db-0 side by side after a switchover."
		if said := strings.Contains(strings.Join(allSaid(s), "\n"), says); (s.Failover != nil) != c.stated || said == c.stated {
			t.Errorf("%s: %+v, %q", name, s.Failover, s.Reasons)
		}
		if f := figure.Read(&s, "failover.outageMilliseconds"); (f.Because == "") != c.stated { // else a report would say that no node took over
			t.Errorf("%s: the outage is %v, why %q", name, f.Value, f.Because)
		}
	}
}

func TestSilentNodeIsNotAnEmptyAnswer(t *testing.T) {
	s := judged(func(e *evidence.Run) { e.State.Failovers, e.State.Silent = nil, []string{"db-1", "db-2"} })
	all := strings.Join(allSaid(s), "\n")
	if !strings.Contains(all, "are not reported: node db-1 did not answer when the run was judged.") || strings.Contains(all, "is certainly this one") {
		t.Error(all)
	}
}

// The failover does not stand for the outage when something else took longer.
func TestALongerInterruptionThanTheFailoverIsTheOutage(t *testing.T) {
	e, s := evidencetest.Sound(), v1alpha1.ReplicationExperimentStatus{}
	e.Recorder.Availability = evidencetest.Available(evidencetest.Hole{From: 30_000, To: 30_700, Node: "db-1"}, evidencetest.Hole{From: 40_000, To: 42_400, Node: "db-1"})
	e.Faults[0].Confirmed = metav1.ConditionTrue
	if Judge(e, &s); *s.Failover.OutageMilliseconds != 700 || *s.OutageMilliseconds != 2400 || *s.Faults[0].OutageMilliseconds != 2400 {
		t.Errorf("failover %+v, outage %v", s.Failover, text(s.OutageMilliseconds))
	}
}

// TestAWriterThatTookItsPlaceAgainIsNoFailover, and that is said, unless it was before the load.
func TestAWriterThatTookItsPlaceAgainIsNoFailover(t *testing.T) {
	for lost, said := range map[int64]bool{30_100: true, -9_000: false} {
		s := judged(func(e *evidence.Run) {
			e.Recorder.Availability = evidencetest.Available(evidencetest.Hole{From: 30_000, To: 34_000, Node: "db-0", Errors: 9})
			e.State.Failovers = nil
			e.State.RestartsInPlace = []topology.RestartInPlace{{Node: "db-0", Clock: "db-0", LostAt: evidencetest.At(lost), At: evidencetest.At(lost + 3_500)}}
		})
		if s.Failover != nil || s.OutageMilliseconds == nil || *s.OutageMilliseconds != 4000 {
			t.Errorf("failover %+v, outage %v", s.Failover, text(s.OutageMilliseconds))
		}
		const says = "Node db-0 lost its server at 12:00:30.100 and was primary again at 12:00:33.600 (its clock): an outage, no failover"
		if all := strings.Join(allSaid(s), "\n"); strings.Contains(all, says) != said || strings.Contains(all, "was primary again") != said {
			t.Errorf("of one that lost its server at %d ms: %s", lost, all)
		}
		if !said && len(s.RestartsInPlace) > 0 {
			t.Errorf("one before the load is among them: %+v", s.RestartsInPlace)
		}
		if said && (len(s.RestartsInPlace) != 1 || s.RestartsInPlace[0].Node != "db-0" || s.RestartsInPlace[0].LostTime == nil || !s.RestartsInPlace[0].LostTime.Equal(evidencetest.AtPtr(lost)) ||
			!s.RestartsInPlace[0].RejoinedTime.Equal(evidencetest.AtPtr(lost+3_500))) {
			t.Errorf("of one that lost its server at %d ms it states %+v", lost, s.RestartsInPlace)
		}
	}
	s := judged(func(e *evidence.Run) {
		e.State.RestartsInPlace = []topology.RestartInPlace{{Node: "db-0", Clock: "db-0", At: evidencetest.At(33_600)}}
	})
	if all := strings.Join(allSaid(s), "\n"); !strings.Contains(all, "Node db-0 lost its server and was primary again at 12:00:33.600") {
		t.Errorf("of one whose loss nobody saw: %s", all)
	}
	if len(s.RestartsInPlace) != 1 || s.RestartsInPlace[0].LostTime != nil {
		t.Errorf("of one whose loss nobody saw it states %+v", s.RestartsInPlace)
	}
}

// TestReturnAfterTheLoadIsNoRestart, as far as clocks tell.
func TestReturnAfterTheLoadIsNoRestart(t *testing.T) {
	for name, c := range map[string]struct {
		at    int64
		clock string
		ended *metav1.MicroTime
		found int
	}{
		"in the load":             {59_000, "db-0", evidencetest.AtPtr(60_000), 1},
		"after it":                {70_000, "db-0", evidencetest.AtPtr(60_000), 0},
		"perhaps in it":           {60_010, "director", evidencetest.AtPtr(60_000), 1},
		"by a clock of its own":   {70_000, "db-1", evidencetest.AtPtr(60_000), 1},
		"a load without requests": {70_000, "db-0", nil, 1},
	} {
		s := judged(func(e *evidence.Run) {
			e.Recorder.LoadEndedAt, e.Recorder.Clocks = c.ended, []wire.Clock{evidencetest.Clock("db-0", 0, 0), evidencetest.Clock("director", 0, 20)}
			e.State.RestartsInPlace = []topology.RestartInPlace{{Node: c.clock, Clock: c.clock, LostAt: evidencetest.At(50_000), At: evidencetest.At(c.at)}}
		})
		if said := strings.Contains(strings.Join(allSaid(s), "\n"), "was primary again"); len(s.RestartsInPlace) != c.found || said != (c.found > 0) {
			t.Errorf("%s: %+v, said: %v", name, s.RestartsInPlace, said)
		}
	}
}

// TestThereIsRoomForSomeRestartsInPlace: how many more there were is said.
func TestThereIsRoomForSomeRestartsInPlace(t *testing.T) {
	s := judged(func(e *evidence.Run) {
		for i := range int64(170) {
			e.State.RestartsInPlace = append(e.State.RestartsInPlace, topology.RestartInPlace{Node: "db-0", Clock: "db-0", At: evidencetest.At(1_000 + 300*i)})
		}
	})
	if n := len(s.RestartsInPlace); n != 160 || !s.RestartsInPlace[159].RejoinedTime.Equal(evidencetest.AtPtr(1_000+300*159)) {
		t.Errorf("of 170 it states %d", n)
	}
	if all := strings.Join(allSaid(s), "\n"); !strings.Contains(all, "restarted in place 10 more times") {
		t.Error(all)
	}
}
