package suite

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/controllers/step"
	"replab.dev/internal/suite"
)

// mostOfEvent is how many bytes of a message an event has.
const mostOfEvent = 1000

// more ends a list that was too long.
const more = "There are more."

func over(s *v1alpha1.ReplicationSuite) bool {
	return meta.IsStatusConditionTrue(s.Status.Conditions, v1alpha1.ConditionComplete)
}

func (r *Reconciler) set(s *v1alpha1.ReplicationSuite, condition string, status metav1.ConditionStatus, reason, message string) {
	meta.SetStatusCondition(&s.Status.Conditions, metav1.Condition{
		Type: condition, Status: status, Reason: reason, Message: step.Truncate(message, step.MostOfCondition), ObservedGeneration: s.Generation,
		LastTransitionTime: metav1.NewTime(r.Now()),
	})
}

// mark writes what a step came to into the conditions. A verdict ends the suite, and a proven miss is Failed however it ends.
func (r *Reconciler) mark(s *v1alpha1.ReplicationSuite, out step.Outcome) {
	status := &s.Status
	if out.Terminal {
		var end []string
		for _, line := range strings.Split(out.Message, "\n") {
			end = append(end, out.Reason+": "+step.Truncate(line, step.MostOfReason))
		}
		status.Verdict, status.EstimatedCompletionTime, status.Reasons = v1alpha1.VerdictInconclusive, nil, end
		if missed := suite.Missed(status); len(missed) > 0 {
			status.Verdict, status.Reasons, status.Notes = v1alpha1.VerdictFailed, missed, append(status.Notes, end...)
		}
	}
	if status.StartTime != nil {
		r.set(s, v1alpha1.ConditionAccepted, metav1.ConditionTrue, v1alpha1.ConditionAccepted, "")
	} else {
		r.set(s, v1alpha1.ConditionAccepted, metav1.ConditionFalse, out.Reason, out.Message)
	}
	if status.Verdict == "" {
		r.set(s, v1alpha1.ConditionComplete, metav1.ConditionFalse, out.Reason, out.Message)
	} else {
		r.complete(s)
	}
	if status.Columns == nil {
		status.Columns = map[string]string{}
	}
	status.Columns["conclusion"] = meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionComplete).Reason
	status.Reasons, status.Notes = step.AtMost(status.Reasons, more), step.AtMost(status.Notes, more)
}

// complete is the end: Complete with the verdict as its reason, and Passed beside it.
func (r *Reconciler) complete(s *v1alpha1.ReplicationSuite) {
	r.set(s, v1alpha1.ConditionPassed, step.Passed(s.Status.Verdict), string(s.Status.Verdict), s.Status.Reasons[0])
	r.set(s, v1alpha1.ConditionComplete, metav1.ConditionTrue, string(s.Status.Verdict), s.Status.Reasons[0])
	now := metav1.NewTime(r.Now())
	s.Status.CompletionTime = &now
}
