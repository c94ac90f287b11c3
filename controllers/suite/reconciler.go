// Package suite carries ReplicationSuites out, one trial at a time. Package internal/suite decides which trial is next and what can be concluded.
//
// A suite needs no Lease. Two operators that watch it come to the same trials: names are deterministic, each run is written into the status under
// an optimistic lock before its experiment is created, and every other act can be repeated.
package suite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/api/v1alpha1/validation"
	"replab.dev/controllers/step"
	"replab.dev/internal/suite"
)

// Reconciler carries suites out.
type Reconciler struct {
	// Client reads suites and writes their statuses.
	Client interface {
		client.Reader
		client.StatusClient
	}
	// Experiments is the cache of experiments.
	Experiments client.Reader
	Cluster     Cluster
	// Writer creates and patches experiments.
	Writer  Writer
	Servers validation.Servers
	Events  events.EventRecorder
	Now     func() time.Time
}

// Cluster reads and deletes objects as the API server has them now.
type Cluster interface {
	// Get reads an object and tells whether it exists.
	Get(ctx context.Context, obj client.Object) (bool, error)
	// Delete deletes an object that has this UID.
	Delete(ctx context.Context, obj client.Object) error
}

// Writer creates and patches objects.
type Writer interface {
	Create(ctx context.Context, obj client.Object, opts ...client.CreateOption) error
	Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error
}

// again is when a pass follows one that has written the status.
const again = time.Millisecond

// Reconcile takes one step and writes the status once.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	s := &v1alpha1.ReplicationSuite{}
	if err := r.Client.Get(ctx, req.NamespacedName, s); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !s.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil // the trials go by garbage collection
	}
	before := s.DeepCopy()
	if s.Ended() {
		return r.afterwards(ctx, s)
	}
	s.Renew() // no trial was begun of one that begins anew
	out, err := r.carryOn(ctx, s)
	if err != nil {
		return ctrl.Result{}, err // half of a decision is none
	}
	r.mark(s, out)
	changed, err := r.writeStatus(ctx, before, s)
	switch {
	case apierrors.IsConflict(err):
		return ctrl.Result{RequeueAfter: 50 * time.Millisecond}, nil // what was seen is old: look again
	case err != nil:
		return ctrl.Result{}, client.IgnoreNotFound(err)
	case out.After == 0 && (changed || out.Done):
		return ctrl.Result{RequeueAfter: again}, nil
	}
	return ctrl.Result{RequeueAfter: out.After}, nil
}

// carryOn takes the next step. Done goes on after the status was written; Terminal ends the suite before its time.
func (r *Reconciler) carryOn(ctx context.Context, s *v1alpha1.ReplicationSuite) (step.Outcome, error) {
	s.Status.ObservedGeneration = s.Generation
	if s.Status.StartTime == nil {
		return r.accept(ctx, s)
	}
	if run := suite.Current(&s.Status); run != nil {
		return r.follow(ctx, s, run)
	}
	return r.proceed(ctx, s)
}

// writeStatus is the only writer of the status. The optimistic lock refuses a decision that was taken on an old one.
func (r *Reconciler) writeStatus(ctx context.Context, before, s *v1alpha1.ReplicationSuite) (changed bool, err error) {
	if equality.Semantic.DeepEqual(before.Status, s.Status) {
		return false, nil
	}
	if err := r.Client.Status().Patch(ctx, s, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return false, fmt.Errorf("write the status: %w", err)
	}
	r.announce(before, s)
	return true, nil
}

// blocked are the reasons of a suite that waits for a person.
var blocked = []string{v1alpha1.ReasonNameTaken, v1alpha1.ReasonSpecChanged, v1alpha1.ReasonObjectRefused, v1alpha1.ReasonUndecodable}

// announce turns what has changed into events, after it was written.
func (r *Reconciler) announce(before, s *v1alpha1.ReplicationSuite) {
	for i, run := range s.Status.Runs {
		was := v1alpha1.TrialRun{}
		if i < len(before.Status.Runs) {
			was = before.Status.Runs[i]
		}
		if run.UID != was.UID {
			r.Events.Eventf(s, nil, corev1.EventTypeNormal, "TrialStarted", "StartTrial", "%s", run.Name)
		}
		if run.Verdict != was.Verdict {
			r.Events.Eventf(s, nil, corev1.EventTypeNormal, "TrialEnded", "EndTrial", "%s: %s", run.Name, run.Verdict)
		}
	}
	c := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionComplete)
	was := meta.FindStatusCondition(before.Status.Conditions, v1alpha1.ConditionComplete)
	switch {
	case c == nil || was != nil && was.Reason == c.Reason:
	case over(s):
		kind := corev1.EventTypeNormal
		if s.Status.Verdict != v1alpha1.VerdictPassed {
			kind = corev1.EventTypeWarning
		}
		r.Events.Eventf(s, nil, kind, c.Reason, "Conclude", "%s", step.Truncate(c.Message, mostOfEvent))
	case slices.Contains(blocked, c.Reason):
		r.Events.Eventf(s, nil, corev1.EventTypeWarning, c.Reason, "Wait", "%s", step.Truncate(c.Message, mostOfEvent))
	}
}

// edited obeys a change of keepTrials after the end, and notes any other. It returns when to look again, 0 when all is as it should be.
func (r *Reconciler) edited(ctx context.Context, s *v1alpha1.ReplicationSuite) (time.Duration, error) {
	before := s.DeepCopy()
	ended, fresh, err := r.ended(ctx, s)
	var lost *lostError
	if !errors.As(err, &lost) && (err != nil || !fresh) {
		return cacheLag, err
	}
	changed, err := specChanged(s)
	if err != nil {
		return 0, err
	}
	if changed && !slices.Contains(s.Status.Notes, changedAfterwards) {
		s.Status.Notes = step.AtMost(append(s.Status.Notes, changedAfterwards), more)
	}
	if stays, err := r.thin(ctx, s, ended); err != nil || stays != "" {
		return tidyEvery, err
	}
	s.Status.ObservedGeneration = s.Generation
	_, err = r.writeStatus(ctx, before, s)
	return 0, err
}

const changedAfterwards = "The spec was changed after the start. The figures belong to the earlier spec."

// afterwards looks after a suite that is complete: keepTrials may have been changed since, and its time to live may be over.
func (r *Reconciler) afterwards(ctx context.Context, s *v1alpha1.ReplicationSuite) (ctrl.Result, error) {
	if s.Generation != s.Status.ObservedGeneration {
		if after, err := r.edited(ctx, s); err != nil || after > 0 {
			return ctrl.Result{RequeueAfter: after}, err
		}
	}
	ttl, end := s.Spec.TTLSecondsAfterFinished, s.Status.CompletionTime
	if ttl == nil || end == nil {
		return ctrl.Result{}, nil
	}
	if left := end.Add(time.Duration(*ttl) * time.Second).Sub(r.Now()); left > 0 {
		return ctrl.Result{RequeueAfter: left}, nil
	}
	if err := r.Cluster.Delete(ctx, s); err != nil {
		return ctrl.Result{}, fmt.Errorf("delete suite %s, whose ttlSecondsAfterFinished is over: %w", s.Name, err)
	}
	return ctrl.Result{}, nil
}
