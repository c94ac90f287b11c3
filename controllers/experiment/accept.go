package experiment

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/controllers/experiment/leftovers"
	"replab.dev/internal/kube"
)

// accept lets an experiment begin when it is not suspended and has its turn. From then on the spec is fixed.
func accept(ctx context.Context, run *Run) (Outcome, error) {
	if run.Status.StartTime != nil {
		return Done(), nil
	}
	for _, check := range []func(context.Context, *Run) (Outcome, error){refusedSpec, nodesServed, loadServed, suspended, references, tryPlan, turn, predecessor} {
		if out, err := check(ctx, run); err != nil || !out.Done {
			return out, err
		}
	}
	hash, err := run.Plan.Hash()
	if err != nil {
		return Outcome{}, err
	}
	now := metav1.NewTime(run.Now())
	images := run.Input.Images
	run.Status.StartTime, run.Status.PlanHash, run.Status.Images = &now, hash, &images
	return Wait(0, "Starting", "the spec is fixed from here on"), nil // written down before anything is made
}

func suspended(_ context.Context, run *Run) (Outcome, error) {
	if run.Spec.Suspend {
		return Wait(time.Minute, "Suspended", "spec.suspend is true: set it to false to start"), nil
	}
	return Done(), nil
}

// turn waits while other experiments are under way that would disturb this one's figures.
func turn(ctx context.Context, run *Run) (Outcome, error) {
	others, err := run.Others(ctx)
	if err != nil || others == 0 {
		return Done(), err
	}
	return Wait(2*time.Second, "Queued", "waiting for %d other experiment(s): on a single node two at once would disturb each other's figures", others), nil
}

// predecessor waits until nothing is left of a deleted experiment of the same name, whose volumes the nodes would take over.
func predecessor(ctx context.Context, run *Run) (Outcome, error) {
	// This one has made nothing yet: what there is was made for the other one, and is removed if it goes with nothing.
	left, err := leftovers.Remove(ctx, run.Cluster, client.ObjectKeyFromObject(run.ReplicationExperiment))
	switch {
	case err != nil:
		return Outcome{}, err
	case left == 0:
		return Done(), nil
	case waited(run, v1alpha1.AwaitedPredecessor) > removePatience:
		return Terminal(v1alpha1.ReasonObjectRefused, "%d pods and volume claims with the label %s=%s are in the way: remove them", left, kube.LabelExperiment, run.Name), nil
	}
	return Wait(time.Second, "Predecessor", "waiting until the objects of an earlier experiment of this name are gone"), nil
}
