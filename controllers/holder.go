package controllers

import (
	"context"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/kube"
	"replab.dev/internal/plan"
)

const (
	// holdRenew is how old a run's Lease may get before its operator renews it, holdExpiry when another operator may take the run
	// over: far longer than one pass takes, and than clocks of two machines differ.
	holdRenew  = 10 * time.Second
	holdExpiry = time.Minute
)

// held is what an operator may do with a run by the run's Lease.
type held int

const (
	heldByOther held = iota
	heldByMe
	toBeRenewed // by me: mine and old, or another's and expired
)

// holding decides by a Lease that exists.
func holding(lease *coordinationv1.Lease, me string, now time.Time) held {
	age := holdExpiry + 1
	if t := lease.Spec.RenewTime; t != nil {
		age = now.Sub(t.Time)
	}
	mine := ptr.Deref(lease.Spec.HolderIdentity, "") == me
	switch {
	case mine && age < holdRenew:
		return heldByMe
	case mine, age > holdExpiry:
		return toBeRenewed
	}
	return heldByOther
}

// hold is done when the run is this operator's. Two operators that watch one namespace never share a run: it belongs to the one
// that came first, until that one has been gone for holdExpiry. It is terminal when the run cannot have a Lease.
func (r *Reconciler) hold(ctx context.Context, x *v1alpha1.ReplicationExperiment) (Outcome, error) {
	lease := &coordinationv1.Lease{}
	lease.Namespace, lease.Name = x.Namespace, leaseName(x.Name)
	found, err := r.Cluster.Get(ctx, lease)
	switch owned := found && metav1.IsControlledBy(lease, x); {
	case err != nil:
		return Outcome{}, err
	case !owned && x.Status.Verdict != "":
		return Done(), nil // it was removed with all else, or the run ended for want of it
	case !owned:
		return r.beginHold(ctx, x)
	}
	switch holding(lease, r.Identity, r.Now()) {
	case heldByMe:
		return Done(), nil
	case heldByOther:
		return ofAnother(), nil
	}
	lease.Spec.HolderIdentity, lease.Spec.RenewTime = &r.Identity, ptr.To(metav1.NewMicroTime(r.Now()))
	if err := r.Cluster.Update(ctx, lease); apierrors.IsConflict(err) {
		return ofAnother(), nil // who was faster
	} else if err != nil {
		return Outcome{}, fmt.Errorf("renew Lease %s: %w", lease.Name, err)
	}
	return Done(), nil
}

// beginHold makes the Lease, and looks who has it: of two operators that make it at once one is later. A Lease of somebody else,
// such as the lock of another program's leader, is never touched.
func (r *Reconciler) beginHold(ctx context.Context, x *v1alpha1.ReplicationExperiment) (Outcome, error) {
	meta := kube.Meta(x.Namespace, leaseName(x.Name), kube.ComponentOperator, plan.Labels(x.Name))
	lease := &coordinationv1.Lease{ObjectMeta: meta, Spec: coordinationv1.LeaseSpec{
		HolderIdentity: &r.Identity, LeaseDurationSeconds: ptr.To(int32(holdExpiry / time.Second)), RenewTime: ptr.To(metav1.NewMicroTime(r.Now())),
	}}
	if err := r.Cluster.Create(ctx, x, lease); err != nil && x.Status.StartTime == nil {
		return refused(err)
	} else if err != nil {
		return Outcome{}, err
	}
	if _, err := r.Cluster.Get(ctx, lease); err != nil {
		return Outcome{}, err
	}
	if holding(lease, r.Identity, r.Now()) != heldByMe {
		return ofAnother(), nil
	}
	return Done(), nil
}

// ofAnother has this operator look again when the other one must have renewed the Lease.
func ofAnother() Outcome {
	return Wait(holdRenew, "Held", "another operator carries the experiment out")
}

// leaseName is no other program's: operators call the lock of their leader <something>-operator.
func leaseName(experiment string) string { return experiment + "-run-holder" }
