package experiment

import (
	"fmt"
	"slices"
	"testing"

	"replab.dev/api/v1alpha1"
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
	if most := status.Properties["reasons"].MaxItems; most == nil || *most != maxReasons {
		t.Errorf("the CRD takes %v reasons, a run writes up to %d", most, maxReasons)
	}
	var reasons []string
	for i := range maxReasons + 1 {
		if got := atMost(maxReasons, reasons); len(got) != i {
			t.Fatalf("%d reasons become %d", i, len(got))
		}
		reasons = append(reasons, fmt.Sprint(i))
	}
	got := atMost(maxReasons, reasons)
	if len(got) != maxReasons || got[0] != "0" || got[maxReasons-1] == "255" || reasons[maxReasons-1] != "255" {
		t.Errorf("%d reasons become %d, the last is %q", len(reasons), len(got), got[len(got)-1])
	}
}
