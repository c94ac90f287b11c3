package experiment

import (
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"replab.dev/api/v1alpha1"
	"replab.dev/controllers/experiment/fault"
	"replab.dev/controllers/step"
	"replab.dev/internal/kube"
	"replab.dev/internal/load"
	"replab.dev/internal/load/k6"
	runners "replab.dev/internal/load/registry"
	"replab.dev/internal/wire"
)

// loadStartTimeout is how long k6 pods may take to get ready and be let begin, and then as long again to the first request. It is longer than they
// may take to get ready by what a runner holds ready ones back.
const loadStartTimeout = 150 * time.Second

// startLoad writes down that it is about to start the load, then starts it: a load cannot be repeated, since its
// writes stay. All k6 pods begin together. It is done with the first request that the recorder sees.
func startLoad(ctx context.Context, run *Run) (Outcome, error) {
	if run.Status.Progress == nil {
		if err := noteScript(ctx, run); err != nil {
			return Outcome{}, err
		}
		reach(run, v1alpha1.MilestoneLoadIntended)
		return Wait(0, v1alpha1.ReasonIntended, "about to start k6"), nil
	}
	if err := keepDistance(ctx, run); err != nil {
		return Outcome{}, err
	}
	recorder, err := run.Snapshot.Recorder(ctx)
	if err != nil {
		return waitForRecorder(run, err)
	}
	if recorder.Failed != "" {
		return recorderFailed(ctx, run, recorder.Failed)
	}
	shares, out, err := makeLoad(ctx, run, recorder)
	if err != nil || out.Reason != "" {
		return out, err
	}
	if begun, _ := reached(run, v1alpha1.MilestoneLoadBegun); !begun {
		return resume(ctx, run, shares, recorder.LoadStartedAt)
	}
	if recorder.LoadStartedAt == nil {
		return awaitStart(ctx, run, v1alpha1.AwaitedFirstRequest, "no request reached the recorder")
	}
	run.Status.LoadStartTime = recorder.LoadStartedAt
	return Done(), nil
}

// awaitStart waits for what is expected of k6, unless something will not go away by itself.
func awaitStart(ctx context.Context, run *Run, what v1alpha1.Awaited, missing string) (Outcome, error) {
	if waited(run, what) > loadStartTimeout {
		return Terminal(v1alpha1.ReasonTimeout, "%s within %s", missing, loadStartTimeout), nil
	}
	if out, err := diagnosePods(ctx, run, true); err != nil || out.Terminal {
		return out, err
	}
	return Wait(200*time.Millisecond, v1alpha1.ReasonStarting, "k6 is starting"), nil
}

// lookAtLoad tells how the shares of the load stand, and which of its objects do not exist.
func lookAtLoad(ctx context.Context, run *Run) (shares []load.Share, missing []kube.Object, err error) {
	runner, err := runners.For(run.Spec.Load.Runner)
	if err != nil {
		return nil, nil, err
	}
	seen := load.Seen{Watched: run.Plan.Watched, Found: make([]kube.Object, len(run.Plan.Watched)), Now: run.Now(), Deadline: load.Deadline(run.Spec.Load)}
	for i, watched := range seen.Watched {
		if seen.Found[i], err = run.Snapshot.Object(ctx, watched); err != nil {
			return nil, nil, err
		}
		if seen.Found[i] == nil && slices.Contains(run.Plan.Load, watched) {
			missing = append(missing, watched)
		}
	}
	if seen.Pods, err = run.Snapshot.Pods(ctx); err != nil {
		return nil, nil, err
	}
	return runner.Assess(seen), missing, nil
}

