package controllers

import (
	"context"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/load/k6"
	"replab.dev/internal/wire"
)

// loadStartTimeout is how long k6 pods may take to get ready, and then as long again to the first request.
const loadStartTimeout = 2 * time.Minute

// startLoad writes down that it is about to start the load, then starts it: a load cannot be repeated, since its
// writes stay. All k6 pods begin together. It is done with the first request that the witness sees.
func startLoad(ctx context.Context, run *Run) (Outcome, error) {
	if run.Status.Progress == nil {
		if err := noteScript(ctx, run); err != nil {
			return Outcome{}, err
		}
		reach(run, v1alpha1.MilestoneLoadIntended)
		return Wait(0, "Intended", "about to start k6"), nil
	}
	witness, err := run.Snapshot.Witness(ctx)
	if err != nil {
		return waitForWitness(run, err)
	}
	if witness.Failed != "" {
		return witnessFailed(ctx, run, witness.Failed)
	}
	for _, planned := range run.Plan.Load {
		if out, err := startJob(ctx, run, planned, witness); err != nil || out.Terminal {
			return out, err
		}
	}
	if begun, _ := reached(run, v1alpha1.MilestoneLoadBegun); !begun {
		return resume(ctx, run, witness.LoadStartedAt)
	}
	if witness.LoadStartedAt == nil {
		return awaitStart(ctx, run, v1alpha1.AwaitedFirstRequest, "no request reached the witness")
	}
	run.Status.LoadStartTime = witness.LoadStartedAt
	return Done(), nil
}

// awaitStart waits for what is expected of k6, unless something will not go away by itself.
func awaitStart(ctx context.Context, run *Run, what v1alpha1.Awaited, missing string) (Outcome, error) {
	if waited(run, what) > loadStartTimeout {
		return Terminal(v1alpha1.ReasonTimeout, "%s within %s", missing, loadStartTimeout), nil
	}
	if out, err := findTrouble(ctx, run, true); err != nil || out.Terminal {
		return out, err
	}
	return Wait(200*time.Millisecond, "Starting", "k6 is starting"), nil
}

// startJob makes a k6 Job that does not exist, unless the load has begun: then it was taken away.
func startJob(ctx context.Context, run *Run, planned *batchv1.Job, witness wire.WitnessState) (Outcome, error) {
	state, job, err := jobOf(ctx, run, planned)
	switch {
	case err != nil:
		return Outcome{}, err
	case state == jobFailed:
		return Terminal(v1alpha1.ReasonLoadFailed, "Job %s failed: %s", job.Name, lastWords(ctx, run, job)), nil
	case state == jobAbsent && witness.LoadStartedAt != nil:
		return Terminal(v1alpha1.ReasonLoadFailed, "the load has begun, but Job %s does not exist: it was deleted", planned.Name), nil
	case state == jobAbsent:
		if err := run.Cluster.Create(ctx, run.ReplicationExperiment, planned); err != nil {
			return refused(err)
		}
	}
	return Outcome{}, nil
}

// watchLoad ends the run when a k6 Job failed or vanished, or the witness can no longer vouch for its figures.
// It tells whether all Jobs are complete.
func watchLoad(ctx context.Context, run *Run) (complete bool, out Outcome, err error) {
	complete = true
	for _, planned := range run.Plan.Load {
		state, job, err := jobOf(ctx, run, planned)
		switch {
		case err != nil:
			return false, Outcome{}, err
		case state == jobAbsent:
			return false, Terminal(v1alpha1.ReasonLoadFailed, "Job %s was deleted while its load ran", planned.Name), nil
		case state == jobFailed:
			return false, Terminal(v1alpha1.ReasonLoadFailed, "Job %s failed: %s", job.Name, lastWords(ctx, run, job)), nil
		case state == jobRunning:
			complete = false
		}
	}
	switch witness, err := run.Snapshot.Witness(ctx); {
	case err != nil:
		out, err = witnessLost(ctx, run)
		return complete, out, err
	case witness.Failed != "":
		out, err = witnessFailed(ctx, run, witness.Failed)
		return complete, out, err
	}
	return complete, Outcome{}, nil
}

// finishLoad waits for the end of the k6 Jobs, whose deadline is in the plan.
func finishLoad(ctx context.Context, run *Run) (Outcome, error) {
	complete, out, err := watchLoad(ctx, run)
	if err != nil || out.Terminal {
		return out, err
	}
	if !complete {
		return Wait(time.Second, "Running", "k6 is running"), nil
	}
	return Done(), nil
}

// k6Summary merges what the k6 pods left in their termination messages.
// missing says why there is none.
func k6Summary(ctx context.Context, run *Run) (merged *wire.K6Summary, missing string, err error) {
	var all []wire.K6Summary
	for _, planned := range run.Plan.Load {
		pods, err := podsOf(ctx, run, planned)
		if err != nil {
			return nil, "", err
		}
		for _, p := range pods {
			for _, c := range p.Status.ContainerStatuses {
				if c.State.Terminated == nil {
					continue
				}
				s, err := k6.ParseSummary([]byte(c.State.Terminated.Message))
				if err != nil {
					return nil, fmt.Sprintf("summary of k6 pod %s: %v", p.Name, err), nil
				}
				all = append(all, s)
			}
		}
	}
	if len(all) != len(run.Plan.Load) {
		return nil, fmt.Sprintf("%d of %d k6 pods left a summary", len(all), len(run.Plan.Load)), nil
	}
	sum := k6.Merge(all)
	return &sum, "", nil
}
