package suite

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
)

// Conclude gives a summarised suite whose trials have ended its verdict and the reasons. What else speaks against Passed becomes notes.
func Conclude(suite *v1alpha1.ReplicationSuite) {
	s := &suite.Status
	var weaker []string
	s.Verdict, s.Reasons, weaker = conclude(s)
	s.Notes = append(s.Notes, weaker...)
	if n := s.Trials.Inconclusive; n > 0 && s.Verdict != v1alpha1.VerdictInvalid {
		s.Notes = append(s.Notes, fmt.Sprintf("Trials that stayed Inconclusive without retries left: %d.", n))
	}
	if n := s.Trials.Failed; n > 0 && s.Verdict == v1alpha1.VerdictPassed {
		s.Notes = append(s.Notes, fmt.Sprintf("Trials that missed a goal of their own: %d. Only expectations decide a suite.", n))
	}
	s.EstimatedCompletionTime = nil
}

func conclude(s *v1alpha1.ReplicationSuiteStatus) (verdict v1alpha1.Verdict, reasons, weaker []string) {
	if run := Invalid(s); run != nil {
		return v1alpha1.VerdictInvalid, []string{fmt.Sprintf("Trial %s is Invalid, so the suite stopped: %s", run.Name, run.Reason)}, nil
	}
	failed, unknown := Missed(s), unmeasured(s)
	switch n := len(s.Expectations); {
	case len(failed) > 0:
		return v1alpha1.VerdictFailed, failed, unknown
	case len(unknown) > 0:
		return v1alpha1.VerdictInconclusive, unknown, nil
	case n == 0:
		return v1alpha1.VerdictPassed, []string{"All trials were measured. The suite has no expectations."}, nil
	default:
		return v1alpha1.VerdictPassed, []string{fmt.Sprintf("All %d expectations are met.", n)}, nil
	}
}

// unmeasured are the expectations that are unknown, and the variants without a trial that counts.
func unmeasured(s *v1alpha1.ReplicationSuiteStatus) (reasons []string) {
	for _, e := range s.Expectations {
		if e.Met == metav1.ConditionUnknown {
			reasons = append(reasons, fmt.Sprintf("Expectation unknown: %s: %s.", e.Expectation, e.Found))
		}
	}
	for _, v := range s.Variants {
		if v.Trials == 0 {
			reasons = append(reasons, fmt.Sprintf("No trial of variant %s could be measured.", v.Name))
		}
	}
	return reasons
}

// Missed are the reasons of a suite that ends before its last trial: no further one could undo them.
func Missed(s *v1alpha1.ReplicationSuiteStatus) (reasons []string) {
	for _, e := range s.Expectations {
		if e.Met == metav1.ConditionFalse {
			reasons = append(reasons, missed(e))
		}
	}
	return reasons
}

func missed(e v1alpha1.ExpectationStatus) string {
	return fmt.Sprintf("Expectation not met: %s: %s.", e.Expectation, e.Found)
}

// Invalid is the run that stops the suite, nil where there is none.
func Invalid(s *v1alpha1.ReplicationSuiteStatus) *v1alpha1.TrialRun {
	if i := slices.IndexFunc(s.Runs, func(r v1alpha1.TrialRun) bool { return r.Verdict == v1alpha1.VerdictInvalid }); i >= 0 {
		return &s.Runs[i]
	}
	return nil
}

// Interest ranks trials whose databases are worth keeping. At nothing they are removed.
const (
	nothing = iota
	inconclusive
	failed
	lossy // acknowledged writes are gone that were not meant to be
	invalid
)

func interest(run v1alpha1.TrialRun, x *v1alpha1.ReplicationExperiment) int {
	if x.Status.StartTime == nil { // it has no databases
		return nothing
	}
	if run.Verdict == v1alpha1.VerdictInvalid {
		return invalid
	}
	lost := x.Status.Writes != nil && x.Status.Writes.Lost != nil && *x.Status.Writes.Lost > 0
	asked := run.Verdict == v1alpha1.VerdictPassed && slices.ContainsFunc(x.Status.Goals, func(g v1alpha1.GoalStatus) bool { return g.Metric == lostWrites })
	switch {
	case lost && !asked:
		return lossy
	case run.Verdict == v1alpha1.VerdictFailed:
		return failed
	case run.Verdict == v1alpha1.VerdictInconclusive:
		return inconclusive
	}
	return nothing
}

// Kept are the names of the runs whose databases stay: the most interesting, and of these the first.
func Kept(suite *v1alpha1.ReplicationSuite, experiments map[string]*v1alpha1.ReplicationExperiment) map[string]bool {
	of := map[string]int{}
	var names []string
	for _, run := range suite.Status.Runs {
		if x := experiments[run.Name]; x != nil && run.Verdict != "" {
			if of[run.Name] = interest(run, x); of[run.Name] > nothing {
				names = append(names, run.Name)
			}
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return of[b] - of[a] })
	kept := map[string]bool{}
	for _, name := range names[:min(len(names), int(suite.Spec.KeepTrials))] {
		kept[name] = true
	}
	return kept
}
