package suite

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
)

// waiting starts a suite, and returns its first trial, which waits for its turn.
func (w *world) waiting() *v1alpha1.ReplicationExperiment {
	w.t.Helper()
	w.stands = true
	w.apply(pair)
	s := w.until(func(s *v1alpha1.ReplicationSuite) bool { return len(s.Status.Runs) == 1 && s.Status.Runs[0].UID != "" }, "pair")
	x := &v1alpha1.ReplicationExperiment{}
	must(w.t, w.client.Get(w.t.Context(), client.ObjectKey{Namespace: "default", Name: s.Status.Runs[0].Name}, x))
	return x
}

func TestAbortEndsTheRunningTrial(t *testing.T) {
	w := newWorld(t, passed)
	w.apply(pair)
	w.until(func(s *v1alpha1.ReplicationSuite) bool { return len(s.Status.Runs) == 3 }, "pair")
	w.stands = true
	w.until(func(s *v1alpha1.ReplicationSuite) bool { return s.Status.Runs[2].UID != "" }, "pair")
	w.edit("pair", func(s *v1alpha1.ReplicationSuite) { s.Spec.Abort = true })
	s := w.until(over, "pair")
	x := &v1alpha1.ReplicationExperiment{}
	must(t, w.client.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: s.Status.Runs[2].Name}, x))
	if !x.Spec.Abort || s.Status.Verdict != v1alpha1.VerdictInconclusive || !strings.Contains(s.Status.Reasons[0], "Aborted: spec.abort ended the suite after 2 of 12 trials") {
		t.Errorf("abort %v; %s %v", x.Spec.Abort, s.Status.Verdict, s.Status.Reasons)
	}
}

// TestAbortInTheLastTrialIsNoConclusion: the trial that it ended has no figures, and there may be no retries left.
func TestAbortInTheLastTrialIsNoConclusion(t *testing.T) {
	w := newWorld(t, passed)
	w.apply(strings.Replace(pair[:strings.Index(pair, "  comparisons")], "trials: 6", "trials: 2\n  retries: 0", 1))
	w.until(func(s *v1alpha1.ReplicationSuite) bool { return len(s.Status.Runs) == 4 }, "pair")
	w.stands = true
	w.until(func(s *v1alpha1.ReplicationSuite) bool { return s.Status.Runs[3].UID != "" }, "pair")
	w.edit("pair", func(s *v1alpha1.ReplicationSuite) { s.Spec.Abort = true })
	if s := w.until(over, "pair"); s.Status.Verdict != v1alpha1.VerdictInconclusive || !strings.HasPrefix(s.Status.Reasons[0], "Aborted: ") {
		t.Errorf("%s %v", s.Status.Verdict, s.Status.Reasons)
	}
}

// TestAbortOfATrialThatIsGoneIsNoConclusion: its experiment was deleted, so it measured nothing.
func TestAbortOfATrialThatIsGoneIsNoConclusion(t *testing.T) {
	w := newWorld(t, passed)
	w.apply(strings.Replace(pair[:strings.Index(pair, "  comparisons")], "trials: 6", "trials: 1\n  retries: 0", 1))
	w.until(func(s *v1alpha1.ReplicationSuite) bool { return len(s.Status.Runs) == 2 }, "pair")
	w.stands = true
	s := w.until(func(s *v1alpha1.ReplicationSuite) bool { return s.Status.Runs[1].UID != "" }, "pair")
	must(t, w.client.Delete(t.Context(), &v1alpha1.ReplicationExperiment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: s.Status.Runs[1].Name}}))
	w.edit("pair", func(s *v1alpha1.ReplicationSuite) { s.Spec.Abort = true })
	if s := w.until(over, "pair"); s.Status.Verdict != v1alpha1.VerdictInconclusive || !strings.HasPrefix(s.Status.Reasons[0], "Aborted: ") {
		t.Errorf("%s %v", s.Status.Verdict, s.Status.Reasons)
	}
}

