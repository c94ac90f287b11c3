package controllers

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/cluster"
	"replab.dev/internal/wire"
)

// turns lets experiments wait for one another.
type turns struct {
	experiments client.Reader
	direct      client.Reader
	policy      string
}

// ahead counts the experiments that must end before x may begin: those under way, and those that wait and are older.
func (t *turns) ahead(ctx context.Context, x *v1alpha1.ReplicationExperiment) (int, error) {
	if wait, err := t.oneAtATime(ctx); err != nil || !wait {
		return 0, err
	}
	var list v1alpha1.ReplicationExperimentList
	if err := t.experiments.List(ctx, &list); err != nil {
		return 0, err
	}
	n := 0
	for i := range list.Items {
		if goesFirst(&list.Items[i], x) {
			n++
		}
	}
	return n, nil
}

func (t *turns) oneAtATime(ctx context.Context) (bool, error) {
	switch t.policy {
	case wire.OneAtATimeAlways:
		return true, nil
	case wire.OneAtATimeNever:
		return false, nil
	}
	several, err := cluster.SeveralMachines(ctx, t.direct)
	if apierrors.IsForbidden(err) {
		return true, nil // an operator of some namespaces alone: there may be one machine only
	}
	return !several, err
}

func goesFirst(other, x *v1alpha1.ReplicationExperiment) bool {
	switch {
	case other.UID == x.UID, !other.DeletionTimestamp.IsZero(), meta.IsStatusConditionTrue(other.Status.Conditions, v1alpha1.ConditionComplete):
		return false
	case other.Status.StartTime != nil:
		return true
	case other.Spec.Suspend:
		return false
	case other.CreationTimestamp.Equal(&x.CreationTimestamp):
		return other.Namespace+"/"+other.Name < x.Namespace+"/"+x.Name
	default:
		return other.CreationTimestamp.Before(&x.CreationTimestamp)
	}
}
