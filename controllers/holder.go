package controllers

import (
	"context"
	"errors"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/controllers/diagnose"
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

// endPatience is how long a run that has to end may go on because of its Lease. Whoever holds that ends the run within seconds, if it can.
const endPatience = 2 * holdExpiry

// errLeaseRefused is of a Lease that nobody holds and that this operator may not write.
var errLeaseRefused = errors.New("its Lease cannot be written")

// mayAct is done when this operator may carry the run on: it holds the run's Lease. It is terminal when the run has to end without the Lease,
// either because the API server refuses it, or because nobody has ended a run that is aborted or beyond its deadline.
func (r *Reconciler) mayAct(ctx context.Context, x *v1alpha1.ReplicationExperiment) (Outcome, error) {
	if r.refuses(x) {
		return Done(), nil // nothing is made for it, no Lease either
	}
	why, overdue := r.overdue(x)
	out, tookOver, err := r.hold(ctx, x, overdue)
	if !errors.Is(err, errLeaseRefused) {
		r.leaseless.end(x.UID)
	}
	switch {
	case err != nil && x.Status.Verdict != "":
		return Done(), nil // only removing is left: two operators that do so come to the same end
	case overdue && err != nil:
		return Terminal(why.Reason, "%s; its Lease %s could not be had for %s: %v", why.Message, leaseName(x.Name), endPatience, err), nil
	case tookOver:
		return Terminal(why.Reason, "%s; another operator held its Lease %s and had not ended it after %s", why.Message, leaseName(x.Name), endPatience), nil
	case errors.Is(err, errLeaseRefused) && (x.Status.StartTime == nil && refusalOf(err) == refusedEver || r.leaseless.lasts(x.UID, r.Now()) >= diagnose.RefusedAfter):
		return Terminal(v1alpha1.ReasonObjectRefused, "the API server refuses the run's Lease: %v", err), nil
	}
	return out, err
}

// overdue tells whether the run should have ended for endPatience, and why.
func (r *Reconciler) overdue(x *v1alpha1.ReplicationExperiment) (Outcome, bool) {
	why, now := toEndNow(&Run{ReplicationExperiment: x, Now: r.Now})
	if !now || x.Status.Verdict != "" {
		r.unended.end(x.UID)
		return Outcome{}, false
	}
	return why, r.unended.lasts(x.UID, r.Now()) >= endPatience
}

// hold is done when the run is this operator's. Two operators that watch one namespace never share a run: it belongs to the one that came first,
// until that one has been gone for holdExpiry, or has not ended a run that is overdue. Without a Lease whose holder is gone it is errLeaseRefused.
func (r *Reconciler) hold(ctx context.Context, x *v1alpha1.ReplicationExperiment, overdue bool) (out Outcome, tookOver bool, err error) {
	lease := &coordinationv1.Lease{}
	lease.Namespace, lease.Name = x.Namespace, leaseName(x.Name)
	found, err := r.Cluster.Get(ctx, lease)
	switch owned := found && metav1.IsControlledBy(lease, x); {
	case err != nil:
		return Outcome{}, false, err
	case !owned && x.Status.Verdict != "":
		return Done(), false, nil // it was removed with all else, or the run ended for want of it
	case !owned:
		out, err = r.beginHold(ctx, x)
		return out, false, err
	}
	state := holding(lease, r.Identity, r.Now())
	switch {
	case state == heldByMe:
		return Done(), false, nil
	case state == heldByOther && !overdue:
		return ofAnother(), false, nil
	}
	lease.Spec.HolderIdentity, lease.Spec.RenewTime = &r.Identity, ptr.To(metav1.NewMicroTime(r.Now()))
	if err := r.Cluster.Update(ctx, lease); apierrors.IsConflict(err) {
		return ofAnother(), false, nil // who was faster
	} else if err != nil {
		return Outcome{}, false, leaseError(fmt.Errorf("renew Lease %s: %w", lease.Name, err))
	}
	return Done(), state == heldByOther, nil
}

// beginHold makes the Lease, and looks who has it: of two operators that make it at once one is later. A Lease of somebody else,
// such as the lock of another program's leader, is never touched.
func (r *Reconciler) beginHold(ctx context.Context, x *v1alpha1.ReplicationExperiment) (Outcome, error) {
	meta := kube.Meta(x.Namespace, leaseName(x.Name), kube.ComponentOperator, plan.Labels(x.Name))
	lease := &coordinationv1.Lease{ObjectMeta: meta, Spec: coordinationv1.LeaseSpec{
		HolderIdentity: &r.Identity, LeaseDurationSeconds: ptr.To(int32(holdExpiry / time.Second)), RenewTime: ptr.To(metav1.NewMicroTime(r.Now())),
	}}
	if err := r.Cluster.Create(ctx, x, lease); err != nil {
		return Outcome{}, leaseError(err)
	}
	if _, err := r.Cluster.Get(ctx, lease); err != nil {
		return Outcome{}, err
	}
	if holding(lease, r.Identity, r.Now()) != heldByMe {
		return ofAnother(), nil
	}
	return Done(), nil
}

// leaseError is errLeaseRefused too if the API server refused to write the Lease.
func leaseError(err error) error {
	if refusalOf(err) == notRefused {
		return err
	}
	return fmt.Errorf("%w: %w", errLeaseRefused, err)
}

// ofAnother has this operator look again when the other one must have renewed the Lease.
func ofAnother() Outcome {
	return Wait(holdRenew, "Held", "another operator carries the experiment out")
}

// leaseName is no other program's: operators call the lock of their leader <something>-operator.
func leaseName(experiment string) string { return experiment + "-run-holder" }
