// Package progress says where an experiment stands, and which milestones it has reached. It is pure.
package progress

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/plain"
)

// Line says where an experiment stands.
func Line(x *v1alpha1.ReplicationExperiment) string {
	if x.Status.Phase == "" {
		return "Waiting for the operator"
	}
	for _, c := range x.Status.Conditions {
		if c.Status == metav1.ConditionFalse && c.Type != v1alpha1.ConditionPassed && c.Message != "" {
			return x.Status.Phase + ": " + plain.Line(c.Message)
		}
	}
	return x.Status.Phase
}

// Step is a milestone that a run has reached, with how long that took from the one before.
type Step struct {
	Name    string
	Seconds int64
}

// milestones in their order.
var milestones = append(slices.Clone(v1alpha1.Steps), v1alpha1.ConditionComplete)

// Steps lists the milestones that a run has reached, the first one counted from its creation. A condition's time is to the second, so
// each may be wrong by one; their sum is not.
func Steps(x *v1alpha1.ReplicationExperiment) []Step {
	var found []Step
	before := x.CreationTimestamp.Time
	for _, name := range milestones {
		i := slices.IndexFunc(x.Status.Conditions, func(c metav1.Condition) bool {
			return c.Type == name && c.Status == metav1.ConditionTrue
		})
		if i < 0 {
			continue
		}
		at := x.Status.Conditions[i].LastTransitionTime.Time
		if at.Before(before) { // two that are reached side by side
			at = before
		}
		found = append(found, Step{name, int64(at.Sub(before).Seconds())})
		before = at
	}
	return found
}
