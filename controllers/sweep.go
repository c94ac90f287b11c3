package controllers

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"replab.dev/api/v1alpha1"
)

const (
	// sweepFor is how long after an experiment was deleted a claim or a pod of it may still be made, by a StatefulSet that is about to go.
	sweepFor   = 30 * time.Second
	sweepEvery = 2 * time.Second
	// sweepAtMost is how long what is left of it is followed: one that hangs on a lost machine is for an administrator.
	sweepAtMost = 10 * time.Minute
)

// sweeps are the experiments that have begun, as they were last seen, and since when those that are gone have been.
type sweeps struct {
	mu    sync.Mutex
	begun map[types.NamespacedName]*v1alpha1.ReplicationExperiment
	since map[types.NamespacedName]time.Time
}

// there notes an experiment that exists. One that has not begun has made nothing: what there is of its name was another one's.
func (s *sweeps) there(x *v1alpha1.ReplicationExperiment) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := client.ObjectKeyFromObject(x)
	delete(s.since, key)
	if known := s.begun[key]; x.Status.StartTime == nil || known != nil && known.UID == x.UID {
		return
	}
	if s.begun == nil {
		s.begun = map[types.NamespacedName]*v1alpha1.ReplicationExperiment{}
	}
	noted := nameOf(key)
	noted.UID, noted.CreationTimestamp, noted.Status.StartTime = x.UID, x.CreationTimestamp, x.Status.StartTime.DeepCopy()
	x.Spec.Topology.DeepCopyInto(&noted.Spec.Topology)
	s.begun[key] = noted
}

// before is the experiment that had another one's name and has begun, nil where none is known of.
func (s *sweeps) before(x *v1alpha1.ReplicationExperiment) *v1alpha1.ReplicationExperiment {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.begun[client.ObjectKeyFromObject(x)]; known != nil && known.UID != x.UID {
		return known
	}
	return nil
}

// gone is an experiment that does not exist, as far as it is known, and for how long it has not.
func (s *sweeps) gone(key types.NamespacedName, now time.Time) (*v1alpha1.ReplicationExperiment, time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.since == nil {
		s.since = map[types.NamespacedName]time.Time{}
	}
	since, ok := s.since[key]
	if !ok {
		since = now
		s.since[key] = now
	}
	x := s.begun[key]
	if x == nil {
		x = nameOf(key)
	}
	return x, now.Sub(since)
}

func (s *sweeps) end(key types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.since, key)
	delete(s.begun, key)
}

func nameOf(key types.NamespacedName) *v1alpha1.ReplicationExperiment {
	x := &v1alpha1.ReplicationExperiment{}
	x.Namespace, x.Name = key.Namespace, key.Name
	return x
}

// sweep follows what the garbage collector removes of an experiment that was deleted, and removes what it cannot find. A claim that a StatefulSet
// made in its last moment has no owner yet, nor have pods that another operator took theirs from, and what these make anew while they end: all of
// it would stay for ever.
func (r *Reconciler) sweep(ctx context.Context, key types.NamespacedName) (ctrl.Result, error) {
	x, age := r.sweeps.gone(key, r.Now())
	left, err := r.Cluster.RemoveOrphans(ctx, x)
	switch {
	case age > sweepAtMost:
		r.sweeps.end(key)
		if err != nil {
			err = reconcile.TerminalError(err) // told, and not tried again
		}
		return ctrl.Result{}, err
	case err != nil:
		return ctrl.Result{}, err
	case left == 0 && age >= sweepFor:
		r.sweeps.end(key)
		return ctrl.Result{}, nil
	}
	return ctrl.Result{RequeueAfter: sweepEvery}, nil
}
