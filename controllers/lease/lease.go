// Package lease shares runs out among operators that watch the same namespaces: a run belongs to the operator that holds its Lease.
package lease

import (
	"context"
	"errors"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/kube"
	"replab.dev/internal/plan"
)

const (
	// Renew is how old a Lease may get before its operator renews it.
	Renew = 10 * time.Second
	// Expiry is how old a Lease is when another operator may take the run over: longer than a pass takes, and than clocks of two machines differ.
	Expiry = time.Minute
)

// ErrNotWritten is of a Lease that nobody holds and that this operator could not write.
var ErrNotWritten = errors.New("its Lease cannot be written")

// Objects are those of an experiment, as the API server has them.
type Objects interface {
	// Get reads an object into obj and tells whether it exists.
	Get(ctx context.Context, obj client.Object) (bool, error)
	// Create makes an object that must never be made twice. An object of that name and owner that exists is fine.
	Create(ctx context.Context, owner *v1alpha1.ReplicationExperiment, obj client.Object) error
	// Update writes an object as it was read and changed: a conflict when somebody else has written it since.
	Update(ctx context.Context, obj client.Object) error
}

// Holder is an operator that may hold Leases.
type Holder struct {
	Objects Objects
	// Identity of the operator among others.
	Identity string
	Now      func() time.Time
}

// State is how a run's Lease stands after Hold.
type State int

// The states of a Lease.
const (
	OfAnother State = iota // another operator carries the run out
	Mine                   // or needed by nobody
	TakenOver              // mine now, though its holder was still there
)

// Hold has the operator hold the run's Lease if it may. The run belongs to the operator that came first, until that one has been gone for Expiry.
// With force the Lease is taken from an operator that is still there. An error is ErrNotWritten where the Lease is nobody's.
func (h Holder) Hold(ctx context.Context, x *v1alpha1.ReplicationExperiment, force bool) (State, error) {
	lease := &coordinationv1.Lease{}
	lease.Namespace, lease.Name = x.Namespace, Name(x.Name)
	found, err := h.Objects.Get(ctx, lease)
	switch owned := found && metav1.IsControlledBy(lease, x); {
	case err != nil:
		return OfAnother, err
	case !owned && x.Status.Verdict != "":
		return Mine, nil // it was removed with all else, or the run ended for want of it
	case !owned:
		return h.begin(ctx, x)
	}
	state := holding(lease, h.Identity, h.Now())
	switch {
	case state == heldByMe:
		return Mine, nil
	case state == heldByOther && !force:
		return OfAnother, nil
	}
	lease.Spec.HolderIdentity, lease.Spec.RenewTime = &h.Identity, ptr.To(metav1.NewMicroTime(h.Now()))
	switch err := h.Objects.Update(ctx, lease); {
	case apierrors.IsConflict(err):
		return OfAnother, nil // who was faster
	case err != nil:
		return OfAnother, fmt.Errorf("%w: renew Lease %s: %w", ErrNotWritten, lease.Name, err)
	case state == heldByOther:
		return TakenOver, nil
	}
	return Mine, nil
}

// begin makes the Lease, and looks who has it: of two operators that make it at once one is later. A Lease of somebody else,
// such as the lock of another program's leader, is never touched.
func (h Holder) begin(ctx context.Context, x *v1alpha1.ReplicationExperiment) (State, error) {
	meta := kube.Meta(x.Namespace, Name(x.Name), kube.ComponentOperator, plan.Labels(x.Name))
	lease := &coordinationv1.Lease{ObjectMeta: meta, Spec: coordinationv1.LeaseSpec{
		HolderIdentity: &h.Identity, LeaseDurationSeconds: ptr.To(int32(Expiry / time.Second)), RenewTime: ptr.To(metav1.NewMicroTime(h.Now())),
	}}
	if err := h.Objects.Create(ctx, x, lease); err != nil {
		return OfAnother, fmt.Errorf("%w: %w", ErrNotWritten, err)
	}
	if _, err := h.Objects.Get(ctx, lease); err != nil {
		return OfAnother, err
	}
	if holding(lease, h.Identity, h.Now()) != heldByMe {
		return OfAnother, nil
	}
	return Mine, nil
}

// held is who has a Lease.
type held int

const (
	heldByOther held = iota
	heldByMe
	toBeRenewed // by me: mine and old, or another's and expired
)

// holding decides by a Lease that exists.
func holding(lease *coordinationv1.Lease, me string, now time.Time) held {
	age := Expiry + 1
	if t := lease.Spec.RenewTime; t != nil {
		age = now.Sub(t.Time)
	}
	mine := ptr.Deref(lease.Spec.HolderIdentity, "") == me
	switch {
	case mine && age < Renew && age > -Expiry:
		return heldByMe
	case mine, age > Expiry, age < -Expiry: // no clock is so far ahead: it was made up
		return toBeRenewed
	}
	return heldByOther
}

// Name is no other program's: operators call the lock of their leader <something>-operator.
func Name(experiment string) string { return experiment + "-run-holder" }