// TestAbortKeepsAMiss: no further trial could undo it.
func TestAbortKeepsAMiss(t *testing.T) {
	w := newWorld(t, func(name string) ending {
		if name == "pair-semisync-1" {
			return ending{verdict: v1alpha1.VerdictPassed, lost: 5, rate: 50}
		}
		return slower(name)
	})
	w.apply(pair)
	w.until(func(s *v1alpha1.ReplicationSuite) bool { return len(s.Status.Runs) == 4 }, "pair")
	w.edit("pair", func(s *v1alpha1.ReplicationSuite) { s.Spec.Abort = true })
	s := w.until(over, "pair")
	if s.Status.Verdict != v1alpha1.VerdictFailed || condition(s, "Passed").Status != metav1.ConditionFalse || len(s.Status.Reasons) != 1 ||
		!strings.HasPrefix(s.Status.Reasons[0], "Expectation not met: semisync lostWrites max 0") || !strings.HasPrefix(s.Status.Notes[len(s.Status.Notes)-1], "Aborted: ") {
		t.Errorf("%s %q, notes %q", s.Status.Verdict, s.Status.Reasons, s.Status.Notes)
	}
}

// TestAbortAfterTheLastTrialKeepsItsConclusion: that was Inconclusive by itself, and its databases are still being removed.
func TestAbortAfterTheLastTrialKeepsItsConclusion(t *testing.T) {
	w := newWorld(t, func(name string) ending {
		if strings.Contains(name, "semisync") {
			return ending{verdict: v1alpha1.VerdictPassed, lost: 1}
		}
		return ending{verdict: v1alpha1.VerdictInconclusive}
	})
	spec := strings.Replace(pair[:strings.Index(pair, "  - {comparison")], "trials: 6", "trials: 1\n  retries: 0\n  keepTrials: 0", 1)
	w.apply(strings.Replace(spec, "  comparisons: [{of: semisync, to: async, metrics: [requestsPerSecond]}]\n", "", 1))
	w.until(func(s *v1alpha1.ReplicationSuite) bool {
		return len(s.Status.Runs) == 2 && s.Status.Runs[1].Verdict != ""
	}, "pair")
	w.edit("pair", func(s *v1alpha1.ReplicationSuite) { s.Spec.Abort = true })
	if s := w.until(over, "pair"); s.Status.Verdict != v1alpha1.VerdictFailed {
		t.Errorf("%s %v", s.Status.Verdict, s.Status.Reasons)
	}
}

const editedReason = "its spec was changed before its start"

// TestATrialThatWasEditedWhileItWaitedIsRepeated: it measured something else. What is done with its databases is no edit.
func TestATrialThatWasEditedWhileItWaitedIsRepeated(t *testing.T) {
	for name, c := range map[string]struct {
		edit     func(*v1alpha1.ReplicationExperiment)
		repeated int32
	}{
		"load": {func(x *v1alpha1.ReplicationExperiment) { x.Spec.Load.Stages[0].DurationSeconds++ }, 1},
		"keep": {func(x *v1alpha1.ReplicationExperiment) { x.Spec.Keep = v1alpha1.KeepNever }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, slower)
			x := w.waiting()
			c.edit(x)
			must(t, w.client.Update(t.Context(), x))
			w.stands = false
			s := w.until(over, "pair")
			said := s.Status.Runs[0].Reason == editedReason
			if s.Status.Trials.Repeated != c.repeated || s.Status.Trials.Passed != 12 || said != (c.repeated > 0) {
				t.Errorf("%+v, the first %+v", s.Status.Trials, s.Status.Runs[0])
			}
		})
	}
}

// TestALossOfAnEditedTrialIsNone of its variant, whatever verdict the trial has.
func TestALossOfAnEditedTrialIsNone(t *testing.T) {
	for _, verdict := range []v1alpha1.Verdict{v1alpha1.VerdictPassed, v1alpha1.VerdictInconclusive} {
		first := ""
		w := newWorld(t, func(name string) ending {
			if name == first {
				return ending{verdict: verdict, lost: 4}
			}
			return slower(name)
		})
		x := w.waiting()
		first = x.Name
		x.Spec.Load.Stages[0].DurationSeconds++
		must(t, w.client.Update(t.Context(), x))
		w.stands = false
		s := w.until(over, "pair")
		run := s.Status.Runs[0]
		i := slices.IndexFunc(s.Status.Variants, func(v v1alpha1.VariantStatus) bool { return v.Name == run.Variant })
		if losses := s.Status.Variants[i].Losses; losses.Of != 6 || run.Reason != editedReason {
			t.Errorf("%s: %+v, %+v", verdict, losses, run)
		}
	}
}

