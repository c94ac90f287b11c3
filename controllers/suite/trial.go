package suite

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/controllers/step"
	"replab.dev/internal/decode"
	"replab.dev/internal/suite"
)

// followEvery is the time between two looks at a trial, beside those that its changes cause.
const followEvery = 30 * time.Second

// follow carries the run under way on. It is in the status already, so an operator that is killed here finds it again by its name.
func (r *Reconciler) follow(ctx context.Context, s *v1alpha1.ReplicationSuite, run *v1alpha1.TrialRun) (step.Outcome, error) {
	x := &v1alpha1.ReplicationExperiment{}
	x.Namespace, x.Name = s.Namespace, run.Name
	found, err := r.Cluster.Get(ctx, x)
	var undecodable *decode.Error
	switch {
	case errors.As(err, &undecodable):
		return r.unread(ctx, s, run)
	case err != nil:
		return step.Outcome{}, fmt.Errorf("read experiment %s: %w", run.Name, err)
	case !found || !isOf(run, x, s):
		return r.without(ctx, s, run, found)
	case run.UID == "":
		return adopt(run, x)
	case meta.IsStatusConditionTrue(x.Status.Conditions, v1alpha1.ConditionComplete):
		return r.conclude(run, x)
	case s.Spec.Abort && !x.Spec.Abort:
		if err := r.patch(ctx, x, `"abort":true`); err != nil {
			return step.Outcome{}, err
		}
	}
	if x.Spec.Suspend && x.Status.StartTime == nil {
		return step.Wait(followEvery, v1alpha1.ReasonSuspended, "Trial %s is suspended. Set its spec.suspend to false.", run.Name), nil
	}
	return step.Wait(followEvery, v1alpha1.ReasonRunning, "Trial %s runs.", run.Name), nil
}

// unread decides about a trial that cannot be decoded. Nobody carries such an experiment on; the cache has what is known of it.
func (r *Reconciler) unread(ctx context.Context, s *v1alpha1.ReplicationSuite, run *v1alpha1.TrialRun) (step.Outcome, error) {
	if s.Spec.Abort {
		return r.end(run, v1alpha1.VerdictInconclusive, v1alpha1.ReasonAborted+": its experiment cannot be decoded"), nil
	}
	bad, err := r.undecodable(ctx, s, run)
	switch {
	case err != nil || bad == nil: // the cache lags behind
		return step.Wait(cacheLag, v1alpha1.ReasonRunning, "Trial %s is being read.", run.Name), err
	case !metav1.IsControlledBy(bad, s):
		return taken(run.Name), nil
	case meta.IsStatusConditionTrue(bad.Conditions, v1alpha1.ConditionComplete):
		r.end(run, v1alpha1.VerdictInconclusive, "its experiment cannot be decoded")
		return (&lostError{run.Name, bad.Why}).ends(), nil
	}
	return step.Wait(followEvery, v1alpha1.ReasonUndecodable, "Trial %s cannot be decoded: %s. Delete it: the suite repeats it while retries are left.", run.Name, bad.Why), nil
}

// isOf tells whether an experiment is a run's. One that was replaced by its own YAML has the owner, and another UID.
func isOf(run *v1alpha1.TrialRun, x *v1alpha1.ReplicationExperiment, s *v1alpha1.ReplicationSuite) bool {
	return metav1.IsControlledBy(x, s) && (run.UID == "" || x.UID == run.UID)
}

// adopt writes down which experiment is the run's, and what it measures. An operator that was killed after the creation finds the experiment later. The
// API server counts changes of a spec: from the second generation on it may not be the one that was created.
func adopt(run *v1alpha1.TrialRun, x *v1alpha1.ReplicationExperiment) (step.Outcome, error) {
	hash, err := suite.HashTrial(&x.Spec)
	if err != nil {
		return step.Outcome{}, err
	}
	if run.UID = x.UID; x.Generation <= 1 {
		run.SpecHash = hash
	}
	return running("Trial %s runs.", run.Name), nil
}

