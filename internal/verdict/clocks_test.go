package verdict

import (
	"strings"
	"testing"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/evidencetest"
	"replab.dev/internal/wire"
)

func TestClocksThatDifferAreTold(t *testing.T) {
	for name, c := range map[string]struct {
		least, most int64
		says        bool
	}{
		"a clock known to be near":        {-5_000, 5_000, false},
		"a clock that may be ahead":       {-1_000, 5_001, true},
		"a clock that is behind":          {-90_000, -80_000, true},
		"a clock of a run without faults": {-90_000, -80_000, false},
	} {
		t.Run(name, func(t *testing.T) {
			e, s := evidencetest.Sound(), v1alpha1.ReplicationExperimentStatus{}
			e.Recorder.Clocks = []wire.Clock{{Name: "db-0", LeastAheadMicroseconds: c.least, MostAheadMicroseconds: c.most}}
			if strings.Contains(name, "without faults") {
				e.Faults = nil
			}
			if Judge(e, &s); strings.Contains(strings.Join(allSaid(s), " "), "clock of db-0 may differ") != c.says {
				t.Errorf("the reasons are %q", s.Reasons)
			}
		})
	}
}

func TestFaultsAreTimedByTheRecordersClock(t *testing.T) {
	measured := &v1alpha1.ClockStatus{LeastAheadMicroseconds: -3_000, MostAheadMicroseconds: 2_000}
	for name, c := range map[string]struct {
		change           func(*evidence.Run)
		known            bool
		earliest, latest int64
	}{
		"by the agent's clock":          {func(*evidence.Run) {}, true, 29_105, 29_106},
		"an agent that never answered":  {func(e *evidence.Run) { e.Recorder.Clocks = nil }, false, 0, 0},
		"a fault that was not injected": {func(e *evidence.Run) { e.Faults[0].InjectedTime = nil }, false, 0, 0},
		"a deleted pod by the operator's clock, which may be behind": {func(e *evidence.Run) {
			e.Spec.Faults[0].Action, e.Faults[0].Clock = v1alpha1.ActionDeletePod, measured
		}, true, 30_003, 30_008},
		"a switchover of which nobody tells": {func(e *evidence.Run) { e.Spec.Faults[0].Action = v1alpha1.ActionSwitchover }, false, 0, 0},
		"a switchover by the clock of the node that was asked, though it does not answer": {func(e *evidence.Run) {
			e.Spec.Faults[0].Action, e.State.Silent = v1alpha1.ActionSwitchover, []string{"db-0"}
		}, true, 29_105, 29_106},
		"a deleted pod without the operator's clock": {func(e *evidence.Run) { e.Spec.Faults[0].Action = v1alpha1.ActionDeletePod }, false, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			e := evidencetest.Sound()
			e.Spec.Faults = []v1alpha1.Fault{{Name: "crash", Action: v1alpha1.ActionKill}}
			e.Recorder.Clocks = []wire.Clock{{Name: "db-0", LeastAheadMicroseconds: 899_000, MostAheadMicroseconds: 900_000}}
			c.change(&e)
			m, known := evidence.Injected(evidence.Timed(e)[0])
			if known != c.known || known && (m.Earliest != evidencetest.At(c.earliest).Time || m.Latest != evidencetest.At(c.latest).Time) {
				t.Errorf("%v (%v), want %v to %v (%v)", m, known, evidencetest.At(c.earliest), evidencetest.At(c.latest), c.known)
			}
		})
	}
}
