package experiment

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestAnObjectIsReadIntoAnEmptyOne: what was planned must not show through where the cluster has something else, and of a kind that
// this program has no type for the kind is kept.
func TestAnObjectIsReadIntoAnEmptyOne(t *testing.T) {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "a-load-0", Labels: map[string]string{"a": "b"}}}
	foreign := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"parallelism": int64(2)}}}
	foreign.SetGroupVersionKind(schema.GroupVersionKind{Group: "k6.io", Version: "v1alpha1", Kind: "TestRun"})
	foreign.SetNamespace("n")
	foreign.SetName("a-load")
	for _, planned := range []client.Object{job, foreign} {
		o := empty(planned)
		if client.ObjectKeyFromObject(o) != client.ObjectKeyFromObject(planned) || len(o.GetLabels()) > 0 {
			t.Errorf("%T is read into %+v", planned, o)
		}
		if o.GetObjectKind().GroupVersionKind() != planned.GetObjectKind().GroupVersionKind() {
			t.Errorf("%T lost its kind: %s", planned, o.GetObjectKind().GroupVersionKind())
		}
		if u, ok := o.(*unstructured.Unstructured); ok && u.Object["spec"] != nil {
			t.Errorf("%v shows through", u.Object["spec"])
		}
	}
}
