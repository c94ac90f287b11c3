package cached

import (
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/decode"
)

// Undecodable is an experiment that Go cannot decode.
type Undecodable struct {
	metav1.PartialObjectMetadata
	Conditions []metav1.Condition // of its status
	Why        string
}

// DeepCopyObject implements runtime.Object.
func (u *Undecodable) DeepCopyObject() runtime.Object {
	out := &Undecodable{Conditions: slices.Clone(u.Conditions), Why: u.Why}
	u.DeepCopyInto(&out.PartialObjectMetadata)
	return out
}

// UndecodableError is the answer to whoever asks for such an experiment.
type UndecodableError struct{ Experiment *Undecodable }

func (e *UndecodableError) Error() string {
	return fmt.Sprintf("experiment %s/%s cannot be decoded: %s", e.Experiment.Namespace, e.Experiment.Name, e.Experiment.Why)
}

// decoded is what the cache keeps of an object: its experiment, or why there is none, without what nobody reads.
func decoded(object any) (any, error) {
	u, ok := object.(*unstructured.Unstructured)
	if !ok {
		return object, nil // client-go may hand over what was decoded before
	}
	x := &v1alpha1.ReplicationExperiment{}
	if err := decode.Experiment(u, x); err != nil {
		return undecodable(u, err), nil
	}
	x.ManagedFields = nil
	delete(x.Annotations, corev1.LastAppliedConfigAnnotation)
	return x, nil
}

func undecodable(u *unstructured.Unstructured, why error) *Undecodable {
	found := &Undecodable{Why: why.Error()}
	found.SetGroupVersionKind(kind)
	found.Namespace, found.Name, found.UID = u.GetNamespace(), u.GetName(), u.GetUID()
	found.ResourceVersion, found.Generation = u.GetResourceVersion(), u.GetGeneration()
	found.CreationTimestamp, found.DeletionTimestamp = u.GetCreationTimestamp(), u.GetDeletionTimestamp()
	if raw, ok, _ := unstructured.NestedFieldNoCopy(u.Object, "status", "conditions"); ok {
		if text, err := json.Marshal(raw); err == nil {
			_ = json.Unmarshal(text, &found.Conditions) // without them the status is left as it is
		}
	}
	return found
}
