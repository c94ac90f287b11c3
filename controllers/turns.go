package controllers

import (
	"context"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/controllers/experiment"
	"replab.dev/internal/cluster"
	"replab.dev/internal/wire"
)

const (
	// grantLasts is how long an experiment whose turn has come is ahead of all others: until the cache has its start.
	grantLasts = 10 * time.Second
	// machinesLast is how long the answer is kept whether there are several machines.
	machinesLast = 10 * time.Second
)

// turns lets experiments wait for one another.
type turns struct {
	experiments client.Reader
	direct      client.Reader
	policy      string
	now         func() time.Time

	mu        sync.Mutex
	granted   types.UID // whose turn has come
	grantedAt time.Time
	several   bool // machines
	askedAt   time.Time
}

// ahead are the experiments that must end before x may begin: those under way, and those that wait and are older. With begin, and where there are
// none, the turn of x has come.
func (t *turns) ahead(ctx context.Context, x *v1alpha1.ReplicationExperiment, begin bool) ([]types.NamespacedName, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var list v1alpha1.ReplicationExperimentList
	if err := t.experiments.List(ctx, &list); err != nil {
		return nil, err
	}
	var found []types.NamespacedName
	for i := range list.Items {
		if other := &list.Items[i]; t.goesFirst(other, x) {
			found = append(found, client.ObjectKeyFromObject(other))
		}
	}
	if len(found) > 0 {
		if wait, err := t.oneAtATime(ctx); err != nil || wait {
			return found, err
		}
	}
	if begin {
		t.granted, t.grantedAt = x.UID, t.now()
	}
	return nil, nil
}

func (t *turns) oneAtATime(ctx context.Context) (bool, error) {
	switch t.policy {
	case wire.OneAtATimeAlways:
		return true, nil
	case wire.OneAtATimeNever:
		return false, nil
	}
	if t.now().Sub(t.askedAt) < machinesLast {
		return !t.several, nil
	}
	several, err := cluster.SeveralMachines(ctx, t.direct)
	if err != nil && !apierrors.IsForbidden(err) {
		return false, err
	}
	t.several, t.askedAt = several, t.now() // an operator of some namespaces alone may not ask: there may be one machine only
	return !several, nil
}

func (t *turns) goesFirst(other, x *v1alpha1.ReplicationExperiment) bool {
	switch {
	case other.UID == x.UID, !other.DeletionTimestamp.IsZero(), meta.IsStatusConditionTrue(other.Status.Conditions, v1alpha1.ConditionComplete):
		return false
	case other.Status.StartTime != nil:
		return true
	case other.UID == t.granted && t.now().Sub(t.grantedAt) < grantLasts:
		return true
	case other.Spec.Suspend, !experiment.InLine(other):
		return false
	case other.CreationTimestamp.Equal(&x.CreationTimestamp):
		return other.Namespace+"/"+other.Name < x.Namespace+"/"+x.Name
	default:
		return other.CreationTimestamp.Before(&x.CreationTimestamp)
	}
}