// TestALossCountsAfterTheCRDChanged: an upgrade may give experiments a field that changes their hash.
func TestALossCountsAfterTheCRDChanged(t *testing.T) {
	w := newWorld(t, func(name string) ending {
		if name == "pair-semisync-1" {
			return ending{verdict: v1alpha1.VerdictInconclusive, lost: 5, rate: 50}
		}
		return slower(name)
	})
	w.apply(pair)
	w.until(func(s *v1alpha1.ReplicationSuite) bool { return len(s.Status.Runs) == 5 }, "pair")
	x := &v1alpha1.ReplicationExperiment{}
	must(t, w.client.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "pair-semisync-1"}, x))
	x.Spec.Load.TimeoutMilliseconds++
	must(t, w.client.Update(t.Context(), x))
	s := w.until(over, "pair")
	i := slices.IndexFunc(s.Status.Variants, func(v v1alpha1.VariantStatus) bool { return v.Name == "semisync" })
	if losses := s.Status.Variants[i].Losses; losses.LostIn != 1 || s.Status.Verdict != v1alpha1.VerdictFailed {
		t.Errorf("%s %q, %+v", s.Status.Verdict, s.Status.Reasons, losses)
	}
}

func TestAnEditedTrialThatIsRefusedIsRepeated(t *testing.T) {
	first := ""
	w := newWorld(t, func(name string) ending {
		if name == first {
			return ending{verdict: v1alpha1.VerdictInconclusive, refused: true}
		}
		return slower(name)
	})
	x := w.waiting()
	first = x.Name
	x.Spec.Load.Stages[0].DurationSeconds++
	must(t, w.client.Update(t.Context(), x))
	w.stands = false
	if s := w.until(over, "pair"); s.Status.Trials.Repeated != 1 || s.Status.Trials.Passed != 12 {
		t.Errorf("%s %q, %+v", s.Status.Verdict, s.Status.Reasons, s.Status.Trials)
	}
}

// TestATrialThatWasSuspendedAtOnceIsNotEdited: the suite knows what it created.
func TestATrialThatWasSuspendedAtOnceIsNotEdited(t *testing.T) {
	w := newWorld(t, slower)
	w.stands = true
	w.apply(pair)
	w.until(func(*v1alpha1.ReplicationSuite) bool { return len(w.order) == 1 }, "pair")
	x := &v1alpha1.ReplicationExperiment{}
	must(t, w.client.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: w.order[0]}, x))
	x.Spec.Suspend, x.Generation = true, 2
	must(t, w.client.Update(t.Context(), x))
	w.until(waitsWith(v1alpha1.ReasonSuspended), "pair")
	must(t, w.client.Get(t.Context(), client.ObjectKeyFromObject(x), x))
	x.Spec.Suspend, x.Generation = false, 3
	must(t, w.client.Update(t.Context(), x))
	w.stands = false
	if s := w.until(over, "pair"); s.Status.Trials.Repeated != 0 || s.Status.Trials.Passed != 12 {
		t.Errorf("%+v, the first %+v", s.Status.Trials, s.Status.Runs[0])
	}
}

// TestATrialThatWasEditedBeforeItWasSeenIsRepeated: the operator was killed when it had created the trial.
func TestATrialThatWasEditedBeforeItWasSeenIsRepeated(t *testing.T) {
	w := newWorld(t, slower)
	w.stands = true
	w.apply(pair)
	w.until(func(s *v1alpha1.ReplicationSuite) bool { return len(s.Status.Runs) == 1 }, "pair")
	w.killAt = w.writes + 1
	w.until(func(*v1alpha1.ReplicationSuite) bool { return len(w.order) == 1 }, "pair")
	if w.kills != 1 || w.suite("pair").Status.Runs[0].UID != "" {
		t.Fatal("the operator was not killed after the trial's creation")
	}
	x := &v1alpha1.ReplicationExperiment{}
	must(t, w.client.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: w.order[0]}, x))
	x.Spec.Load.Stages[0].DurationSeconds++
	x.Generation = 2
	must(t, w.client.Update(t.Context(), x))
	w.stands = false
	s := w.until(over, "pair")
	if s.Status.Trials.Repeated != 1 || s.Status.Trials.Passed != 12 || s.Status.Runs[0].Reason != editedReason {
		t.Errorf("%+v, the first %+v", s.Status.Trials, s.Status.Runs[0])
	}
}

func TestATrialThatWasAbortedBeforeItsStartIsRepeated(t *testing.T) {
	w := newWorld(t, slower)
	x := w.waiting()
	x.Spec.Abort = true
	must(t, w.client.Update(t.Context(), x))
	w.until(func(s *v1alpha1.ReplicationSuite) bool { return s.Status.Runs[0].Verdict != "" }, "pair")
	w.stands = false
	if s := w.until(over, "pair"); s.Status.Trials.Repeated != 1 || s.Status.Trials.Passed != 12 {
		t.Errorf("%s %q, %+v", s.Status.Verdict, s.Status.Reasons, s.Status.Trials)
	}
}

