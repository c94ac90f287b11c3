package controllers

import (
	"context"
	"time"

	"replab.dev/api/v1alpha1"
)

// complete is the end of every run, whatever came of it: what is not to be kept is removed, then the run is Complete.
func complete(ctx context.Context, run *Run) (time.Duration, error) {
	if !isTrue(run.Status.Conditions, v1alpha1.ConditionCleanedUp) {
		if keeps(run) {
			set(run, v1alpha1.ConditionCleanedUp, "True", "Kept", "spec.keep: the deployed objects stay until the experiment is deleted")
		} else {
			left, err := run.Cluster.Remove(ctx, run.ReplicationExperiment)
			if err != nil {
				return 0, err
			}
			if left > 0 {
				markPending(run, v1alpha1.ConditionCleanedUp, Wait(0, "Removing", "removing the deployed objects"))
				return 500 * time.Millisecond, nil
			}
			markTrue(run, v1alpha1.ConditionCleanedUp)
		}
	}
	markComplete(run)
	return 0, nil
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
