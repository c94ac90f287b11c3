// Package api_test checks the API against a real API server: what the CRD defaults, accepts and refuses, and whether a
// refusal tells what to write instead.
package api_test

import (
	"os"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"replab.dev/test/kubetest"
	"replab.dev/test/specs"
)

func TestMain(m *testing.M) {
	os.Exit(kubetest.Main(m))
}

// minimalWith is minimal with a merge patch applied, both YAML.
func minimalWith(t *testing.T, patch string) *unstructured.Unstructured {
	t.Helper()
	return specs.With(t, patch)
}

func fromYAML(t *testing.T, text string) map[string]any {
	t.Helper()
	object := map[string]any{}
	if err := yaml.Unmarshal([]byte(text), &object); err != nil {
		t.Fatalf("parse %s: %v", text, err)
	}
	return object
}

// dryRun asks the server whether it would take the object.
func dryRun(t *testing.T, object client.Object) error {
	t.Helper()
	return kubetest.Client(t).Create(t.Context(), object, client.DryRunAll, client.FieldValidation(metav1.FieldValidationStrict))
}

// readCRD is the CRD as it is installed.
func readCRD(t *testing.T) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	return readDefinition(t, kubetest.CRDFile())
}

func readSuiteCRD(t *testing.T) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	return readDefinition(t, kubetest.SuiteCRDFile())
}

func readDefinition(t *testing.T, file string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(text, &crd); err != nil {
		t.Fatal(err)
	}
	return &crd
}