func TestASuspendedTrialIsNamed(t *testing.T) {
	w := newWorld(t, slower)
	x := w.waiting()
	x.Spec.Suspend = true
	must(t, w.client.Update(t.Context(), x))
	s := w.until(func(s *v1alpha1.ReplicationSuite) bool {
		return condition(s, "Complete").Reason == v1alpha1.ReasonSuspended
	}, "pair")
	if m := condition(s, "Complete").Message; !strings.Contains(m, x.Name) {
		t.Error(m)
	}
}

func TestDatabasesThatNeverGoDoNotStopTheSuite(t *testing.T) {
	w := newWorld(t, passed)
	w.remain = true
	w.apply(strings.Replace(pair[:strings.Index(pair, "  comparisons")], "trials: 6", "trials: 1", 1))
	w.until(func(s *v1alpha1.ReplicationSuite) bool {
		return condition(s, "Complete").Reason == v1alpha1.ReasonTidying
	}, "pair")
	w.now = w.now.Add(tidyPatience)
	w.until(func(s *v1alpha1.ReplicationSuite) bool { return len(s.Status.Runs) == 2 }, "pair")
	w.until(func(s *v1alpha1.ReplicationSuite) bool {
		return condition(s, "Complete").Reason == v1alpha1.ReasonTidying
	}, "pair")
	w.now = w.now.Add(tidyPatience)
	s := w.until(over, "pair")
	if s.Status.Verdict != v1alpha1.VerdictPassed || !slices.ContainsFunc(s.Status.Notes, func(n string) bool {
		return strings.Contains(n, "beside databases of earlier trials: 1.")
	}) {
		t.Errorf("%s, notes %q", s.Status.Verdict, s.Status.Notes)
	}
}

// TestAChangeAfterTheEndIsNoted: the conclusion is of the spec before. keepTrials is obeyed all the same.
func TestAChangeAfterTheEndIsNoted(t *testing.T) {
	w := newWorld(t, slower)
	w.apply(pair)
	w.until(over, "pair")
	w.edit("pair", func(s *v1alpha1.ReplicationSuite) {
		s.Spec.Expectations[0].Max, s.Spec.KeepTrials = ptr.To[int64](100), 0
	})
	s := w.until(func(s *v1alpha1.ReplicationSuite) bool { return s.Status.ObservedGeneration == s.Generation }, "pair")
	x := &v1alpha1.ReplicationExperiment{}
	must(t, w.client.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "pair-async-3"}, x))
	if !slices.Contains(s.Status.Notes, changedAfterwards) || x.Spec.Keep != v1alpha1.KeepNever {
		t.Errorf("notes %q, keep %s", s.Status.Notes, x.Spec.Keep)
	}
}

func TestSuspendStartsNoFurtherTrial(t *testing.T) {
	w := newWorld(t, slower)
	w.apply(pair)
	w.until(func(s *v1alpha1.ReplicationSuite) bool { return len(s.Status.Runs) == 2 }, "pair")
	w.edit("pair", func(s *v1alpha1.ReplicationSuite) { s.Spec.Suspend = true })
	s := w.until(func(s *v1alpha1.ReplicationSuite) bool {
		return condition(s, "Complete").Reason == v1alpha1.ReasonSuspended
	}, "pair")
	if len(w.order) != 2 || s.Status.Trials.Done != 2 {
		t.Errorf("%v, %+v", w.order, s.Status.Trials)
	}
	w.edit("pair", func(s *v1alpha1.ReplicationSuite) { s.Spec.Suspend = false })
	if s := w.until(over, "pair"); s.Status.Verdict != v1alpha1.VerdictPassed {
		t.Error(s.Status.Reasons)
	}
}

func TestAChangedSpecStartsNoFurtherTrial(t *testing.T) {
	w := newWorld(t, slower)
	w.apply(pair)
	w.until(func(s *v1alpha1.ReplicationSuite) bool { return len(s.Status.Runs) == 2 }, "pair")
	w.edit("pair", func(s *v1alpha1.ReplicationSuite) { slices.Reverse(s.Spec.Variants) })
	s := w.until(waitsWith(v1alpha1.ReasonSpecChanged), "pair")
	if m := condition(s, "Complete").Message; !strings.Contains(m, "Restore it") {
		t.Error(m)
	}
	w.edit("pair", func(s *v1alpha1.ReplicationSuite) { slices.Reverse(s.Spec.Variants); s.Spec.KeepTrials = 1 })
	if s := w.until(over, "pair"); s.Status.Trials.Done != 12 {
		t.Errorf("%+v", s.Status.Trials)
	}
}

