package experiment

import (
	"context"
	"time"

	"replab.dev/api/v1alpha1"
)

// seedCatchUpTimeout is for replicas of large datasets: they apply what the primary has loaded long before.
const seedCatchUpTimeout = 30 * time.Minute

// seed loads the users and waits until every replica has them too. Then the nodes are put at their distance.
func seed(ctx context.Context, run *Run) (Outcome, error) {
	state, job, err := jobOf(ctx, run, run.Plan.Seed)
	if err != nil {
		return Outcome{}, err
	}
	switch state {
	case jobAbsent:
		if err := run.Cluster.Apply(ctx, run.ReplicationExperiment, run.Plan.Seed); err != nil {
			return refused(run, err)
		}
		return Wait(time.Second, v1alpha1.ReasonLoading, "loading %d users", run.Spec.Dataset.Users), nil
	case jobFailed:
		return Terminal(v1alpha1.ReasonSeedFailed, "Job %s failed: %s", job.Name, lastWords(ctx, run, job)), nil
	case jobRunning:
		if out, err := diagnosePods(ctx, run, true); err != nil || out.Terminal {
			return out, err
		}
		return Wait(time.Second, v1alpha1.ReasonLoading, "loading %d users", run.Spec.Dataset.Users), nil
	}
	topo, err := run.Snapshot.State(ctx)
	if err != nil {
		return Outcome{}, err
	}
	if settled, why := topo.Settled(nil); !settled {
		if waited(run, v1alpha1.AwaitedReplicas) > seedCatchUpTimeout {
			return Terminal(v1alpha1.ReasonTimeout, "the users are loaded, but %s after that: %s", seedCatchUpTimeout, why), nil
		}
		return Wait(time.Second, v1alpha1.ReasonCatchingUp, "the users are loaded; waiting until every replica has them"), nil
	}
	return beginDistance(ctx, run)
}
