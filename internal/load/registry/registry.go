// Package registry is the list of runners of k6 that this operator knows.
package registry

import (
	"fmt"
	"maps"
	"slices"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/kube"
	"replab.dev/internal/load"
	"replab.dev/internal/load/job"
	"replab.dev/internal/load/k6operator"
)

var runners = map[v1alpha1.LoadRunner]load.Runner{
	v1alpha1.RunnerJob:        job.Runner{},
	v1alpha1.RunnerK6Operator: k6operator.Runner{},
}

// For returns the runner of a name. The CRD refuses those without one; the error is for a CRD newer than the operator.
func For(name v1alpha1.LoadRunner) (load.Runner, error) {
	if r, ok := runners[name]; ok {
		return r, nil
	}
	return nil, fmt.Errorf("load.runner %s is not supported by this operator: upgrade the operator, or use Job", name)
}

// Foreign is the runner of a name whose pods another operator makes, nil of others.
func Foreign(name v1alpha1.LoadRunner) load.Foreign {
	foreign, _ := runners[name].(load.Foreign)
	return foreign
}

// Kinds of all runners' objects. A cluster may lack some.
func Kinds() []kube.Object {
	var kinds []kube.Object
	for _, name := range slices.Sorted(maps.Keys(runners)) {
		kinds = append(kinds, runners[name].Kind())
	}
	return kinds
}
