package experiment

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/controllers/experiment/diagnose"
	"replab.dev/internal/kube"
)

// recorderPatience is how long a recorder may take to restart.
const recorderPatience = 90 * time.Second

// waitForRecorder bears a recorder that restarts, for a while.
func waitForRecorder(run *Run, err error) (Outcome, error) {
	if waited(run, v1alpha1.AwaitedRecorder) > recorderPatience {
		return Terminal(v1alpha1.ReasonRecorderFailed, "the recorder has not answered for %s: %v", recorderPatience, err), nil
	}
	return Wait(time.Second, v1alpha1.ReasonRecorderSilent, "the recorder does not answer"), nil
}

// recorderFailed ends the run of a recorder that says it can no longer vouch for its figures.
func recorderFailed(ctx context.Context, run *Run, why string) (Outcome, error) {
	pod, err := recorderPod(ctx, run)
	if err != nil {
		return Outcome{}, err
	}
	words := "its pod is gone"
	if pod != nil {
		words = diagnose.LastLines(ctx, run.Cluster, pod)
	}
	return Terminal(v1alpha1.ReasonRecorderFailed, "the recorder failed: %s; %s", why, words), nil
}

// recorderLost finds out whether a recorder that does not answer will come back. No fault hits an instrument, so whatever is
// wrong with it ends the run.
func recorderLost(ctx context.Context, run *Run) (Outcome, error) {
	pod, err := recorderPod(ctx, run)
	if err != nil || pod == nil {
		return Outcome{}, err
	}
	s, err := diagnosisScene(ctx, run)
	if err != nil {
		return Outcome{}, err
	}
	if out, err := diagnose.Pod(ctx, s, pod, true); err != nil || out.Terminal {
		return out, err
	}
	if d := diagnose.UnreadyFor(s.Now, pod); d > recorderPatience {
		return Terminal(v1alpha1.ReasonRecorderFailed, "the recorder has not been ready for %s; %s", recorderPatience, diagnose.LastLines(ctx, run.Cluster, pod)), nil
	}
	return Outcome{}, nil
}

func recorderPod(ctx context.Context, run *Run) (*corev1.Pod, error) {
	pods, err := run.Snapshot.Pods(ctx)
	for i := range pods {
		if pods[i].Labels[kube.LabelComponent] == kube.ComponentRecorder {
			return &pods[i], err
		}
	}
	return nil, err
}