// conclude writes down what came of a run that is complete.
func (r *Reconciler) conclude(run *v1alpha1.TrialRun, x *v1alpha1.ReplicationExperiment) (step.Outcome, error) {
	edited, err := suite.Edited(run, x)
	if err != nil {
		return step.Outcome{}, err
	}
	verdict, reason := x.Status.Verdict, first(x.Status.Reasons)
	if edited && verdict != v1alpha1.VerdictInvalid {
		verdict, reason = v1alpha1.VerdictInconclusive, "its spec was changed before its start"
		run.SpecHash = "" // an upgrade may add fields to the spec, so its hash does not tell this later
	}
	if x.Spec.Abort && verdict == v1alpha1.VerdictInconclusive {
		reason = v1alpha1.ReasonAborted + ": " + reason
	}
	run.StartTime = x.Status.StartTime
	out := r.end(run, verdict, reason)
	if x.Status.CompletionTime != nil {
		run.CompletionTime = x.Status.CompletionTime
	}
	return out, nil
}

// without carries a run on whose experiment is not there, with another one in its place where the name is taken.
func (r *Reconciler) without(ctx context.Context, s *v1alpha1.ReplicationSuite, run *v1alpha1.TrialRun, nameTaken bool) (step.Outcome, error) {
	switch {
	case run.UID != "":
		return r.end(run, v1alpha1.VerdictInconclusive, "it was deleted before its end"), nil
	case s.Spec.Abort:
		return r.end(run, v1alpha1.VerdictInconclusive, v1alpha1.ReasonAborted+": spec.abort ended the suite before it began"), nil
	case nameTaken:
		return taken(run.Name), nil
	}
	return r.create(ctx, s, run)
}

// end writes down what came of a run.
func (r *Reconciler) end(run *v1alpha1.TrialRun, verdict v1alpha1.Verdict, reason string) step.Outcome {
	now := metav1.NewTime(r.Now())
	run.Verdict, run.CompletionTime = verdict, &now
	if verdict != v1alpha1.VerdictPassed {
		run.Reason = step.Truncate(reason, mostOfRunReason)
	}
	return running("Trial %s ended: %s.", run.Name, verdict)
}

// mostOfRunReason keeps the status of a suite with a thousand runs small.
const mostOfRunReason = 200

func first(reasons []string) string {
	if len(reasons) == 0 {
		return ""
	}
	return reasons[0]
}

// create the experiment of a run, of the spec that was accepted.
func (r *Reconciler) create(ctx context.Context, s *v1alpha1.ReplicationSuite, run *v1alpha1.TrialRun) (step.Outcome, error) {
	if changed, err := specChanged(s); err != nil || changed {
		return waitForSpec(), err
	}
	object, err := suite.Experiment(s, *run)
	if err != nil {
		return step.Outcome{}, err
	}
	err = r.Writer.Create(ctx, object, client.FieldValidation(metav1.FieldValidationStrict))
	switch {
	case apierrors.IsAlreadyExists(err): // whose it is the next look says
		return running("Trial %s runs.", run.Name), nil
	case step.RefusalOf(err) == step.RefusedEver:
		return step.Terminal(v1alpha1.ReasonObjectRefused, "the API server refuses trial %s: %v", run.Name, err), nil
	case step.RefusalOf(err) == step.RefusedNow:
		return refusedNow(err), nil
	case err != nil:
		return step.Outcome{}, fmt.Errorf("create experiment %s: %w", run.Name, err)
	}
	created := &v1alpha1.ReplicationExperiment{} // as the API server answered, before anybody can edit it
	if err := decode.Experiment(object, created); err != nil {
		return running("Trial %s runs.", run.Name), nil // the next look says what it lacks
	}
	return adopt(run, created)
}

// patch a field of the spec of the experiment that has this UID.
func (r *Reconciler) patch(ctx context.Context, x *v1alpha1.ReplicationExperiment, fields string) error {
	text := fmt.Sprintf(`{"metadata":{"uid":%q},"spec":{%s}}`, x.UID, fields)
	target := &v1alpha1.ReplicationExperiment{ObjectMeta: metav1.ObjectMeta{Namespace: x.Namespace, Name: x.Name}}
	err := r.Writer.Patch(ctx, target, client.RawPatch(types.MergePatchType, []byte(text)))
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil // it is gone: the next look says so
	}
	if err != nil {
		return fmt.Errorf("patch experiment %s: %w", x.Name, err)
	}
	return nil
}
