package experiment

import (
	"context"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/plan"
	"replab.dev/internal/topology"
	"replab.dev/internal/topology/registry"
)

// nodesServed refuses nodes that another operator makes where there is none, before anything is made.
func nodesServed(ctx context.Context, run *Run) (Outcome, error) {
	foreign := registry.Foreign(run.Spec.Topology)
	if foreign == nil {
		return Done(), nil
	}
	if _, err := run.Snapshot.Object(ctx, foreign.Object(plan.Params(run.Input))); err != nil {
		return withoutNodes(run, err)
	}
	return Done(), nil
}

// withoutNodes is withoutOperator where another operator makes the nodes.
func withoutNodes(run *Run, err error) (Outcome, error) {
	if foreign := registry.Foreign(run.Spec.Topology); foreign != nil {
		return withoutOperator(run, foreign.ForeignKind(), "provider "+v1alpha1.ProviderStatefulSet, err)
	}
	return Outcome{}, err
}

// nodesHopeless ends a run whose nodes another operator does not make, or makes so that nothing is known of them.
func nodesHopeless(ctx context.Context, run *Run, since time.Duration) (Outcome, error) {
	foreign := registry.Foreign(run.Spec.Topology)
	if foreign == nil {
		return Done(), nil
	}
	params := plan.Params(run.Input)
	planned := foreign.Object(params)
	found := topology.Found{Applied: since}
	object, err := run.Snapshot.Object(ctx, planned)
	if err != nil {
		return withoutNodes(run, err)
	}
	if u, ok := object.(*unstructured.Unstructured); ok {
		found.Object = u
		event, err := run.Cluster.LastEvent(ctx, u)
		if err != nil {
			return Outcome{}, err
		}
		if event != nil {
			found.LastEvent = event.Message
		}
	}
	set := &appsv1.StatefulSet{}
	set.Namespace, set.Name = planned.GetNamespace(), planned.GetName()
	if object, err = run.Snapshot.Object(ctx, set); err != nil {
		return Outcome{}, err
	}
	if made, ok := object.(*appsv1.StatefulSet); ok {
		found.Set = made
	}
	if why := foreign.Hopeless(params, found); why != "" {
		return Terminal(v1alpha1.ReasonObjectRefused, "%s", why), nil
	}
	return Done(), nil
}

// nodesStay says of nodes that another operator makes why they could not be removed. That ends no run, and holds none up.
func nodesStay(run *Run) {
	kind := registry.Foreign(run.Spec.Topology).ForeignKind()
	markPending(run, v1alpha1.ConditionCleanedUp, Wait(0, v1alpha1.ReasonRemaining, "the nodes and their %s remain: %s. Then change spec.ttlSecondsAfterFinished, or delete the experiment",
		kind.Kind, kind.Forbidden))
}
