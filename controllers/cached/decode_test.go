package cached

import (
	"encoding/json"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"replab.dev/api/v1alpha1"
	"replab.dev/api/v1alpha1/validation"
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
		if large && (bad.Name != "x" || !strings.Contains(bad.Why, "the operator reads 65536. Shorten it.")) {
			t.Errorf("experiment %s is told: %s", bad.Name, bad.Why)
		}
	}
}

// TestSuitesAreKeptLean: without the metadata whose size has no bound, and without a spec that is too long.
func TestSuitesAreKeptLean(t *testing.T) {
	for size, kept := range map[int]bool{32 << 10: true, 65 << 10: false} {
		s := &v1alpha1.ReplicationSuite{}
		s.Name, s.Annotations = "x", map[string]string{"mine": strings.Repeat("x", 1000)}
		s.Spec.Abort, s.Spec.Variants = true, []v1alpha1.SuiteVariant{{Name: "a"}}
		s.Spec.Template.Spec.Raw = []byte(`{"a":"` + strings.Repeat("x", size) + `"}`)
		object, err := lean(s)
		got, ok := object.(*v1alpha1.ReplicationSuite)
		if err != nil || !ok || got.Name != "x" || got.Annotations != nil || !got.Spec.Abort || (len(got.Spec.Template.Spec.Raw) > size) != kept {
			t.Errorf("of %d bytes the cache keeps %.200v, %v", size, object, err)
		}
		if errs := validation.Suite(got, func(string) validation.Scopes { return validation.Scopes{Whole: true, Stages: true} }); !kept && !strings.Contains(validation.Message(errs), "more than 65536 bytes") {
			t.Errorf("the suite is told: %v", errs)
		}
	}
}
