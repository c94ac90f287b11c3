package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/results"
	"replab.dev/internal/topology"
	"replab.dev/internal/verdict"
	"replab.dev/internal/verdict/finding"
)

// toEndNow tells whether somebody wants the run to end before its time, or its deadline has passed.
func toEndNow(run *Run) (Outcome, bool) {
	started := run.Status.StartTime
	switch limit := run.Spec.DeadlineSeconds; {
	case run.Spec.Abort:
		return Terminal(v1alpha1.ReasonAborted, "spec.abort ended the run"), true
	case limit != nil && started != nil && run.Now().Sub(started.Time) >= time.Duration(*limit)*time.Second:
		return Terminal(v1alpha1.ReasonDeadlineExceeded, "the run exceeded spec.deadlineSeconds, %d s: raise it", *limit), true
	}
	return Outcome{}, false
}

// endIfAsked ends a run before its time where somebody wants it, or where its pods are no longer what was planned.
func endIfAsked(ctx context.Context, run *Run) error {
	if over(run) {
		return nil
	}
	out, now := toEndNow(run)
	if !now {
		var err error
		if out, err = alteredPods(ctx, run); err != nil {
			return err
		}
	}
	if out.Terminal {
		endEarly(run, underWay(run), out)
	}
	return nil
}

// underWay is the condition of the step that the run is at.
func underWay(run *Run) string {
	for _, s := range steps {
		if !isTrue(run.Status.Conditions, s.Condition) {
			return s.Condition
		}
	}
	return v1alpha1.ConditionCleanedUp
}

// salvage states what was measured of a load that was ended before its time, and keeps it as the results of any other run. It is no
// evidence of anything: the writes were not audited, and no goal is judged.
func salvage(ctx context.Context, run *Run) (Outcome, error) {
	conditions := run.Status.Conditions
	if isTrue(conditions, v1alpha1.ConditionJudged) || !isTrue(conditions, v1alpha1.ConditionLoadStarted) || reachedAny(run, v1alpha1.MilestoneSalvaged) {
		return Done(), nil
	}
	done, err := useEvidence(ctx)
	if err != nil {
		return Outcome{}, err
	}
	defer done()
	evidence, err := collect(ctx, run)
	if err != nil {
		return Outcome{}, err
	}
	before := run.Status.DeepCopy()
	verdict.Salvage(evidence, &run.Status)
	document, err := results.Document(run.ReplicationExperiment, evidence)
	if unfit := cmp.Or(fits(run.Status), err); unfit != nil {
		run.Status = *before
		run.Status.Notes = append(run.Status.Notes, finding.Of(finding.ResultsNotKept, unfit).String())
		reach(run, v1alpha1.MilestoneSalvaged)
		return Done(), nil
	}
	err = run.Cluster.Apply(ctx, run.ReplicationExperiment, document)
	switch out, other := refusedDocument(run, before, err); {
	case err == nil:
		run.Status.Results = document.Name
	case out.Terminal:
		run.Status.Notes = append(run.Status.Notes, finding.Of(finding.ResultsNotKept, err).String())
	default:
		return out, other
	}
	reach(run, v1alpha1.MilestoneSalvaged)
	return Done(), nil
}

// deleter deletes an object if it still has its UID.
type deleter interface {
	Delete(ctx context.Context, obj client.Object) error
}

// afterwards looks after a run that is Complete: keep may have been changed since, and its time to live may be over.
func (r *Reconciler) afterwards(ctx context.Context, x *v1alpha1.ReplicationExperiment) (ctrl.Result, error) {
	if x.Generation != x.Status.ObservedGeneration {
		before := x.DeepCopy()
		after, err := r.tidy(ctx, x)
		if err != nil || after > 0 {
			return ctrl.Result{RequeueAfter: after}, err
		}
		if _, err := r.writeStatus(ctx, before, x); err != nil {
			return ctrl.Result{}, err
		}
	}
	ttl, ended := x.Spec.TTLSecondsAfterFinished, x.Status.CompletionTime
	if ttl == nil || ended == nil {
		return ctrl.Result{}, nil
	}
	if left := ended.Add(time.Duration(*ttl) * time.Second).Sub(r.Now()); left > 0 {
		return ctrl.Result{RequeueAfter: left}, nil
	}
	if err := r.Cluster.Delete(ctx, x); err != nil {
		return ctrl.Result{}, fmt.Errorf("delete experiment %s, whose ttlSecondsAfterFinished is over: %w", x.Name, err)
	}
	return ctrl.Result{}, nil
}

// tidy removes what an edited keep does not let stay any more. It returns when to look again, 0 when all is as it should be.
func (r *Reconciler) tidy(ctx context.Context, x *v1alpha1.ReplicationExperiment) (time.Duration, error) {
	run := &Run{ReplicationExperiment: x, Now: r.Now}
	if !keeps(run) {
		left, err := r.Cluster.Remove(ctx, x)
		switch {
		case errors.Is(err, topology.ErrForbidden):
			nodesStay(run)
		case err != nil && !apierrors.IsNotFound(err):
			return 0, err
		case left > 0:
			return time.Second, nil
		default:
			markTrue(run, v1alpha1.ConditionCleanedUp)
		}
	}
	x.Status.ObservedGeneration = x.Generation
	return 0, nil
}
