package cached

import (
	"encoding/json"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"replab.dev/api/v1alpha1"
)

// TestCacheKeepsWhatIsRead checks that labels, annotations and managed fields, whose size has no bound, are dropped.
func TestCacheKeepsWhatIsRead(t *testing.T) {
	u := &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{
			"name": "x", "annotations": map[string]any{"mine": strings.Repeat("x", 1000)}, "labels": map[string]any{"mine": "y"},
			"managedFields": []any{map[string]any{"manager": strings.Repeat("m", 1000), "operation": "Apply"}},
		},
		"spec": map[string]any{"suspend": true},
	}}
	object, err := decoded(u)
	if err != nil {
		t.Fatal(err)
	}
	x, ok := object.(*v1alpha1.ReplicationExperiment)
	if !ok || !x.Spec.Suspend || x.Name != "x" {
		t.Fatalf("the cache keeps %+v", object)
	}
	if text, err := json.Marshal(x.ObjectMeta); err != nil || len(text) > 100 {
		t.Errorf("the metadata takes %d bytes: %s, %v", len(text), text, err)
	}
	again, err := decoded(object)
	if err != nil || again != object {
		t.Errorf("what was decoded becomes %v, %v", again, err)
	}
}

// TestALargeSpecIsNotKept: an editor must not fill the operator's memory with experiments.
func TestALargeSpecIsNotKept(t *testing.T) {
	for size, large := range map[int]bool{32 << 10: false, 65 << 10: true} {
		annotations := map[string]any{"a": strings.Repeat("x", size)}
		u := &unstructured.Unstructured{Object: map[string]any{
			"metadata": map[string]any{"name": "x"},
			"spec":     map[string]any{"pods": map[string]any{"all": map[string]any{"annotations": annotations}}},
		}}
		object, err := decoded(u)
		bad, is := object.(*Undecodable)
		if err != nil || is != large {
			t.Fatalf("of %d bytes the cache keeps a %T, %v", size, object, err)
		}
		if large && (bad.Name != "x" || !strings.Contains(bad.Why, "the operator reads 65536: shorten it")) {
			t.Errorf("experiment %s is told: %s", bad.Name, bad.Why)
		}
	}
}
