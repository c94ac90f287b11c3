package charts_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"replab.dev/test/kubetest"
)

// upgradedGroup stands for replab.dev, whose CRD other tests of this server use meanwhile.
const upgradedGroup = "upgraded.example"

// TestAnUpgradeBringsTheFieldsOfTheNewCRD: the chart before this one knew a field less. An experiment with it is refused until `helm upgrade`, and
// accepted then; what was there before still is.
func TestAnUpgradeBringsTheFieldsOfTheNewCRD(t *testing.T) {
	server, binary, kubeconfig := kubetest.Client(t), helmBinary(t), kubetest.Kubeconfig(t)
	release := func(verb, chart string, args ...string) {
		t.Helper()
		if _, err := run(binary, append([]string{verb, "upgraded", chart, "--kubeconfig", kubeconfig, "--namespace", "upgraded", "--set", "rbac.aggregate=false"}, args...)...); err != nil {
			t.Fatalf("helm %s: %v", verb, err)
		}
	}
	const field = "locale" // of spec.dataset: no rule of the CRD reads it
	newer, older := chartOfGroup(t, func(map[string]any) {}), chartOfGroup(t, func(spec map[string]any) {
		dataset, _, _ := unstructured.NestedFieldNoCopy(spec, "properties", "dataset", "properties")
		if dataset.(map[string]any)[field] == nil {
			t.Fatalf("spec.dataset has no %s: let this test take another field", field)
		}
		delete(dataset.(map[string]any), field)
	})
	t.Cleanup(func() {
		crd := object(t, "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: replicationexperiments."+upgradedGroup+"}}")
		if err := server.Delete(context.WithoutCancel(t.Context()), crd); err != nil {
			t.Error(err)
		}
	})

	release("install", older, "--create-namespace")
	before, with := ofGroup(t, "before"), ofGroup(t, "with")
	if err := unstructured.SetNestedField(with.Object, "ru", "spec", "dataset", field); err != nil {
		t.Fatal(err)
	}
	accepted(t, server, before)
	if err := server.Create(t.Context(), with.DeepCopy(), strictly); err == nil || !strings.Contains(err.Error(), `unknown field "spec.dataset.locale"`) {
		t.Fatalf("an experiment with spec.dataset.%s before the upgrade: %v, want it refused", field, err)
	}

	release("upgrade", newer)
	accepted(t, server, with)
	if got, _, _ := unstructured.NestedString(with.Object, "spec", "dataset", field); got != "ru" {
		t.Errorf("spec.dataset.%s is %q after the upgrade", field, got)
	}
	if err := server.Get(t.Context(), client.ObjectKeyFromObject(before), before); err != nil {
		t.Errorf("the experiment of before the upgrade: %v", err)
	}
}

// strictly is how kubectl writes: a field that the CRD lacks is an error, and not dropped.
var strictly = client.FieldValidation(metav1.FieldValidationStrict)

// accepted creates an experiment; a moment may pass until the API server goes by a new CRD.
func accepted(t *testing.T, server client.Client, x *unstructured.Unstructured) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		err := server.Create(t.Context(), x, strictly)
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

// chartOfGroup is replab's chart with its CRD in another group, and the schema of spec changed.
func chartOfGroup(t *testing.T, change func(spec map[string]any)) (folder string) {
	t.Helper()
	folder = filepath.Join(t.TempDir(), "replab")
	copied(t, filepath.Join(kubetest.Root(), "charts", "replab"), folder)
	if err := os.Remove(filepath.Join(folder, "files", "crd-suites.yaml")); err != nil { // the server has it already
		t.Fatal(err)
	}
	file := filepath.Join(folder, "files", "crd.yaml")
	crd := object(t, string(read(t, folder, "files/crd.yaml")))
	crd.SetName("replicationexperiments." + upgradedGroup)
	crd.Object["spec"].(map[string]any)["group"] = upgradedGroup
	versions, _, _ := unstructured.NestedFieldNoCopy(crd.Object, "spec", "versions")
	spec, found, err := unstructured.NestedFieldNoCopy(versions.([]any)[0].(map[string]any), "schema", "openAPIV3Schema", "properties", "spec")
	if err != nil || !found {
		t.Fatalf("the CRD has no spec: %v", err)
	}
	change(spec.(map[string]any))
	text, err := yaml.Marshal(crd.Object)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}

// ofGroup is an experiment of the other group.
func ofGroup(t *testing.T, name string) *unstructured.Unstructured {
	t.Helper()
	x := object(t, string(read(t, filepath.Join(kubetest.Root(), "experiments"), "single.yaml")))
	x.SetAPIVersion(upgradedGroup + "/v1alpha1")
	x.SetNamespace("upgraded")
	x.SetName(name)
	return x
}
