package controllers

import (
	"context"

	"replab.dev/controllers/trouble"
)

// findTrouble looks for what will not go away by itself. Crashes of servers only count while no fault can have caused them.
func findTrouble(ctx context.Context, run *Run, crashes bool) (Outcome, error) {
	s, err := troubleScene(ctx, run)
	if err != nil {
		return Outcome{}, err
	}
	return trouble.Find(ctx, s, crashes)
}

func troubleScene(ctx context.Context, run *Run) (*trouble.Scene, error) {
	pods, err := run.Snapshot.Pods(ctx)
	if err != nil {
		return nil, err
	}
	claims, err := run.Snapshot.Claims(ctx)
	if err != nil {
		return nil, err
	}
	refusals, err := run.Snapshot.Refusals(ctx)
	if err != nil {
		return nil, err
	}
	return &trouble.Scene{
		Now: run.Now(), Pods: pods, Claims: claims, Refusals: refusals, Controllers: run.Plan.Controllers(), Words: run.Cluster,
	}, nil
}

// neverReady finds a pod that runs and does not get ready.
func neverReady(ctx context.Context, run *Run) (Outcome, error) {
	s, err := troubleScene(ctx, run)
	if err != nil {
		return Outcome{}, err
	}
	return trouble.NeverReady(ctx, s), nil
}
