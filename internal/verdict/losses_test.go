package verdict

import (
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

func TestALossNeedsSomethingToLose(t *testing.T) {
	later := v1alpha1.FaultStatus{Name: "later", Pod: "db-1", InjectedTime: evidencetest.AtPtr(50_000), Clock: &v1alpha1.ClockStatus{}, Confirmed: metav1.ConditionTrue}
	width := func(microseconds int64) func(*evidence.Run) {
		return func(e *evidence.Run) {
			e.Faults[0].Clock = &v1alpha1.ClockStatus{LeastAheadMicroseconds: -microseconds / 2, MostAheadMicroseconds: microseconds / 2}
		}
	}
	for name, c := range map[string]struct {
		change func(*evidence.Run)
		met    metav1.ConditionStatus
		stated bool   // whether losses are
		reason string // that says why not
	}{
		"a write was acknowledged right before the fault": {func(*evidence.Run) {}, "True", true, ""},
		"every write was rejected": {func(e *evidence.Run) {
			e.Recorder.Writes = wire.LedgerCounts{Sent: 1000, Rejected: 1000}
			e.Recorder.Acknowledgements, e.K6.Registered = evidencetest.AcknowledgedAt(), 0
			e.Audit.Writes = &wire.WriteSets{LedgerCounts: e.Recorder.Writes, Balanced: true}
		}, "Unknown", false, "in the second before fault crash"},
		"the load does not write": {func(e *evidence.Run) {
			e.Recorder.Writes, e.Recorder.Acknowledgements, e.K6.Registered = wire.LedgerCounts{}, evidencetest.AcknowledgedAt(), 0
			e.Audit.Writes = &wire.WriteSets{Balanced: true}
		}, "Unknown", false, "in the second before fault crash"},
		"the last write before the fault was two seconds before it": {func(e *evidence.Run) {
			e.Recorder.Acknowledgements = evidencetest.AcknowledgedAt(28_000, 31_000)
		}, "Unknown", false, "in the second before fault crash"},
		"the first of two faults alone had something to destroy": {func(e *evidence.Run) {
			e.Faults = append(e.Faults, later)
		}, "Unknown", false, "in the second before fault later."},
		"the second came while the first still cut its node off": {func(e *evidence.Run) {
			cutThenKilled(e, v1alpha1.PartitionPeers, -1)
		}, "True", true, ""},
		"the first had ended before the second": {func(e *evidence.Run) {
			cutThenKilled(e, v1alpha1.PartitionPeers, 1)
		}, "Unknown", false, "in the second before fault later."},
		"the first cut its node off from clients alone": {func(e *evidence.Run) {
			cutThenKilled(e, v1alpha1.PartitionClients, -1)
		}, "Unknown", false, "in the second before fault later."},
		"the first cut its node off from where it is agreed who takes the writes, and its writes came through": {func(e *evidence.Run) {
			cutThenKilled(e, "Store", -1)
		}, "Unknown", false, "in the second before fault later."},
		"the first cut its node off from everyone": {func(e *evidence.Run) {
			cutThenKilled(e, v1alpha1.PartitionEveryone, -1)
		}, "True", true, ""},
		"the first cut its node off as the only one of its zone": {func(e *evidence.Run) {
			cutThenKilled(e, v1alpha1.PartitionZone, -1)
		}, "True", true, ""},
		"the first cut its zone off, in which another node lived on": {func(e *evidence.Run) {
			cutThenKilled(e, v1alpha1.PartitionZone, -1)
			besides(e, "db-2", "crash.2", "crash", 30_006)
		}, "Unknown", false, "in the second before fault later."},
		"the first cut its zone off, and both of its nodes were killed": {func(e *evidence.Run) {
			cutThenKilled(e, v1alpha1.PartitionZone, -1)
			besides(e, "db-2", "crash.2", "crash", 30_006)
			besides(e, "db-2", "later.2", "later", 32_005)
		}, "True", true, ""},
		"the first cut another node off": {func(e *evidence.Run) {
			cutThenKilled(e, v1alpha1.PartitionPeers, -1)
			e.Faults[1].Pod = "db-1"
		}, "Unknown", false, "in the second before fault later."},
		"the first had nothing to destroy either": {func(e *evidence.Run) {
			cutThenKilled(e, v1alpha1.PartitionPeers, -1)
			e.Recorder.Acknowledgements = evidencetest.AcknowledgedAt(28_000)
		}, "Unknown", false, "fault crash and fault later."},
		"both faults had": {func(e *evidence.Run) {
			e.Faults = append(e.Faults, later)
			e.Recorder.Acknowledgements = evidencetest.AcknowledgedAt(29_950, 49_500)
		}, "True", true, ""},
		"nobody knows when the fault came": {func(e *evidence.Run) { e.Recorder.Clocks = nil }, "Unknown", false, "fault crash"},
		"a fault was never injected":       {func(e *evidence.Run) { e.Faults[0].InjectedTime = nil }, "Unknown", false, "fault crash"},
		"a fault that came within half a second had, whenever it came": {func(e *evidence.Run) {
			width(500_000)(e)
			e.Recorder.Acknowledgements = evidencetest.AcknowledgedAt(29_500)
		}, "True", true, ""},
		"a fault that came within three seconds may have come long after": {width(3_000_000), "Unknown", false, "fault crash"},
		"it had, whenever it came, when writes were acknowledged all the time": {func(e *evidence.Run) {
			width(3_000_000)(e)
			e.Recorder.Acknowledgements = evidencetest.AcknowledgedAt(27_900, 28_700, 29_500, 30_300, 31_100)
		}, "True", true, ""},
		"it need not have had when they were not": {func(e *evidence.Run) {
			width(3_000_000)(e)
			e.Recorder.Acknowledgements = evidencetest.AcknowledgedAt(27_900, 28_700, 30_300, 31_100)
		}, "Unknown", false, "fault crash"},
		"the recorder's results have no acknowledgements": {func(e *evidence.Run) { e.Recorder.Acknowledgements = nil }, "Unknown", false, "fault crash"},
		"without a fault a load that writes":              {func(e *evidence.Run) { e.Faults, e.Recorder.Acknowledgements = nil, evidencetest.AcknowledgedAt(1) }, "True", true, ""},
		"without a fault a load whose writes are rejected": {func(e *evidence.Run) {
			e.Faults, e.K6.Registered, e.Recorder.Writes = nil, 0, wire.LedgerCounts{Sent: 5, Rejected: 5}
			e.Audit.Writes = &wire.WriteSets{LedgerCounts: e.Recorder.Writes, Balanced: true}
		}, "Unknown", false, "during the load"},
		"a loss is a loss whatever is known": {func(e *evidence.Run) {
			e.Recorder.Acknowledgements, e.Audit.Writes.Lost = nil, 1
		}, "False", true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := judged(c.change)
			if s.Goals[0].Met != c.met || (s.Writes.Lost != nil) != c.stated {
				t.Errorf("goal is %+v, lost are %v", s.Goals[0], text(s.Writes.Lost))
			}
			if want := map[metav1.ConditionStatus]v1alpha1.Verdict{"True": "Passed", "False": "Failed", "Unknown": "Inconclusive"}[c.met]; s.Verdict != want {
				t.Errorf("verdict %s, want %s: %q", s.Verdict, want, s.Reasons)
			}
			all := strings.Join(allSaid(s), " ")
			if said := strings.Contains(all, "Losses are not reported"); said == c.stated || !strings.Contains(all, c.reason) {
				t.Errorf("reasons are %q, want one with %q", s.Reasons, c.reason)
			}
		})
	}
}

