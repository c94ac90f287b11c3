package follow

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
)

// TestEachEventOfASuiteIsToldOnce from look to look, also those of looks that were missed.
func TestEachEventOfASuiteIsToldOnce(t *testing.T) {
	var e SuiteEvents
	s := &v1alpha1.ReplicationSuite{}
	waiting := func(reason, message string) {
		s.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionComplete, Status: metav1.ConditionFalse, Reason: reason, Message: message}}
	}
	next := func(away error, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, e.Next(s, away)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	next(nil)
	waiting(v1alpha1.ReasonSuspended, "spec.suspend is true.")
	next(nil, "Suspended: spec.suspend is true.")
	waiting(v1alpha1.ReasonRunning, "")
	s.Spec.Trials, s.Spec.Retries, s.Spec.Variants = 2, 1, []v1alpha1.SuiteVariant{{Name: "a"}}
	s.Status.Trials = &v1alpha1.TrialCounts{Total: 2}
	s.Status.Runs = []v1alpha1.TrialRun{{Name: "cost-a-1", Variant: "a", Round: 1, Attempt: 1}}
	next(nil, "round 1, a begins: experiment cost-a-1")
	next(nil)
	next(errors.New("no route"), "the API server does not answer: no route")
	next(errors.New("no route"))
	s.Status.Runs[0].Verdict, s.Status.Runs[0].Reason = v1alpha1.VerdictInconclusive, "no evidence"
	s.Status.Runs = append(s.Status.Runs, v1alpha1.TrialRun{Name: "cost-a-1-r2", Variant: "a", Round: 1, Attempt: 2, Verdict: v1alpha1.VerdictPassed})
	next(nil, "round 1, a: Inconclusive, no evidence (1 of 2 trials)", "round 1, a, attempt 2 begins: experiment cost-a-1-r2", "round 1, a, attempt 2: Passed (1 of 2 trials)")
	next(nil)
}

func TestTheBarOfASuite(t *testing.T) {
	now := time.Unix(1000, 0)
	s := &v1alpha1.ReplicationSuite{}
	if got := SuiteBar(s, now); got != "waiting for the operator" {
		t.Error(got)
	}
	s.Status.Trials = &v1alpha1.TrialCounts{Total: 8, Done: 2}
	s.Status.EstimatedCompletionTime = &metav1.Time{Time: now.Add(90 * time.Second)}
	s.Status.Runs = []v1alpha1.TrialRun{{Variant: "a", Round: 3, Attempt: 1}}
	if got := SuiteBar(s, now); got != "█████░░░░░░░░░░░░░░░ 2/8  1 min 30 s left  round 3, a" {
		t.Error(got)
	}
	s.Status.Runs[0].Verdict = v1alpha1.VerdictPassed
	if got := SuiteBar(s, now.Add(time.Hour)); got != "█████░░░░░░░░░░░░░░░ 2/8" {
		t.Error(got)
	}
}
