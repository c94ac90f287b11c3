package experiment

import (
	"context"
	"errors"

	"replab.dev/api/v1alpha1"
	"replab.dev/controllers/experiment/diagnose"
	"replab.dev/controllers/lease"
)

// endPatience is how long a run that has to end may go on because of its Lease. Whoever holds that ends the run within seconds, if it can.
const endPatience = 2 * lease.Expiry

// mayAct is done when this operator may carry the run on: it holds the run's Lease. It is terminal when the run has to end without the Lease,
// either because the API server refuses it, or because nobody has ended a run that is aborted or beyond its deadline.
func (r *Reconciler) mayAct(ctx context.Context, x *v1alpha1.ReplicationExperiment) (Outcome, error) {
	if r.refuses(x) {
		return Done(), nil // nothing is made for it, no Lease either
	}
	why, overdue := r.overdue(x)
	holder := lease.Holder{Objects: r.Cluster, Identity: r.Identity, Now: r.Now}
	state, err := holder.Hold(ctx, x, overdue)
	refused := errors.Is(err, lease.ErrNotWritten) && refusalOf(err) != notRefused
	if !refused {
		r.leaseless.End(x.UID)
	}
	switch {
	case err != nil && x.Status.Verdict != "":
		return Done(), nil // only removing is left: two operators that do so come to the same end
	case overdue && err != nil:
		return Terminal(why.Reason, "%s; its Lease %s could not be had for %s: %v", why.Message, lease.Name(x.Name), endPatience, err), nil
	case state == lease.TakenOver:
		return Terminal(why.Reason, "%s; another operator held its Lease %s and had not ended it after %s", why.Message, lease.Name(x.Name), endPatience), nil
	case refused && (x.Status.StartTime == nil && refusalOf(err) == refusedEver || r.leaseless.Lasts(x.UID, r.Now()) >= diagnose.RefusedAfter):
		return Terminal(v1alpha1.ReasonObjectRefused, "the API server refuses the run's Lease: %v", err), nil
	case err != nil:
		return Outcome{}, err
	case state == lease.OfAnother: // which must have renewed the Lease by then
		return Wait(lease.Renew, "Held", "another operator carries the experiment out"), nil
	}
	return Done(), nil
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
