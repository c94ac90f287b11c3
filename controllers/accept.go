package controllers

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// accept lets an experiment begin when it is not suspended and has its turn. From then on the spec is fixed.
func accept(ctx context.Context, run *Run) (Outcome, error) {
	if run.Spec.Suspend {
		return Wait(time.Minute, "Suspended", "spec.suspend is true: set it to false to start"), nil
	}
	others, err := run.Others(ctx)
	if err != nil {
		return Outcome{}, err
	}
	if others > 0 {
		return Wait(2*time.Second, "Queued", "waiting for %d other experiment(s): on a single node two at once would disturb each other's figures", others), nil
	}
	if run.Status.StartTime == nil {
		now := metav1.NewTime(run.Now())
		run.Status.StartTime, run.Status.PlanHash = &now, run.Plan.Hash
	}
	return Done(), nil
}
