//go:build e2e

package e2e

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/test/experiment"
)

// shortSeed is an experiment of a seed document, with two of its steps that are seconds long.
func shortSeed(t *testing.T, name string, seconds int64) *v1alpha1.ReplicationExperiment {
	t.Helper()
	x := experiment.Load(t, "seeds/"+name)
	x.Spec.Keep, x.Spec.Dataset.Users, x.Spec.App.Replicas = v1alpha1.KeepAlways, 2000, 1
	x.Spec.Load.Stages = slices.DeleteFunc(x.Spec.Load.Stages, func(s v1alpha1.Stage) bool { return !s.Discard && s.Users != 8 && s.Users != 32 })
	for i := range x.Spec.Load.Stages {
		x.Spec.Load.Stages[i].DurationSeconds = seconds
	}
	return x
}

func TestSeed001Plain(t *testing.T) {
	carryOutVariant(t, shortSeed(t, "001-plain", 5), func(t *testing.T, s v1alpha1.ReplicationExperimentStatus) {
		lostNothing(t, s)
		for _, stage := range s.Load.Stages {
			if stage.ClosedLoopHolds != metav1.ConditionTrue || stage.Requests == 0 {
				t.Errorf("stage %s: %+v", stage.Name, stage)
			}
		}
	})
}
