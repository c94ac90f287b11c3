package controllers

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"

	"replab.dev/api/v1alpha1"
	runners "replab.dev/internal/load/registry"
)

// runnerServed refuses a load that another operator runs where there is none, before anything is made.
func runnerServed(ctx context.Context, run *Run) (Outcome, error) {
	if runners.Foreign(run.Spec.Load.Runner) == nil {
		return Done(), nil
	}
	for _, planned := range run.Plan.Load {
		if _, err := run.Snapshot.Object(ctx, planned); err != nil {
			return withoutRunner(run, err)
		}
	}
	return Done(), nil
}

// withoutRunner ends the run where the load's objects cannot be read or made since another operator that runs it is not there, or may not be used.
func withoutRunner(run *Run, err error) (Outcome, error) {
	foreign := runners.Foreign(run.Spec.Load.Runner)
	switch {
	case foreign != nil && meta.IsNoMatchError(err):
		return Terminal(v1alpha1.ReasonNotFound, "%s", foreign.NotServed()), nil
	case foreign != nil && apierrors.IsForbidden(err) && run.Status.StartTime == nil:
		return Terminal(v1alpha1.ReasonSpecRefused, "%s, or use runner %s", foreign.Forbidden(), v1alpha1.RunnerJob), nil
	case foreign != nil && apierrors.IsForbidden(err): // the right was there when the run began
		return Terminal(v1alpha1.ReasonObjectRefused, "%s", foreign.Forbidden()), nil
	}
	return Outcome{}, err
}
