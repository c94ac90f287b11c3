package experiment

import (
	"slices"
	"testing"

	"replab.dev/api/v1alpha1"
	"replab.dev/controllers/step"
	"replab.dev/test/experiment"
)

// TestStepsAreThoseThatPeopleAreShown, in their order; cleaning up is none of the reconciler's list.
func TestStepsAreThoseThatPeopleAreShown(t *testing.T) {
	var own []string
	for _, s := range steps {
		own = append(own, s.Condition)
	}
	if own = append(own, v1alpha1.ConditionCleanedUp); !slices.Equal(own, v1alpha1.Steps) {
		t.Errorf("carried out are %q, shown %q", own, v1alpha1.Steps)
	}
}

func TestReasonsAreNoMoreThanTheCRDTakes(t *testing.T) {
	status := experiment.CRD(t).Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["status"]
	if most := status.Properties["reasons"].MaxItems; most == nil || *most != step.MostReasons {
		t.Errorf("the CRD takes %v reasons, a run writes up to %d", most, step.MostReasons)
	}
}
