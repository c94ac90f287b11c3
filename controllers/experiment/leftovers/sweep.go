package leftovers

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"replab.dev/api/v1alpha1"
	"replab.dev/controllers/experiment/lasting"
)

const (
	// sweepFor is how long after an experiment was deleted a claim or a pod of it may still be made, by a StatefulSet that is about to go.
	sweepFor   = 30 * time.Second
	sweepEvery = 2 * time.Second
	// sweepAtMost is how long what is left of it is followed: one that hangs on a lost machine is for an administrator.
	sweepAtMost = 10 * time.Minute
)

// Orphans removes objects that go with no experiment.
type Orphans interface {
	// RemoveOrphans deletes the pods and claims of an experiment that have no owner with which they would go, and what the pods of another
	// operator made anew while they ended. It tells how many of all these are still there. Of an experiment that is gone the name is enough.
	RemoveOrphans(ctx context.Context, x *v1alpha1.ReplicationExperiment) (int, error)
}

// Remove deletes what a deleted experiment of this name has left behind, and tells how many objects are still there.
func Remove(ctx context.Context, objects Orphans, key types.NamespacedName) (int, error) {
	x := &v1alpha1.ReplicationExperiment{}
	x.Namespace, x.Name = key.Namespace, key.Name
	return objects.RemoveOrphans(ctx, x)
}

// Sweeper follows deleted experiments until nothing of them is left.
type Sweeper struct {
	gone lasting.Since[types.NamespacedName]
}

// Exists ends the sweep of an experiment: another one of its name is there.
func (s *Sweeper) Exists(key types.NamespacedName) { s.gone.End(key) }

// Sweep follows what the garbage collector removes of an experiment that was deleted, and removes what it cannot find. A claim that a StatefulSet
// made in its last moment has no owner yet, nor have pods that another operator took theirs from, and what these make anew while they end: all of
// it would stay for ever.
func (s *Sweeper) Sweep(ctx context.Context, objects Orphans, key types.NamespacedName, now time.Time) (ctrl.Result, error) {
	age := s.gone.Lasts(key, now)
	left, err := Remove(ctx, objects, key)
	switch {
	case age > sweepAtMost:
		s.gone.End(key)
		if err != nil {
			err = reconcile.TerminalError(err) // told, and not tried again
		}
		return ctrl.Result{}, err
	case err != nil:
		return ctrl.Result{}, err
	case left == 0 && age >= sweepFor:
		s.gone.End(key)
		return ctrl.Result{}, nil
	}
	return ctrl.Result{RequeueAfter: sweepEvery}, nil
}
