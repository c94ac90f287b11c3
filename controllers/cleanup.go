package controllers

import (
	"context"
	"time"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/kube"
	"replab.dev/internal/plan"
)

// removePatience is how long objects may take to go: a pod on a lost node never does.
const removePatience = 3 * time.Minute

// complete is the end of every run, whatever came of it: what is not to be kept is removed, then the run is Complete.
func complete(ctx context.Context, run *Run) (time.Duration, error) {
	if !isTrue(run.Status.Conditions, v1alpha1.ConditionCleanedUp) {
		if err := halt(ctx, run); err != nil {
			return 0, err
		}
		if keeps(run) {
			set(run, v1alpha1.ConditionCleanedUp, "True", "Kept", "spec.keep: the deployed objects stay until the experiment is deleted")
		} else {
			left, err := run.Cluster.Remove(ctx, run.ReplicationExperiment)
			if err != nil {
				return 0, err
			}
			if left > 0 && since(run, v1alpha1.ConditionCleanedUp) < removePatience {
				markPending(run, v1alpha1.ConditionCleanedUp, Wait(0, "Removing", "removing the deployed objects"))
				return 500 * time.Millisecond, nil
			}
			if left > 0 {
				markPending(run, v1alpha1.ConditionCleanedUp, Wait(0, "Remaining", "%d pods and volume claims could not be removed within %s: look at them by the label %s=%s",
					left, removePatience, kube.LabelExperiment, run.Name))
			} else {
				markTrue(run, v1alpha1.ConditionCleanedUp)
			}
		}
	}
	markComplete(run)
	return 0, nil
}

// halt ends the load of a run that ended before its time: kept or not, it must not disturb the next one.
func halt(ctx context.Context, run *Run) error {
	if isTrue(run.Status.Conditions, v1alpha1.ConditionJudged) || pendingReason(run, v1alpha1.ConditionCleanedUp) != "" {
		return nil
	}
	if err := run.Cluster.RemoveLoad(ctx, run.ReplicationExperiment); err != nil {
		return err
	}
	if secret, err := token(ctx, run); err == nil {
		// The probes end with it. A witness that does not answer has none.
		_ = run.Processes.FinishWitness(ctx, secret, plan.WitnessURL(run.Input))
	}
	return nil
}

func keeps(run *Run) bool {
	switch run.Spec.Keep {
	case v1alpha1.KeepAlways:
		return true
	case v1alpha1.KeepNever:
		return false
	default:
		return run.Status.Verdict != v1alpha1.VerdictPassed
	}
}
