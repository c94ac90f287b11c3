package experiment

import (
	"cmp"
	"context"
	"errors"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/controllers/experiment/diagnose"
	"replab.dev/controllers/lease"
	"replab.dev/controllers/step"
)

// endPatience is how long a run that has to end may go on because of its Lease. Whoever holds that ends the run within seconds, if it can.
const endPatience = 2 * lease.Expiry

// mayAct is done when this operator may carry the run on: it holds the run's Lease. It is terminal when the run has to end without the Lease,
// either because the API server refuses it, or because nobody has ended a run that is aborted or beyond its deadline.
func (r *Reconciler) mayAct(ctx context.Context, x *v1alpha1.ReplicationExperiment) (Outcome, error) {
	if x.Status.StartTime == nil && x.Status.Verdict == "" {
		if out := wrongSpec(x, r.Servers); out.Terminal {
			return out, nil // nothing is made for it, no Lease either
		}
	}
	why, overdue := r.overdue(x)
	holder := lease.Holder{Objects: r.Cluster, Identity: r.Identity, Now: r.Now}
	state, err := holder.Hold(ctx, x, overdue)
	refused := errors.Is(err, lease.ErrNotWritten) && step.RefusalOf(err) != step.NotRefused
	if !refused {
		r.leaseless.End(x.UID)
	}
	switch {
	case err != nil && x.Status.Verdict != "":
		return Done(), nil // only removing is left: two operators that do so come to the same end
	case overdue && err != nil:
		return Terminal(why.Reason, "%s; its Lease %s could not be taken for %s: %v", why.Message, lease.Name(x.Name), endPatience, err), nil
	case state == lease.TakenOver:
		return Terminal(why.Reason, "%s; another operator held its Lease %s and had not ended it after %s", why.Message, lease.Name(x.Name), endPatience), nil
	case err != nil:
		return r.withoutLease(x, err, refused)
	case state == lease.OfAnother: // which must have renewed the Lease by then
		return Wait(lease.Renew, v1alpha1.ReasonHeld, "operator %s holds Lease %s and runs the experiment. If that operator is gone, delete the Lease", r.holder(ctx, x), lease.Name(x.Name)), nil
	}
	return Done(), nil
}

// withoutLease says what becomes of a run whose Lease could not be had. A refusal ends a run, at once where it has not started and never
// can, or after a while; anything else is tried again.
func (r *Reconciler) withoutLease(x *v1alpha1.ReplicationExperiment, err error, refused bool) (Outcome, error) {
	waits := x.Status.StartTime == nil
	switch {
	case refused && (waits && step.RefusalOf(err) == step.RefusedEver || r.leaseless.Lasts(x.UID, r.Now()) >= diagnose.RefusedAfter):
		return Terminal(v1alpha1.ReasonObjectRefused, "the API server refuses the run's Lease: give the operator the right to Leases, or free the quota: %v", err), nil
	case waits && step.RefusalOf(err) != step.NotRefused:
		return Wait(lease.Renew, v1alpha1.ReasonHeld, "the API server refuses to read its Lease %s: %v", lease.Name(x.Name), err), nil
	}
	return Outcome{}, err
}

// holder of the Lease of an experiment that has not started, as far as it can be read.
func (r *Reconciler) holder(ctx context.Context, x *v1alpha1.ReplicationExperiment) string {
	l := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: x.Namespace, Name: lease.Name(x.Name)}}
	if x.Status.StartTime == nil {
		_, _ = r.Cluster.Get(ctx, l) // without it the name is unknown
	}
	return cmp.Or(step.Truncate(ptr.Deref(l.Spec.HolderIdentity, ""), 200), "(unknown)")
}

// overdue tells whether the run should have ended for endPatience, and why.
func (r *Reconciler) overdue(x *v1alpha1.ReplicationExperiment) (Outcome, bool) {
	why, now := toEndNow(&Run{ReplicationExperiment: x, Now: r.Now})
	if !now || x.Status.Verdict != "" {
		r.unended.End(x.UID)
		return Outcome{}, false
	}
	return why, r.unended.Lasts(x.UID, r.Now()) >= endPatience
}
