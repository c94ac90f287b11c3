package verdict

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/evidencetest"
)

func TestAFaultThatIsLateInItsStageIsANote(t *testing.T) {
	for late, want := range map[time.Duration]string{9 * time.Second: "Fault crash on pod db-0 came 9000 ms late.", 900 * time.Millisecond: ""} {
		e := evidencetest.Sound()
		e.Faults[0].PlannedTime = metav1.NewMicroTime(e.Faults[0].InjectedTime.Add(-late))
		status := &v1alpha1.ReplicationExperimentStatus{}
		Judge(e, status)
		if said := strings.Join(status.Notes, "\n"); strings.Contains(said, "ms late") != (want != "") || !strings.Contains(said, want) {
			t.Errorf("%v late: %q", late, said)
		}
	}
}

// TestAFaultThatWasNotWhatWasPlanned is Inconclusive: it came too late, into another stage, or did not last.
func TestAFaultThatWasNotWhatWasPlanned(t *testing.T) {
	planned := func(atSeconds int64, late time.Duration) func(*evidence.Run) {
		return func(e *evidence.Run) {
			e.Spec.Load.Stages = []v1alpha1.Stage{
				{Name: "warmup", DurationSeconds: 10, Users: new(int64(10)), Discard: true}, {Name: "steady", DurationSeconds: 20, Users: new(int64(10))}, {Name: "high", DurationSeconds: 30, Users: new(int64(10))},
			}
			e.Spec.Faults = []v1alpha1.Fault{{Name: "crash", AtSeconds: atSeconds}}
			f := &e.Faults[0]
			f.PlannedTime = evidencetest.At(atSeconds * 1000)
			f.InjectedTime = evidencetest.AtPtr(atSeconds*1000 + late.Milliseconds())
		}
	}
	for _, c := range []struct {
		name   string
		change func(*evidence.Run)
		want   string // "" for none
	}{
		{"on time", planned(15, 50*time.Millisecond), ""},
		{"hardly late", planned(15, 900*time.Millisecond), ""},
		{"too late", planned(32, 11*time.Second), "came 11s late"},
		{"late, in the next stage", planned(29, 1200*time.Millisecond), "came 1200 ms after its time, in stage high instead of stage steady"},
		{"late, in a stage that counts", planned(9, 1500*time.Millisecond), "in stage steady instead of stage warmup"},
		{"late, after the load", planned(55, 6*time.Second), "in the time after the load instead of stage high"},
		{"at the start of its stage, by a clock that is behind", planned(30, -20*time.Millisecond), ""},
		{"at the end of its stage, by a clock that is as much ahead as it seems late", func(e *evidence.Run) {
			planned(29, 1200*time.Millisecond)(e)
			e.Faults[0].Clock = &v1alpha1.ClockStatus{LeastAheadMicroseconds: 1_000_000, MostAheadMicroseconds: 1_200_000}
		}, ""},
		{"early, by a clock that is right, in the stage before", func(e *evidence.Run) {
			planned(12, -4*time.Second)(e)
			e.Faults[0].Clock = &v1alpha1.ClockStatus{LeastAheadMicroseconds: -1000, MostAheadMicroseconds: 1000}
		}, "came 3999 ms before its time, in stage warmup instead of stage steady"},
		{"too early, by a clock that is right", func(e *evidence.Run) {
			planned(55, -20*time.Second)(e)
			e.Faults[0].Clock = &v1alpha1.ClockStatus{}
		}, "came 20s early"},
		{"early by what clocks of one machine may differ", func(e *evidence.Run) {
			planned(30, -20*time.Millisecond)(e)
			e.Faults[0].Clock = &v1alpha1.ClockStatus{}
		}, ""},
		{"it did not last", func(e *evidence.Run) {
			planned(15, 0)(e)
			e.Faults[0].State, e.Faults[0].Confirmed, e.Faults[0].Evidence = v1alpha1.FaultEndedEarly, metav1.ConditionFalse, "seen; it ended 6000 ms before its time"
		}, "Fault crash on pod db-0 ended early: seen; it ended 6000 ms before its time"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := evidencetest.Sound()
			c.change(&e)
			status := &v1alpha1.ReplicationExperimentStatus{}
			Judge(e, status)
			found := strings.Join(allSaid(*status), "\n")
			if strings.Contains(found, "Fault crash") != (c.want != "") || !strings.Contains(found, c.want) {
				t.Errorf("found %q, want %q", found, c.want)
			}
			if strings.Contains(found, "ms late.") {
				t.Errorf("that it was late is said twice, or of one that was not: %q", found)
			}
			if c.want != "" && status.Verdict != v1alpha1.VerdictInconclusive {
				t.Errorf("verdict %s: %q", status.Verdict, status.Reasons)
			}
		})
	}
}

// TestNodesThatWereStillApplying are no ground for a verdict on what they hold.
func TestNodesThatWereStillApplying(t *testing.T) {
	e := evidencetest.Sound()
	e.Rest = &v1alpha1.RestStatus{AtRest: metav1.ConditionTrue}
	status := &v1alpha1.ReplicationExperimentStatus{}
	Judge(e, status)
	before := status.Verdict
	e.Rest = &v1alpha1.RestStatus{AtRest: metav1.ConditionFalse, Note: "db-2 is replica: its applier has stopped"}
	if Judge(e, status); before != v1alpha1.VerdictPassed || status.Verdict != v1alpha1.VerdictInconclusive || !strings.Contains(status.Reasons[0], "come to rest before the audit: db-2 is replica") {
		t.Errorf("%s, then %s: %q", before, status.Verdict, status.Reasons)
	}
}
