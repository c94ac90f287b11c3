// Package check finds what is wrong with an experiment before it is applied, without a cluster: what the API server would refuse, by the same CRD
// and with the same libraries, and what the operator would, by the same rules.
package check

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"replab.dev/api/v1alpha1"
	"replab.dev/api/v1alpha1/validation"
)

// Answer is what is wrong with an experiment.
type Answer struct {
	// Schema is what the API server would refuse.
	Schema field.ErrorList
	// Spec is what the operator would refuse. It is empty while the API server refuses the object.
	Spec field.ErrorList
}

// Sentences are what people are told, one for each error.
func (a Answer) Sentences() []string {
	return append(validation.Sentences(a.Schema), validation.Sentences(a.Spec)...)
}

// Experiment checks one experiment. The error is for a CRD that cannot be read.
func Experiment(ctx context.Context, object *unstructured.Unstructured, servers validation.Servers) (Answer, error) {
	definition, err := load()
	if err != nil {
		return Answer{}, err
	}
	object, err = decoded(object)
	if err != nil {
		return Answer{}, err
	}
	if object.GetNamespace() == "" {
		object.SetNamespace("default")
	}
	if errs := definition.admit(ctx, object); len(errs) > 0 {
		return Answer{Schema: errs}, nil
	}
	x := &v1alpha1.ReplicationExperiment{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, x); err != nil {
		return Answer{}, fmt.Errorf("decode experiment %s: %w", object.GetName(), err)
	}
	return Answer{Spec: validation.Experiment(x, servers)}, nil
}

// decoded is a copy of an object as the API server reads it: whole numbers are integers.
func decoded(object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	text, err := json.Marshal(object.Object)
	if err != nil {
		return nil, fmt.Errorf("encode experiment %s: %w", object.GetName(), err)
	}
	fresh := &unstructured.Unstructured{}
	if err := utiljson.Unmarshal(text, &fresh.Object); err != nil {
		return nil, fmt.Errorf("decode experiment %s: %w", object.GetName(), err)
	}
	return fresh, nil
}
