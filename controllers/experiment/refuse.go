package experiment

import (
	"context"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/api/v1alpha1/validation"
	"replab.dev/internal/engine"
	"replab.dev/internal/plan"
)

// wrongSpec lists everything that the rules refuse in an experiment, a line each.
func wrongSpec(x *v1alpha1.ReplicationExperiment, servers engine.Lookup[engine.Server]) Outcome {
	if errs := validation.Experiment(x, Rules(servers)); len(errs) > 0 {
		return Terminal(v1alpha1.ReasonSpecRefused, "%s", validation.Message(errs))
	}
	return Done()
}

// Rules are what the engines make of parameters.
func Rules(servers engine.Lookup[engine.Server]) validation.Servers {
	rules := validation.Servers{}
	for name, server := range servers {
		rules[v1alpha1.Engine(name)] = server
	}
	return rules
}

// memoryShort ends a run whose memory is too little with the operator's own settings of pods.
func memoryShort(_ context.Context, run *Run) (Outcome, error) {
	if short := plan.MemoryShort(run.Input, run.Plan); short != "" {
		return Terminal(v1alpha1.ReasonSpecRefused, "%s", short), nil
	}
	return Done(), nil
}

// trier has the API server look at an object as if it were to be made. Nothing is made.
type trier interface {
	Try(ctx context.Context, owner *v1alpha1.ReplicationExperiment, obj client.Object) error
}

// tryPlan has the API server look at every object of the plan without making it. What it finds invalid ends the run; what it forbids, such as beyond a
// quota, is no fault of the spec, and is told when the object is made. A run that waits for its turn is tried once.
func tryPlan(ctx context.Context, run *Run) (Outcome, error) {
	if tried(run) {
		return Done(), nil
	}
	objects := slices.Concat(run.Plan.Deploy, run.Plan.Load)
	if run.Plan.Seed != nil {
		objects = append(objects, run.Plan.Seed)
	}
	var found objections
	for _, obj := range objects {
		err := run.Cluster.Try(ctx, run.ReplicationExperiment, obj)
		switch {
		case err == nil, apierrors.IsForbidden(err), apierrors.IsAlreadyExists(err), apierrors.IsNotFound(err), meta.IsNoMatchError(err):
		case apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
			found.add(obj, err)
		default:
			return refused(run, err)
		}
	}
	if len(found) > 0 {
		return Terminal(v1alpha1.ReasonSpecRefused, "%s", strings.Join(found.sentences(run.ReplicationExperiment), "\n")), nil
	}
	return Done(), nil
}

// tried tells whether a pass before has come beyond the trial, with the same spec.
func tried(run *Run) bool {
	c := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionAccepted)
	return c != nil && c.ObservedGeneration == run.Generation && InLine(run.ReplicationExperiment)
}
