package controllers

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
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

// nameOf is an experiment of which the name alone is known.
func nameOf(key types.NamespacedName) *v1alpha1.ReplicationExperiment {
	x := &v1alpha1.ReplicationExperiment{}
	x.Namespace, x.Name = key.Namespace, key.Name
	return x
}

// sweep follows what the garbage collector removes of an experiment that was deleted, and removes what it cannot find. A claim that a StatefulSet
// made in its last moment has no owner yet, nor have pods that another operator took theirs from, and what these make anew while they end: all of
// it would stay for ever.
func (r *Reconciler) sweep(ctx context.Context, key types.NamespacedName) (ctrl.Result, error) {
	age := r.gone.lasts(key, r.Now())
	left, err := r.Cluster.RemoveOrphans(ctx, nameOf(key))
	switch {
	case age > sweepAtMost:
		r.gone.end(key)
		if err != nil {
			err = reconcile.TerminalError(err) // told, and not tried again
		}
		return ctrl.Result{}, err
	case err != nil:
		return ctrl.Result{}, err
	case left == 0 && age >= sweepFor:
		r.gone.end(key)
		return ctrl.Result{}, nil
	}
	return ctrl.Result{RequeueAfter: sweepEvery}, nil
}
