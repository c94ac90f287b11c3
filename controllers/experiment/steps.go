package experiment

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/plan"
)

// Step is one milestone of a run. Run looks at what exists, acts so that acting again does no harm, and says done, wait or
// terminal. An error is for what may go away by itself: the step is tried again with a growing delay, and nothing that it wrote into
// the status stays. So a step that has acted, and learnt by it what cannot be learnt again, says wait instead.
type Step struct {
	Condition string
	Run       func(context.Context, *Run) (Outcome, error)
}

// steps of an experiment in their order. A step whose condition is True is never run again.
var steps = []Step{
	{v1alpha1.ConditionAccepted, accept},
	{v1alpha1.ConditionDeployed, deploy},
	{v1alpha1.ConditionSeeded, seed},
	{v1alpha1.ConditionLoadStarted, startLoad},
	{v1alpha1.ConditionFaultsInjected, injectFaults},
	{v1alpha1.ConditionLoadFinished, finishLoad},
	{v1alpha1.ConditionSettled, settle},
	{v1alpha1.ConditionAudited, audit},
	{v1alpha1.ConditionJudged, judge},
}

// Run is one experiment at one moment: its status is changed in memory by the steps and written by the reconciler, once.
type Run struct {
	*v1alpha1.ReplicationExperiment
	Input     plan.Input
	Plan      plan.Plan
	Cluster   Cluster
	Processes Processes
	Now       func() time.Time
	// Version of this operator.
	Version string
	// Others are the experiments that must end before this one begins: see Reconciler.Turns.
	Others func(ctx context.Context, begin bool) ([]types.NamespacedName, error)
	// Snapshot is what this pass sees of the world.
	Snapshot *Snapshot
	// waiting is what the step waited for when it last looked.
	waiting v1alpha1.ProgressStatus
}

// advance runs the steps until one is not done. It returns when to come back; 0 means at once, after the status was written.
func advance(ctx context.Context, run *Run, steps []Step) (time.Duration, error) {
	for _, s := range steps {
		if isTrue(run.Status.Conditions, s.Condition) {
			continue
		}
		before := run.Status.DeepCopy()
		look(run)
		out, err := s.Run(ctx, run)
		switch {
		case err != nil:
			run.Status = *before // half of a decision is none: the next pass takes the whole of it
			return 0, fmt.Errorf("%s: %w", s.Condition, err)
		case out.Terminal:
			endEarly(run, s.Condition, out)
			return 0, nil
		case !out.Done:
			markPending(run, s.Condition, out)
			return out.After, nil
		}
		markTrue(run, s.Condition)
	}
	return 0, nil // the verdict is written down before what it was judged by is removed
}
