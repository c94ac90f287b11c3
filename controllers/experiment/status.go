package experiment

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/controllers/step"
)

func isTrue(conditions []metav1.Condition, t string) bool {
	return meta.IsStatusConditionTrue(conditions, t)
}

// markTrue ends a step; the next begins with no progress.
func markTrue(run *Run, condition string) {
	set(run, condition, metav1.ConditionTrue, v1alpha1.ReasonDone, "")
	run.Status.Progress = nil
}

func markPending(run *Run, condition string, out Outcome) {
	set(run, condition, metav1.ConditionFalse, out.Reason, out.Message)
}

func set(run *Run, condition string, status metav1.ConditionStatus, reason, message string) {
	meta.SetStatusCondition(&run.Status.Conditions, metav1.Condition{
		Type: condition, Status: status, Reason: reason, Message: step.Truncate(message, step.MostOfCondition), ObservedGeneration: run.Generation,
		LastTransitionTime: metav1.NewTime(run.Now()),
	})
}

// more ends a list that was too long.
const more = "There are more: the results document has all of them."

// endEarly gives a run that cannot go on its verdict; figures that its steps wrote stay.
func endEarly(run *Run, condition string, out Outcome) {
	markPending(run, condition, out)
	run.Status.Progress = nil
	run.Status.Verdict = v1alpha1.VerdictInconclusive
	run.Status.Reasons = nil
	lines := []string{out.Message}
	if out.Reason == v1alpha1.ReasonSpecRefused { // each error is a reason of its own
		lines = strings.Split(out.Message, "\n")
	}
	for _, line := range lines {
		run.Status.Reasons = append(run.Status.Reasons, condition+": "+step.Truncate(line, step.MostOfReason))
	}
}

// over tells that the verdict stands: what is left is the cleaning up.
func over(run *Run) bool { return run.Status.Verdict != "" }

// markComplete is the end: Complete with the verdict as its reason, and Passed beside it.
func markComplete(run *Run) {
	if isTrue(run.Status.Conditions, v1alpha1.ConditionComplete) {
		return
	}
	verdict := run.Status.Verdict
	first := ""
	if len(run.Status.Reasons) > 0 {
		first = run.Status.Reasons[0]
	}
	set(run, v1alpha1.ConditionPassed, step.Passed(verdict), string(verdict), first)
	set(run, v1alpha1.ConditionComplete, metav1.ConditionTrue, string(verdict), first)
	now := metav1.NewTime(run.Now())
	run.Status.CompletionTime = &now
}

// phase sums the conditions up in a word.
func phase(run *Run) string {
	conditions := run.Status.Conditions
	if isTrue(conditions, v1alpha1.ConditionComplete) {
		return "Complete"
	}
	if over(run) {
		return "CleaningUp"
	}
	words := map[string]string{
		v1alpha1.ConditionAccepted: "Pending", v1alpha1.ConditionDeployed: "Deploying", v1alpha1.ConditionSeeded: "Seeding",
		v1alpha1.ConditionLoadStarted: "StartingLoad", v1alpha1.ConditionFaultsInjected: "UnderLoad",
		v1alpha1.ConditionLoadFinished: "UnderLoad", v1alpha1.ConditionSettled: "Settling", v1alpha1.ConditionAudited: "Auditing",
		v1alpha1.ConditionJudged: "Judging",
	}
	for _, s := range steps {
		if !isTrue(conditions, s.Condition) {
			if s.Condition == v1alpha1.ConditionAccepted && run.Spec.Suspend {
				return "Suspended"
			}
			return words[s.Condition]
		}
	}
	return "CleaningUp"
}
