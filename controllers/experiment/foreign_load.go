package experiment

import (
	"context"

	"replab.dev/api/v1alpha1"
	runners "replab.dev/internal/load/registry"
)

// loadServed refuses a load that another operator runs where there is none, before anything is made.
func loadServed(ctx context.Context, run *Run) (Outcome, error) {
	if runners.Foreign(run.Spec.Load.Runner) == nil {
		return Done(), nil
	}
	for _, planned := range run.Plan.Load {
		if _, err := run.Snapshot.Object(ctx, planned); err != nil {
			return withoutLoad(run, err)
		}
	}
	return Done(), nil
}

// withoutLoad is withoutOperator where another operator runs the load.
func withoutLoad(run *Run, err error) (Outcome, error) {
	if foreign := runners.Foreign(run.Spec.Load.Runner); foreign != nil {
		return withoutOperator(run, foreign.ForeignKind(), "runner "+string(v1alpha1.RunnerJob), err)
	}
	return Outcome{}, err
}
