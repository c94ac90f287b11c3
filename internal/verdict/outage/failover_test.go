package outage

import (
	"testing"

	"k8s.io/utils/ptr"

	"replab.dev/test/experiment"
)

// TestRestartsInPlaceAreNoMoreThanTheCRDTakes: the API server refuses a status with one more, on each pass.
func TestRestartsInPlaceAreNoMoreThanTheCRDTakes(t *testing.T) {
	status := experiment.CRD(t).Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["status"]
	if most := status.Properties["restartsInPlace"].MaxItems; most == nil || *most != mostRestartsInPlace {
		t.Errorf("the CRD takes %v of them, a run states up to %d", ptr.Deref(most, 0), mostRestartsInPlace)
	}
}
