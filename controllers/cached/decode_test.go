package cached

import (
	"encoding/json"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"replab.dev/api/v1alpha1"
)

// TestCacheKeepsWhatIsRead checks that managed fields and the applied text, the larger part of a small object, are dropped.
func TestCacheKeepsWhatIsRead(t *testing.T) {
	u := &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{
			"name": "x", "annotations": map[string]any{corev1.LastAppliedConfigAnnotation: strings.Repeat("x", 1000), "mine": "kept"},
			"managedFields": []any{map[string]any{"manager": strings.Repeat("m", 1000), "operation": "Apply"}},
		},
		"spec": map[string]any{"suspend": true},
	}}
	object, err := decoded(u)
	if err != nil {
		t.Fatal(err)
	}
	x, ok := object.(*v1alpha1.ReplicationExperiment)
	if !ok || !x.Spec.Suspend || x.Annotations["mine"] != "kept" {
		t.Fatalf("the cache keeps %+v", object)
	}
	if text, err := json.Marshal(x.ObjectMeta); err != nil || len(text) > 200 {
		t.Errorf("the metadata takes %d bytes: %s, %v", len(text), text, err)
	}
	again, err := decoded(object)
	if err != nil || again != object {
		t.Errorf("what was decoded becomes %v, %v", again, err)
	}
}
