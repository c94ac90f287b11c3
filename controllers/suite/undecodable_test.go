package suite

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
)

// losesTheFirst waits until the first trial has ended, which Go cannot decode from then on.
func (w *world) losesTheFirst() (name string) {
	w.t.Helper()
	w.apply(pair)
	s := w.until(func(s *v1alpha1.ReplicationSuite) bool {
		return len(s.Status.Runs) > 0 && s.Status.Runs[0].Verdict != ""
	}, "pair")
	w.undecodable = []string{s.Status.Runs[0].Name}
	return s.Status.Runs[0].Name
}

func waitsWith(reason string) func(*v1alpha1.ReplicationSuite) bool {
	return func(s *v1alpha1.ReplicationSuite) bool { return condition(s, "Complete").Reason == reason }
}

// endsWithoutFigures checks that the suite names a trial that has ended and cannot be decoded.
func (w *world) endsWithoutFigures(trial string) {
	w.t.Helper()
	s := w.until(over, "pair")
	want := "Undecodable: trial " + trial + " has ended and cannot be decoded any more: spec.app.replicas: too large. Create another suite."
	if s.Status.Verdict != v1alpha1.VerdictInconclusive || s.Status.Reasons[0] != want || s.Status.Runs[0].Verdict == "" {
		w.t.Errorf("%s %q, %+v", s.Status.Verdict, s.Status.Reasons, s.Status.Runs)
	}
}

func TestATrialThatCannotBeDecodedAnyMoreEndsTheSuite(t *testing.T) {
	w := newWorld(t, passed)
	w.endsWithoutFigures(w.losesTheFirst())
}

func TestATrialThatEndsUndecodableEndsTheSuite(t *testing.T) {
	w := newWorld(t, passed)
	x := w.waiting()
	w.undecodable, w.stands = []string{x.Name}, false
	w.endsWithoutFigures(x.Name)
}

func TestAbortEndsASuiteWithAnUndecodableTrial(t *testing.T) {
	w := newWorld(t, passed)
	w.losesTheFirst()
	w.edit("pair", func(s *v1alpha1.ReplicationSuite) { s.Spec.Abort = true })
	if s := w.until(over, "pair"); !strings.HasPrefix(s.Status.Reasons[0], "Aborted: ") {
		t.Errorf("%q", s.Status.Reasons)
	}
}

func TestAnUndecodableTrialUnderWayIsNamedAndRepeated(t *testing.T) {
	w := newWorld(t, passed)
	x := w.waiting()
	w.undecodable = []string{x.Name}
	s := w.until(waitsWith(v1alpha1.ReasonUndecodable), "pair")
	if m := condition(s, "Complete").Message; !strings.Contains(m, x.Name) || !strings.Contains(m, "spec.app.replicas: too large. Delete it: the suite repeats it while retries are left.") {
		t.Error(m)
	}
	must(t, w.client.Delete(t.Context(), x))
	w.undecodable, w.stands = nil, false
	if s := w.until(over, "pair"); s.Status.Trials.Repeated != 1 || s.Status.Trials.Passed != 12 {
		t.Errorf("%q, %+v", s.Status.Reasons, s.Status.Trials)
	}
}

func TestAnUndecodableExperimentInTheWayIsLeftAlone(t *testing.T) {
	w := newWorld(t, passed)
	w.apply(pair)
	w.until(func(s *v1alpha1.ReplicationSuite) bool { return s.Status.StartTime != nil }, "pair")
	w.intruder("pair-async-6")
	w.undecodable = []string{"pair-async-6"}
	w.until(waitsWith(v1alpha1.ReasonNameTaken), "pair")
}

// TestAnUndecodableExperimentInAnEndedTrialsPlaceIsLeftAlone: the trial was deleted, and its name belongs to another one.
func TestAnUndecodableExperimentInAnEndedTrialsPlaceIsLeftAlone(t *testing.T) {
	w := newWorld(t, passed)
	name := w.losesTheFirst()
	must(t, w.client.Delete(t.Context(), &v1alpha1.ReplicationExperiment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}))
	w.intruder(name)
	if s := w.until(over, "pair"); s.Status.Trials.Passed != 12 {
		t.Errorf("%q, %+v", s.Status.Reasons, s.Status.Trials)
	}
}

// TestAFinishedSuiteGoesOnWithoutAnUndecodableTrial: keepTrials is obeyed for the others.
func TestAFinishedSuiteGoesOnWithoutAnUndecodableTrial(t *testing.T) {
	w := newWorld(t, passed)
	w.apply(pair)
	s := w.until(over, "pair")
	w.undecodable = []string{s.Status.Runs[0].Name}
	w.edit("pair", func(s *v1alpha1.ReplicationSuite) { s.Spec.KeepTrials = 0 })
	w.until(func(s *v1alpha1.ReplicationSuite) bool { return s.Status.ObservedGeneration == s.Generation }, "pair")
}