// TestATrialIsMadeOfTheSpecThatWasAccepted: also where the spec was changed after the trial was written down.
func TestATrialIsMadeOfTheSpecThatWasAccepted(t *testing.T) {
	w := newWorld(t, passed)
	w.stands = true
	w.apply(pair)
	w.until(func(s *v1alpha1.ReplicationSuite) bool { return len(s.Status.Runs) == 1 && s.Status.Runs[0].UID == "" }, "pair")
	w.edit("pair", func(s *v1alpha1.ReplicationSuite) {
		s.Spec.Template.Spec.Raw = []byte(strings.Replace(string(s.Spec.Template.Spec.Raw), `"nodes":2`, `"nodes":3`, 1))
	})
	w.until(func(s *v1alpha1.ReplicationSuite) bool {
		return condition(s, "Complete").Reason == v1alpha1.ReasonSpecChanged
	}, "pair")
	if len(w.order) > 0 {
		t.Errorf("%v was made of another spec", w.order)
	}
	w.edit("pair", func(s *v1alpha1.ReplicationSuite) { s.Spec = parse(t, pair).Spec })
	w.until(func(s *v1alpha1.ReplicationSuite) bool { return s.Status.Runs[0].UID != "" }, "pair")
}

func TestAbortEndsASuiteWhoseTrialsNameIsTaken(t *testing.T) {
	w := newWorld(t, passed)
	w.apply(pair)
	w.until(func(s *v1alpha1.ReplicationSuite) bool { return s.Status.StartTime != nil }, "pair")
	w.intruder("pair-async-6")
	w.until(func(s *v1alpha1.ReplicationSuite) bool {
		return condition(s, "Complete").Reason == v1alpha1.ReasonNameTaken
	}, "pair")
	w.edit("pair", func(s *v1alpha1.ReplicationSuite) { s.Spec.Abort = true })
	s := w.until(over, "pair")
	if !strings.HasPrefix(s.Status.Reasons[0], "Aborted: ") {
		t.Errorf("%v", s.Status.Reasons)
	}
}

// TestAbortOfAChangedSuiteRemovesDatabases: the trial that ran when the spec was changed passed.
func TestAbortOfAChangedSuiteRemovesDatabases(t *testing.T) {
	w := newWorld(t, passed)
	x := w.waiting()
	w.edit("pair", func(s *v1alpha1.ReplicationSuite) { s.Spec.Trials = 7 })
	w.stands = false
	w.until(func(s *v1alpha1.ReplicationSuite) bool {
		return condition(s, "Complete").Reason == v1alpha1.ReasonSpecChanged
	}, "pair")
	w.edit("pair", func(s *v1alpha1.ReplicationSuite) { s.Spec.Abort = true })
	w.until(over, "pair")
	must(t, w.client.Get(t.Context(), client.ObjectKeyFromObject(x), x))
	if x.Spec.Keep != v1alpha1.KeepNever {
		t.Errorf("keep is %s", x.Spec.Keep)
	}
}

// TestDatabasesStayWhereTheSpecIsTooLong: the cache has no keepTrials of it.
func TestDatabasesStayWhereTheSpecIsTooLong(t *testing.T) {
	w := newWorld(t, slower)
	w.apply(pair)
	w.until(over, "pair")
	w.edit("pair", func(s *v1alpha1.ReplicationSuite) { s.Spec.Trials, s.Spec.KeepTrials = 0, 0 })
	w.until(func(s *v1alpha1.ReplicationSuite) bool { return s.Status.ObservedGeneration == s.Generation }, "pair")
	x := &v1alpha1.ReplicationExperiment{}
	must(t, w.client.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "pair-async-3"}, x))
	if x.Spec.Keep == v1alpha1.KeepNever {
		t.Error("its databases were removed")
	}
}

func TestAbortDoesNotWaitForDatabasesToGo(t *testing.T) {
	w := newWorld(t, passed)
	w.remain = true
	w.apply(pair)
	w.until(func(s *v1alpha1.ReplicationSuite) bool {
		return condition(s, "Complete").Reason == v1alpha1.ReasonTidying
	}, "pair")
	w.edit("pair", func(s *v1alpha1.ReplicationSuite) { s.Spec.Abort = true })
	w.until(over, "pair")
}
