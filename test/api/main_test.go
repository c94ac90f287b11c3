// Package api_test checks the API against a real API server: what the CRD defaults, accepts and refuses, and whether a
// refusal tells what to write instead.
package api_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"
)

const crdFile = "../../config/crd/replab.dev_replicationexperiments.yaml"

// minimal is the least that a person has to write. Every case is a merge patch on it.
const minimal = `
apiVersion: replab.dev/v1alpha1
kind: ReplicationExperiment
metadata: {name: minimal, namespace: default}
spec:
  topology: {type: Single}
  load: {stages: [{name: steady, durationSeconds: 30, users: 10}]}
`

// server is the API server that all tests of this package share; nil where there is none.
var server client.Client

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	assets := assetsDir()
	if assets == "" {
		if os.Getenv("REPLAB_REQUIRE_ENVTEST") != "" {
			fmt.Fprintln(os.Stderr, "no kube-apiserver and etcd here although REPLAB_REQUIRE_ENVTEST is set: run `make lab-bin`")
			return 1
		}
		return m.Run()
	}
	env := &envtest.Environment{BinaryAssetsDirectory: assets, CRDDirectoryPaths: []string{filepath.Dir(crdFile)}, ErrorIfCRDPathMissing: true}
	config, err := env.Start()
	if err != nil {
		fmt.Fprintln(os.Stderr, "start the API server and install the CRD:", err)
		return 1
	}
	defer func() {
		if err := env.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "stop the API server:", err)
		}
	}()
	if server, err = client.New(config, client.Options{}); err != nil {
		fmt.Fprintln(os.Stderr, "make a client:", err)
		return 1
	}
	return m.Run()
}

// assetsDir is the folder with kube-apiserver and etcd, empty where there is none.
func assetsDir() string {
	for _, dir := range []string{os.Getenv("KUBEBUILDER_ASSETS"), "../../.lab/bin"} {
		if dir == "" {
			continue
		}
		_, errServer := os.Stat(filepath.Join(dir, "kube-apiserver"))
		_, errStore := os.Stat(filepath.Join(dir, "etcd"))
		if errServer == nil && errStore == nil {
			return dir
		}
	}
	return ""
}

func needServer(t *testing.T) context.Context {
	t.Helper()
	if server == nil {
		t.Skip("no kube-apiserver and etcd here: run `make lab-bin`, or set KUBEBUILDER_ASSETS")
	}
	return t.Context()
}

// experiment is minimal with a merge patch applied, both YAML.
func experiment(t *testing.T, patch string) *unstructured.Unstructured {
	t.Helper()
	object := fromYAML(t, minimal)
	merge(object, fromYAML(t, patch))
	return &unstructured.Unstructured{Object: object}
}

func fromYAML(t *testing.T, text string) map[string]any {
	t.Helper()
	object := map[string]any{}
	if err := yaml.Unmarshal([]byte(text), &object); err != nil {
		t.Fatalf("parse %s: %v", text, err)
	}
	return object
}

// merge applies a patch as RFC 7396 says: null removes, objects merge, all else replaces.
func merge(object, patch map[string]any) {
	for key, value := range patch {
		below, isObject := value.(map[string]any)
		existing, hasObject := object[key].(map[string]any)
		switch {
		case value == nil:
			delete(object, key)
		case isObject && hasObject:
			merge(existing, below)
		default:
			object[key] = value
		}
	}
}

// dryRun asks the server whether it would take the object.
func dryRun(ctx context.Context, object client.Object) error {
	return server.Create(ctx, object, client.DryRunAll, client.FieldValidation(metav1.FieldValidationStrict))
}

// readCRD is the CRD as it is installed.
func readCRD(t *testing.T) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	text, err := os.ReadFile(crdFile)
	if err != nil {
		t.Fatal(err)
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(text, &crd); err != nil {
		t.Fatal(err)
	}
	return &crd
}