// makeLoad makes what does not exist of the load, unless that has begun: then it was taken away.
func makeLoad(ctx context.Context, run *Run, recorder wire.RecorderState) ([]load.Share, Outcome, error) {
	shares, missing, err := lookAtLoad(ctx, run)
	if err != nil {
		out, err := withoutLoad(run, err)
		return nil, out, err
	}
	for _, s := range shares {
		switch {
		case s.State == load.Failed || s.State == load.Hopeless:
			return nil, shareFailed(ctx, run, s), nil
		case s.State == load.Absent && recorder.LoadStartedAt != nil:
			return nil, Terminal(v1alpha1.ReasonLoadFailed, "the load has begun, but %s does not exist: it was deleted", s.Name), nil
		}
	}
	for _, planned := range missing {
		if err := run.Cluster.Create(ctx, run.ReplicationExperiment, planned); err != nil {
			if meta.IsNoMatchError(err) { // gone since it was looked for
				out, err := withoutLoad(run, err)
				return nil, out, err
			}
			out, err := refused(run, err)
			return nil, out, err
		}
	}
	return shares, Outcome{}, nil
}

func shareFailed(ctx context.Context, run *Run, s load.Share) Outcome {
	if s.State == load.Hopeless {
		return Terminal(v1alpha1.ReasonLoadFailed, "there is no %s: %s", s.Name, s.Why)
	}
	return Terminal(v1alpha1.ReasonLoadFailed, "%s failed: %s", s.Name, podsLastWords(ctx, run, s.Why, s.Pod))
}

// watchLoad ends the run when a share of the load failed or vanished, or the recorder can no longer vouch for its figures.
// It tells whether all shares are complete.
func watchLoad(ctx context.Context, run *Run) (complete bool, out Outcome, err error) {
	if err := keepDistance(ctx, run); err != nil {
		return false, Outcome{}, err
	}
	shares, _, err := lookAtLoad(ctx, run)
	if err != nil {
		out, err := withoutLoad(run, err)
		return false, out, err
	}
	complete = true
	for _, s := range shares {
		switch s.State {
		case load.Absent:
			return false, Terminal(v1alpha1.ReasonLoadFailed, "%s was deleted while its load ran", s.Name), nil
		case load.Failed, load.Hopeless:
			return false, shareFailed(ctx, run, s), nil
		case load.Running:
			complete = false
		}
	}
	switch recorder, err := run.Snapshot.Recorder(ctx); {
	case err != nil:
		out, err = recorderLost(ctx, run)
		return complete, out, err
	case recorder.Failed != "":
		out, err = recorderFailed(ctx, run, recorder.Failed)
		return complete, out, err
	}
	return complete, Outcome{}, nil
}

// finishLoad waits until each k6 has ended; its deadline is in the plan.
func finishLoad(ctx context.Context, run *Run) (Outcome, error) {
	complete, out, err := watchLoad(ctx, run)
	if err != nil || out.Terminal {
		return out, err
	}
	if complete {
		return Done(), nil
	}
	scene, err := sceneOf(ctx, run)
	if err != nil {
		return Outcome{}, err
	}
	return step.Both(Wait(time.Second, v1alpha1.ReasonRunning, "k6 is running"), fault.Keep(ctx, scene)), nil
}

// k6Summary merges what the k6 pods left in their termination messages.
// missing says why there is none.
func k6Summary(ctx context.Context, run *Run) (merged *wire.K6Summary, missing string, err error) {
	shares, _, err := lookAtLoad(ctx, run)
	if err != nil {
		out, err := withoutLoad(run, err)
		return nil, out.Message, err
	}
	var all []wire.K6Summary
	for _, share := range shares {
		if share.Pod == nil {
			continue
		}
		for _, c := range share.Pod.Status.ContainerStatuses {
			if c.State.Terminated == nil {
				continue
			}
			s, err := k6.ParseSummary([]byte(c.State.Terminated.Message))
			if err != nil {
				return nil, fmt.Sprintf("summary of k6 pod %s: %v", share.Pod.Name, err), nil
			}
			all = append(all, s)
		}
	}
	if len(all) != len(shares) {
		return nil, fmt.Sprintf("%d of %d k6 pods left a summary", len(all), len(shares)), nil
	}
	sum := k6.Merge(all)
	return &sum, "", nil
}
