package cached

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"replab.dev/api/v1alpha1"
	"replab.dev/api/v1alpha1/validation"
	"replab.dev/internal/decode"
)

// Undecodable is an experiment that Go cannot decode.
type Undecodable struct {
	metav1.PartialObjectMetadata
	Conditions []metav1.Condition // of its status
	Stale      []string           // fields of the status of one that begins anew, whose Conditions are nil
	Why        string
}

// DeepCopyObject implements runtime.Object.
func (u *Undecodable) DeepCopyObject() runtime.Object {
	out := &Undecodable{Conditions: slices.Clone(u.Conditions), Stale: slices.Clone(u.Stale), Why: u.Why}
	u.DeepCopyInto(&out.PartialObjectMetadata)
	return out
}

// UndecodableError is the answer to whoever asks for such an experiment.
type UndecodableError struct{ Experiment *Undecodable }

func (e *UndecodableError) Error() string {
	return fmt.Sprintf("experiment %s/%s cannot be decoded: %s", e.Experiment.Namespace, e.Experiment.Name, e.Experiment.Why)
}

// decoded is what the cache keeps of an object: its experiment, or why there is none.
func decoded(object any) (any, error) {
	u, ok := object.(*unstructured.Unstructured)
	if !ok {
		return object, nil // client-go may hand over what was decoded before
	}
	if why := validation.TooLong(u.Object["spec"]); why != "" {
		return undecodable(u, errors.New(why)), nil
	}
	x := &v1alpha1.ReplicationExperiment{}
	if err := decode.Experiment(u, x); err != nil {
		return undecodable(u, err), nil
	}
	x.ObjectMeta = metadata(u)
	return x, nil
}

// lean is what the cache keeps of a suite. Of a spec that is too long only the rules are left, which refuse it.
func lean(object any) (any, error) {
	s, ok := object.(*v1alpha1.ReplicationSuite)
	if !ok {
		return object, nil
	}
	s.ObjectMeta = metadata(s)
	if !validation.Short(&s.Spec) {
		s.Spec = v1alpha1.ReplicationSuiteSpec{Abort: s.Spec.Abort, TTLSecondsAfterFinished: s.Spec.TTLSecondsAfterFinished}
	}
	return s, nil
}

// metadata is what is read of it. Labels and annotations are not, and may have megabytes. Of the owners it is the suite of a trial.
func metadata(u metav1.Object) metav1.ObjectMeta {
	m := metav1.ObjectMeta{
		Namespace: u.GetNamespace(), Name: u.GetName(), UID: u.GetUID(), ResourceVersion: u.GetResourceVersion(), Generation: u.GetGeneration(),
		CreationTimestamp: u.GetCreationTimestamp(), DeletionTimestamp: u.GetDeletionTimestamp(),
	}
	if owner := metav1.GetControllerOf(u); owner != nil {
		m.OwnerReferences = []metav1.OwnerReference{*owner}
	}
	return m
}

func undecodable(u *unstructured.Unstructured, why error) *Undecodable {
	found := &Undecodable{Why: why.Error()}
	found.SetGroupVersionKind(kind)
	found.ObjectMeta = metadata(u)
	status, _ := u.Object["status"].(map[string]any)
	if raw, ok := status["conditions"]; ok {
		if text, err := json.Marshal(raw); err == nil {
			_ = json.Unmarshal(text, &found.Conditions) // without them the status is left as it is
		}
	}
	var start *metav1.Time
	if _, started := status["startTime"]; started {
		start = &metav1.Time{} // only whether there is one matters
	}
	observed, _ := status["observedGeneration"].(int64)
	if v1alpha1.BeginsAnew(found.Conditions, start, found.Generation, observed) {
		found.Conditions, found.Stale = nil, slices.Sorted(maps.Keys(status))
	}
	return found
}
