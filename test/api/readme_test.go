package api_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"replab.dev/test/kubetest"
)

// TestTheReadmesExperimentIsAccepted applies what a newcomer would copy.
func TestTheReadmesExperimentIsAccepted(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(kubetest.Root(), "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllSubmatch(text, -1)
	if len(blocks) == 0 {
		t.Fatal("the README has no experiment")
	}
	for _, block := range blocks {
		u := &unstructured.Unstructured{}
		if err := yaml.UnmarshalStrict(block[1], &u.Object); err != nil {
			t.Fatal(err)
		}
		u.SetNamespace("default")
		if err := kubetest.Client(t).Create(t.Context(), u, client.DryRunAll, client.FieldValidation("Strict")); err != nil {
			t.Errorf("%v\n%s", err, block[1])
		}
	}
}
