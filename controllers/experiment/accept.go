package experiment

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
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
	for _, check := range []func(context.Context, *Run) (Outcome, error){memoryShort, nodesServed, loadServed, suspended, references, tryPlan, turn, predecessor} {
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
	return Wait(0, v1alpha1.ReasonStarting, "the spec is fixed from here on"), nil // written down before anything is made
}

func suspended(_ context.Context, run *Run) (Outcome, error) {
	if run.Spec.Suspend {
		return Wait(time.Minute, v1alpha1.ReasonSuspended, "spec.suspend is true: set it to false to start"), nil
	}
	return Done(), nil
}

// turn waits while other experiments are under way that would disturb this one's figures.
func turn(ctx context.Context, run *Run) (Outcome, error) {
	ahead, err := run.Others(ctx, true)
	if err != nil || len(ahead) == 0 {
		return Done(), err
	}
	return inLine(run, ahead), nil
}

const (
	turnEvery = 2 * time.Second  // looks at the turn, for each experiment that is ahead
	turnMost  = 30 * time.Second // between two looks
)

// inLine waits. Experiments of other namespaces are counted and not named: not everybody may see them.
func inLine(run *Run, ahead []types.NamespacedName) Outcome {
	var names []string
	for _, a := range ahead {
		if a.Namespace == run.Namespace && len(names) < mostNamed {
			names = append(names, a.Name)
		}
	}
	slices.Sort(names)
	others := len(ahead) - len(names)
	what := "experiments " + strings.Join(names, ", ")
	switch {
	case len(names) == 0:
		what = fmt.Sprintf("%d experiments of other namespaces", others)
	case others > 0:
		what += fmt.Sprintf(" and %d more", others)
	}
	return Wait(min(time.Duration(len(ahead))*turnEvery, turnMost), v1alpha1.ReasonQueued,
		"waiting for %s: on one machine experiments run one at a time", what)
}

// mostNamed are the experiments that a message names.
const mostNamed = 5

// queued notes that the run waits for its turn, and when to look again.
func queued(run *Run, ahead []types.NamespacedName) time.Duration {
	if len(ahead) == 0 {
		return 0
	}
	out := inLine(run, ahead)
	markPending(run, v1alpha1.ConditionAccepted, out)
	return out.After
}

// InLine tells whether an experiment waits for nothing but its turn, or was not looked at yet.
func InLine(x *v1alpha1.ReplicationExperiment) bool {
	c := meta.FindStatusCondition(x.Status.Conditions, v1alpha1.ConditionAccepted)
	return c == nil || slices.Contains([]string{v1alpha1.ReasonQueued, v1alpha1.ReasonPredecessor}, c.Reason)
}

// predecessor waits until nothing is left of a deleted experiment of the same name, whose volumes the nodes would take over.
func predecessor(ctx context.Context, run *Run) (Outcome, error) {
	// This one has made nothing yet: what there is was made for the other one, and is removed if it goes with nothing.
	left, err := leftovers.Remove(ctx, run.Cluster, client.ObjectKeyFromObject(run.ReplicationExperiment))
	switch {
	case err != nil:
		return refused(run, err)
	case left == 0:
		return Done(), nil
	case waited(run, v1alpha1.AwaitedPredecessor) > removePatience:
		return Terminal(v1alpha1.ReasonObjectRefused, "%d pods and volume claims with the label %s=%s are in the way: remove them", left, kube.LabelExperiment, run.Name), nil
	}
	return Wait(time.Second, v1alpha1.ReasonPredecessor, "waiting until the objects of an earlier experiment of this name are gone"), nil
}
