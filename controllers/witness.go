package controllers

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/controllers/diagnose"
	"replab.dev/internal/kube"
)

// witnessPatience is how long a witness may take to restart.
const witnessPatience = 90 * time.Second

// waitForWitness bears a witness that restarts, for a while.
func waitForWitness(run *Run, err error) (Outcome, error) {
	if waited(run, v1alpha1.AwaitedWitness) > witnessPatience {
		return Terminal(v1alpha1.ReasonWitnessFailed, "the witness has not answered for %s: %v", witnessPatience, err), nil
	}
	return Wait(time.Second, "WitnessSilent", "the witness does not answer"), nil
}

// witnessFailed ends the run of a witness that says it can no longer vouch for its figures.
func witnessFailed(ctx context.Context, run *Run, why string) (Outcome, error) {
	pod, err := witnessPod(ctx, run)
	if err != nil {
		return Outcome{}, err
	}
	words := "its pod is gone"
	if pod != nil {
		words = diagnose.LastLines(ctx, run.Cluster, pod)
	}
	return Terminal(v1alpha1.ReasonWitnessFailed, "the witness failed: %s; %s", why, words), nil
}

// witnessLost finds out whether a witness that does not answer will come back. No fault hits an instrument, so whatever is
// wrong with it is trouble.
func witnessLost(ctx context.Context, run *Run) (Outcome, error) {
	pod, err := witnessPod(ctx, run)
	if err != nil || pod == nil {
		return Outcome{}, err
	}
	s, err := troubleScene(ctx, run)
	if err != nil {
		return Outcome{}, err
	}
	if out, err := diagnose.Pod(ctx, s, pod, true); err != nil || out.Terminal {
		return out, err
	}
	if d := diagnose.UnreadyFor(s.Now, pod); d > witnessPatience {
		return Terminal(v1alpha1.ReasonWitnessFailed, "the witness has not been ready for %s; %s", witnessPatience, diagnose.LastLines(ctx, run.Cluster, pod)), nil
	}
	return Outcome{}, nil
}

func witnessPod(ctx context.Context, run *Run) (*corev1.Pod, error) {
	pods, err := run.Snapshot.Pods(ctx)
	for i := range pods {
		if pods[i].Labels[kube.LabelComponent] == kube.ComponentWitness {
			return &pods[i], err
		}
	}
	return nil, err
}
