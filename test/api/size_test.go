package api_test

import (
	"encoding/json"
	"os"
	"testing"

	"sigs.k8s.io/yaml"

	"replab.dev/test/kubetest"
)

// annotationBytes is how much the API server takes in all annotations of an object. `kubectl apply` keeps the whole object in one.
const annotationBytes = 256 << 10

func TestTheCRDIsSmallEnoughForKubectlApply(t *testing.T) {
	text, err := os.ReadFile(kubetest.CRDFile())
	if err != nil {
		t.Fatal(err)
	}
	var object map[string]any
	if err := yaml.Unmarshal(text, &object); err != nil {
		t.Fatal(err)
	}
	written, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	if most := annotationBytes - 1<<10; len(written) > most {
		t.Errorf("the CRD has %d bytes as JSON, and kubectl apply takes %d: shorten its rules or its descriptions", len(written), most)
	}
}

// fileBytes is how large the CRD's file may be: what is applied is kept in an annotation too.
const fileBytes = 256 << 10

func TestTheCRDsFileIsSmall(t *testing.T) {
	text, err := os.ReadFile(kubetest.CRDFile())
	if err != nil {
		t.Fatal(err)
	}
	if len(text) > fileBytes {
		t.Errorf("the CRD's file has %d bytes, want at most %d: shorten its descriptions", len(text), fileBytes)
	}
}
