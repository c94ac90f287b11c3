package suite

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/controllers/cached"
	"replab.dev/controllers/step"
	"replab.dev/internal/suite"
)

const (
	// cacheLag is when to look again at a cache that lags.
	cacheLag = 200 * time.Millisecond
	// tidyEvery is the time between two looks at a trial whose databases are being removed.
	tidyEvery = time.Second
	// tidyPatience is how long databases may take to go: a pod on a lost machine never does.
	tidyPatience = 10 * time.Minute
)

// proceed is between two trials: it lets databases go, sums up, and writes the next run down or concludes.
func (r *Reconciler) proceed(ctx context.Context, s *v1alpha1.ReplicationSuite) (step.Outcome, error) {
	changed, err := specChanged(s)
	if err != nil || changed && !s.Spec.Abort {
		return waitForSpec(), err
	}
	ended, fresh, err := r.ended(ctx, s)
	var lost *lostError
	if !errors.As(err, &lost) && (err != nil || !fresh) {
		return step.Wait(cacheLag, v1alpha1.ReasonRunning, "The results of the last trial are being read."), err
	}
	stays, err := r.thin(ctx, s, ended)
	if err != nil || !s.Spec.Abort && r.tidying(s, stays) {
		return step.Wait(tidyEvery, v1alpha1.ReasonTidying, "The databases of trial %s are being removed.", stays), err
	}
	switch {
	case s.Spec.Abort && (changed || lost != nil): // the figures are of the spec before, or of all trials
		return aborted(s), nil
	case lost != nil:
		return lost.ends(), nil
	}
	return sumUp(s, ended, stays), nil
}

// sumUp the trials that ended, and decide how the suite goes on.
func sumUp(s *v1alpha1.ReplicationSuite, ended map[string]*v1alpha1.ReplicationExperiment, stays string) step.Outcome {
	suite.Summarize(s, ended)
	if x := notStarted(s, ended); x != nil && !s.Spec.Abort {
		return step.Terminal(v1alpha1.ReasonSpecRefused, "Trial %s did not start: %s", x.Name, first(x.Status.Reasons))
	}
	return next(s, ended, stays != "" || len(suite.Kept(s, ended)) > 0)
}

// notStarted is the last trial if it was refused: the other trials of its variant would be, too.
func notStarted(s *v1alpha1.ReplicationSuite, ended map[string]*v1alpha1.ReplicationExperiment) *v1alpha1.ReplicationExperiment {
	n := len(s.Status.Runs)
	if n == 0 {
		return nil
	}
	last := s.Status.Runs[n-1]
	x := ended[last.Name]
	if x == nil || x.Status.StartTime != nil || x.Spec.Abort || last.SpecHash == "" { // an edited trial is repeated
		return nil
	}
	return x
}

// tidying tells whether to wait for the removal of databases, with patience.
func (r *Reconciler) tidying(s *v1alpha1.ReplicationSuite, stays string) bool {
	if stays == "" {
		s.Status.TidyTime = nil
		return false
	}
	if s.Status.TidyTime == nil {
		s.Status.TidyTime = ptr.To(metav1.NewTime(r.Now()))
	}
	since := s.Status.TidyTime.Time
	if last := s.Status.Runs[len(s.Status.Runs)-1]; last.Name == stays && last.CompletionTime.After(since) { // others may never go
		since = last.CompletionTime.Time
	}
	return r.Now().Sub(since) < tidyPatience
}

// next writes the next run down, or concludes. A run may begin beside databases of earlier ones.
func next(s *v1alpha1.ReplicationSuite, ended map[string]*v1alpha1.ReplicationExperiment, beside bool) step.Outcome {
	run, invalid := suite.Next(s), suite.Invalid(&s.Status) != nil
	switch {
	case s.Spec.Abort && !invalid && (run != nil || endedByAbort(s, ended)):
		return aborted(s)
	case invalid, run == nil:
		suite.Conclude(s)
		return step.Done()
	case s.Spec.Suspend:
		return suspended()
	}
	run.BesideDatabases = beside
	s.Status.Runs = append(s.Status.Runs, *run)
	return running("Trial %s is next.", run.Name)
}

// endedByAbort tells whether the last run was ended before its time, or its experiment is not there.
func endedByAbort(s *v1alpha1.ReplicationSuite, ended map[string]*v1alpha1.ReplicationExperiment) bool {
	n := len(s.Status.Runs)
	if n == 0 || s.Status.Runs[n-1].Verdict != v1alpha1.VerdictInconclusive {
		return false
	}
	x := ended[s.Status.Runs[n-1].Name]
	return x == nil || x.Spec.Abort
}

// specChanged tells whether a field was changed that is fixed once the suite has started.
func specChanged(s *v1alpha1.ReplicationSuite) (bool, error) {
	hash, err := suite.Hash(&s.Spec)
	return hash != s.Status.SpecHash, err
}

func waitForSpec() step.Outcome {
	return step.Wait(time.Hour, v1alpha1.ReasonSpecChanged, "The spec was changed after the start. Restore it, or set spec.abort to true and create another suite.")
}

