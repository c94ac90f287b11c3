package controllers

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"

	"replab.dev/api/v1alpha1"
)

const (
	// sweepFor is how long after an experiment was deleted a claim of it may still be made, by a StatefulSet that is about to go.
	sweepFor   = 30 * time.Second
	sweepEvery = 2 * time.Second
	// sweepAtMost is how long its last pods and claims are followed: one that hangs on a lost machine is for an administrator.
	sweepAtMost = 10 * time.Minute
)

// sweeps are the experiments that are gone, and since when.
type sweeps struct {
	mu    sync.Mutex
	since map[types.NamespacedName]time.Time
}

func (s *sweeps) age(key types.NamespacedName, now time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.since == nil {
		s.since = map[types.NamespacedName]time.Time{}
	}
	began, ok := s.since[key]
	if !ok {
		began = now
		s.since[key] = now
	}
	return now.Sub(began)
}

func (s *sweeps) end(key types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.since, key)
}

// sweep follows what the garbage collector removes of an experiment that was deleted. A claim that a StatefulSet made in its last
// moment has no owner yet by which the collector could find it: it would stay for ever.
func (r *Reconciler) sweep(ctx context.Context, key types.NamespacedName) (ctrl.Result, error) {
	x := &v1alpha1.ReplicationExperiment{}
	x.Namespace, x.Name = key.Namespace, key.Name
	left, err := r.Cluster.RemoveOrphans(ctx, x)
	if err != nil {
		return ctrl.Result{}, err
	}
	if age := r.sweeps.age(key, r.Now()); age > sweepAtMost || left == 0 && age >= sweepFor {
		r.sweeps.end(key)
		return ctrl.Result{}, nil
	}
	return ctrl.Result{RequeueAfter: sweepEvery}, nil
}