// TestLossesAreALowerBoundWhereAFaultNeedHaveDestroyedNothing, whether a goal limits them or not: had it had something to destroy, more may have been lost.
func TestLossesAreALowerBoundWhereAFaultNeedHaveDestroyedNothing(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*evidence.Run)
		want   string
	}{
		"each fault had something to destroy":   {func(e *evidence.Run) { e.Audit.Writes.Lost = 1 }, "exact"},
		"one need have had nothing":             {func(e *evidence.Run) { e.Audit.Writes.Lost, e.Recorder.Acknowledgements = 1, nil }, "at least 1"},
		"nothing was lost, and nothing is said": {func(e *evidence.Run) { e.Recorder.Acknowledgements = nil }, "unknown"},
	} {
		s := judged(func(e *evidence.Run) { c.change(e); e.Spec.Goals = nil })
		if got := boundsOf(s, "writes.lost"); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestNotesOnLosses: a bound has its reason, and a loss that no goal limits is not overlooked in a run that passed.
func TestNotesOnLosses(t *testing.T) {
	for name, c := range map[string]struct {
		change      func(*evidence.Run)
		want, never []string
	}{
		"a loss without a goal": {
			func(e *evidence.Run) { e.Audit.Writes.Lost, e.Spec.Goals = 3, nil },
			[]string{"3 of 990 acknowledged writes were lost, and no goal limits them."},
			[]string{"Lost writes are a lower bound"},
		},
		"a loss with a goal on another figure": {
			func(e *evidence.Run) {
				e.Audit.Writes.Lost, e.Spec.Goals = 3, []v1alpha1.Goal{{Metric: "requestsPerSecond", Min: ptr.To[int64](1)}}
			},
			[]string{"no goal limits them"},
			nil,
		},
		"a bounded loss": {
			func(e *evidence.Run) {
				e.Audit.Writes.Lost, e.Recorder.Acknowledgements, e.Spec.Goals = 3, nil, nil
			},
			[]string{"At least 3 of 990 acknowledged writes were lost", "Lost writes are a lower bound: no write is known to have been acknowledged in the second before fault crash."},
			nil,
		},
		"a contradicted loss": {
			func(e *evidence.Run) {
				e.Audit.Writes.Lost, e.Recorder.Acknowledgements = 3, nil
				restless(e)
				e.State.Failovers = []topology.Failover{{OldWriter: "db-1"}}
			},
			nil,
			[]string{"Lost writes are a lower bound"},
		},
		"a loss with a goal":     {func(e *evidence.Run) { e.Audit.Writes.Lost = 3 }, nil, []string{"no goal limits them", "Lost writes are a lower bound"}},
		"no loss without a goal": {func(e *evidence.Run) { e.Spec.Goals = nil }, nil, []string{"no goal limits them", "Lost writes are a lower bound"}},
	} {
		t.Run(name, func(t *testing.T) {
			notes := strings.Join(judged(c.change).Notes, "\n")
			for _, want := range c.want {
				if !strings.Contains(notes, want) {
					t.Errorf("the notes lack %q:\n%s", want, notes)
				}
			}
			for _, never := range c.never {
				if strings.Contains(notes, never) {
					t.Errorf("the notes have %q:\n%s", never, notes)
				}
			}
		})
	}
}

// cutThenKilled has the fault of sound be a partition, and another two seconds after it. Nothing is acknowledged in between.
func cutThenKilled(e *evidence.Run, from v1alpha1.PartitionFrom, holdSeconds int64) {
	e.Spec.Faults = []v1alpha1.Fault{
		{Name: "crash", AtSeconds: 10, Action: v1alpha1.ActionPartition, PartitionFrom: from, HoldSeconds: holdSeconds}, {Name: "later", AtSeconds: 12, Action: v1alpha1.ActionKill},
	}
	e.Faults[0].Fault, e.Faults[0].ReleasedTime = "crash", evidencetest.AtPtr(31_000)
	later := e.Faults[0]
	later.Name, later.Fault, later.InjectedTime, later.ReleasedTime = "later", "later", evidencetest.AtPtr(32_000), nil
	e.Faults = append(e.Faults, later)
	e.Recorder.Acknowledgements = evidencetest.AcknowledgedAt(29_950)
}

// besides has a fault hit another node too.
func besides(e *evidence.Run, pod, name, fault string, ms int64) {
	f := evidencetest.Hit(name, pod, ms)
	f.Fault, f.PlannedTime, f.Clock = fault, metav1.MicroTime{}, &v1alpha1.ClockStatus{}
	e.Faults = append(e.Faults, f)
}

func TestALossProvesALowerLimitWhateverElseIsKnown(t *testing.T) {
	for lost, met := range map[int64]metav1.ConditionStatus{0: "Unknown", 2: "True"} {
		s := judged(func(e *evidence.Run) {
			e.Spec.Goals = []v1alpha1.Goal{{Metric: "lostWrites", Min: ptr.To[int64](1)}}
			e.Recorder.Acknowledgements, e.Audit.Writes.Lost = nil, lost
		})
		if s.Goals[0].Met != met {
			t.Errorf("%d lost: the goal of at least 1 is %s, want %s", lost, s.Goals[0].Met, met)
		}
	}
	s := judged(func(e *evidence.Run) {
		e.Spec.Goals = []v1alpha1.Goal{{Metric: "lostWrites", Max: ptr.To[int64](5)}}
		e.Recorder.Acknowledgements, e.Audit.Writes.Lost = nil, 2
	})
	if s.Goals[0].Met != metav1.ConditionUnknown {
		t.Errorf("2 lost, and nothing known of a fault: the goal of at most 5 is %s", s.Goals[0].Met)
	}
}