func aborted(s *v1alpha1.ReplicationSuite) step.Outcome {
	return step.Terminal(v1alpha1.ReasonAborted, "spec.abort ended the suite after %d of %d trials.", s.Status.Trials.Done, s.Status.Trials.Total)
}

// lostError says which trial has ended and cannot be decoded any more.
type lostError struct {
	name string
	why  string
}

func (e *lostError) Error() string {
	return fmt.Sprintf("trial %s has ended and cannot be decoded any more: %s", e.name, e.why)
}

// ends the suite, whose figures would lack the trial.
func (e *lostError) ends() step.Outcome {
	return step.Terminal(v1alpha1.ReasonUndecodable, "%v. Create another suite.", e)
}

// undecodable is what the cache knows of a run's experiment that cannot be decoded, nil of any other.
func (r *Reconciler) undecodable(ctx context.Context, s *v1alpha1.ReplicationSuite, run *v1alpha1.TrialRun) (*cached.Undecodable, error) {
	err := r.Experiments.Get(ctx, client.ObjectKey{Namespace: s.Namespace, Name: run.Name}, &v1alpha1.ReplicationExperiment{})
	var found *cached.UndecodableError
	if errors.As(err, &found) {
		return found.Experiment, nil
	}
	return nil, client.IgnoreNotFound(err)
}

// ended are the experiments of the runs that ended, by their names. It is not fresh while the cache lags behind the status. A *lostError comes with
// all that can be decoded.
func (r *Reconciler) ended(ctx context.Context, s *v1alpha1.ReplicationSuite) (found map[string]*v1alpha1.ReplicationExperiment, fresh bool, err error) {
	of, err := r.trials(ctx, s)
	if err != nil {
		return nil, false, err
	}
	found = map[string]*v1alpha1.ReplicationExperiment{}
	var lost error
	for _, run := range s.Status.Runs {
		x := of[run.UID]
		switch {
		case run.UID == "" || run.Verdict == "":
		case x != nil && meta.IsStatusConditionTrue(x.Status.Conditions, v1alpha1.ConditionComplete):
			found[run.Name] = x
		case x != nil && run.StartTime != nil:
			return nil, false, nil // the status has it as complete
		case x == nil:
			gone, fresh, err := r.uncached(ctx, s, &run)
			if err != nil || !fresh {
				return nil, false, err
			}
			if gone != nil {
				lost = gone
			}
		}
	}
	return found, true, lost
}

// trials are the experiments of a suite that the cache can decode, by their UIDs.
func (r *Reconciler) trials(ctx context.Context, s *v1alpha1.ReplicationSuite) (map[types.UID]*v1alpha1.ReplicationExperiment, error) {
	var list v1alpha1.ReplicationExperimentList
	if err := r.Experiments.List(ctx, &list); err != nil {
		return nil, err
	}
	of := map[types.UID]*v1alpha1.ReplicationExperiment{}
	for i := range list.Items {
		if x := &list.Items[i]; metav1.IsControlledBy(x, s) {
			of[x.UID] = x
		}
	}
	return of, nil
}

// uncached looks for a run's experiment that the cache lacks: it cannot be decoded, or was deleted, or the cache is not fresh.
func (r *Reconciler) uncached(ctx context.Context, s *v1alpha1.ReplicationSuite, run *v1alpha1.TrialRun) (lost *lostError, fresh bool, err error) {
	bad, err := r.undecodable(ctx, s, run)
	switch {
	case err != nil:
		return nil, false, err
	case bad != nil && bad.UID == run.UID:
		return &lostError{run.Name, bad.Why}, true, nil
	case bad != nil: // another one has the name of a trial that was deleted
		return nil, true, nil
	}
	there := &v1alpha1.ReplicationExperiment{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: run.Name}}
	exists, err := r.Cluster.Get(ctx, there)
	if err != nil {
		return nil, false, fmt.Errorf("read experiment %s: %w", run.Name, err)
	}
	return nil, !exists || there.UID != run.UID, nil
}

// thin has the databases removed that need not stay. It names a trial with databases that are still there, since they would disturb the next one.
func (r *Reconciler) thin(ctx context.Context, s *v1alpha1.ReplicationSuite, ended map[string]*v1alpha1.ReplicationExperiment) (stays string, err error) {
	if s.Spec.Trials == 0 { // the cache has no keepTrials of a spec that is too long
		return "", nil
	}
	kept := suite.Kept(s, ended)
	for _, run := range s.Status.Runs {
		x := ended[run.Name]
		switch {
		case x == nil || kept[run.Name] || !x.DeletionTimestamp.IsZero():
		case x.Status.StartTime == nil: // it has none, and would begin anew
		case x.Spec.Keep != v1alpha1.KeepNever:
			if err := r.patch(ctx, x, `"keep":"Never"`); err != nil {
				return run.Name, err
			}
			stays = run.Name
		case x.Generation != x.Status.ObservedGeneration:
			stays = run.Name
		}
	}
	return stays, nil
}
