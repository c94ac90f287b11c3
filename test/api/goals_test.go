package api_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"replab.dev/internal/figure"
)

// TestGoalsTakeTheCataloguesFigures compares the metrics that the CRD accepts with the figures that goals may limit.
func TestGoalsTakeTheCataloguesFigures(t *testing.T) {
	goals := readCRD(t).Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties["goals"]
	var accepted, want []string
	for _, v := range goals.Items.Schema.Properties["metric"].Enum {
		accepted = append(accepted, strings.Trim(string(v.Raw), `"`))
	}
	for _, e := range figure.All() {
		if e.Goal {
			want = append(want, e.Name)
		}
	}
	slices.Sort(accepted)
	slices.Sort(want)
	if diff := cmp.Diff(want, accepted); diff != "" {
		t.Errorf("goals' metrics (-catalogue +CRD):\n%s", diff)
	}
}
