package experiment

import (
	"context"
	"errors"
	"time"

	"replab.dev/api/v1alpha1"
	"replab.dev/controllers/step"
	"replab.dev/internal/kube"
	"replab.dev/internal/plan"
	"replab.dev/internal/topology"
)

const (
	// removePatience is how long objects may take to go: a pod on a lost node never does.
	removePatience = 3 * time.Minute
	// haltPatience is how long the recorder of a run that ended early may take to end its probes.
	haltPatience = 20 * time.Second
)

// removal deletes objects of an experiment.
type removal interface {
	// Remove deletes what was deployed for the experiment, other than its results, and tells how many objects are still there. It fails with
	// topology.ErrForbidden where nodes that another operator makes have to stay.
	Remove(ctx context.Context, x *v1alpha1.ReplicationExperiment) (int, error)
	// RemoveLoad deletes what has k6 run for the experiment, with its pods.
	RemoveLoad(ctx context.Context, x *v1alpha1.ReplicationExperiment) error
}

// complete is the end of every run, whatever came of it: what is not to be kept is removed, then the run is Complete.
func complete(ctx context.Context, run *Run) (time.Duration, error) {
	look(run)
	for _, part := range []func(context.Context, *Run) (Outcome, error){halt, salvage, remove} {
		out, err := part(ctx, run)
		if err != nil {
			return 0, err
		}
		if !out.Done {
			markPending(run, v1alpha1.ConditionCleanedUp, out)
			return out.After, nil
		}
	}
	run.Status.Progress = nil
	markComplete(run)
	return 0, nil
}

// halt ends the load and the probes of a run that ended before its time: kept or not, it must not disturb the next one.
func halt(ctx context.Context, run *Run) (Outcome, error) {
	if reachedAny(run, v1alpha1.MilestoneHalted, v1alpha1.MilestoneSalvaged) || isTrue(run.Status.Conditions, v1alpha1.ConditionJudged) {
		return Done(), nil
	}
	failed := run.Cluster.RemoveLoad(ctx, run.ReplicationExperiment)
	if failed != nil && step.RefusalOf(failed) == step.NotRefused {
		return Outcome{}, failed
	}
	recorder, err := recorderPod(ctx, run)
	if err != nil {
		return Outcome{}, err
	}
	if recorder != nil {
		token, err := run.Snapshot.Token(ctx)
		if err != nil && !errors.Is(err, errNoSecret) {
			return Outcome{}, err
		}
		if err == nil {
			err = errors.Join(clearDistance(ctx, run), run.Processes.FinishRecorder(ctx, token, plan.RecorderURL(run.Input)))
		}
		failed = errors.Join(failed, err)
	}
	if failed != nil && waited(run, v1alpha1.AwaitedRecorder) < haltPatience {
		return Wait(time.Second, v1alpha1.ReasonHalting, "ending the load and the probes"), nil
	}
	reach(run, v1alpha1.MilestoneHalted)
	return Done(), nil
}

// remove removes what is not to be kept, as far as it goes.
func remove(ctx context.Context, run *Run) (Outcome, error) {
	if keeps(run) {
		set(run, v1alpha1.ConditionCleanedUp, "True", v1alpha1.ReasonKept, "pods and volumes stay until the experiment is deleted or spec.keep no longer keeps them")
		return Done(), nil
	}
	left, err := run.Cluster.Remove(ctx, run.ReplicationExperiment)
	switch {
	case errors.Is(err, topology.ErrForbidden):
		nodesStay(run)
	case step.RefusalOf(err) != step.NotRefused && waited(run, v1alpha1.AwaitedRemoval) < removePatience:
		return Wait(time.Second, v1alpha1.ReasonRemoving, "the API server refuses to remove the objects; trying again: %v", err), nil
	case step.RefusalOf(err) != step.NotRefused:
		markPending(run, v1alpha1.ConditionCleanedUp, Wait(0, v1alpha1.ReasonRemaining, "the deployed objects could not be removed within %s: %v", removePatience, err))
	case err != nil:
		return Outcome{}, err
	case left == 0:
		markTrue(run, v1alpha1.ConditionCleanedUp)
	case waited(run, v1alpha1.AwaitedRemoval) < removePatience:
		return Wait(500*time.Millisecond, v1alpha1.ReasonRemoving, "removing the deployed objects"), nil
	default:
		markPending(run, v1alpha1.ConditionCleanedUp, Wait(0, v1alpha1.ReasonRemaining, "%d pods and volume claims could not be removed within %s. List them by the label %s=%s",
			left, removePatience, kube.LabelExperiment, run.Name))
	}
	return Done(), nil
}

// keeps tells whether what was deployed stays. Of a run that never started there is nothing but its Lease.
func keeps(run *Run) bool {
	switch {
	case run.Status.StartTime == nil, run.Spec.Keep == v1alpha1.KeepNever:
		return false
	case run.Spec.Keep == v1alpha1.KeepAlways:
		return true
	}
	return run.Status.Verdict != v1alpha1.VerdictPassed
}
