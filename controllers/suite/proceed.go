package suite

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"replab.dev/api/v1alpha1"
	"replab.dev/controllers/experiment/step"
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
	switch changed, err := specChanged(s); {
	case err != nil:
		return step.Outcome{}, err
	case changed && s.Spec.Abort:
		return aborted(s), nil
	case changed:
		return waitForSpec(), nil
	}
	ended, fresh, err := r.ended(ctx, s)
	if err != nil || !fresh {
		return step.Wait(cacheLag, v1alpha1.ReasonRunning, "The results of the last trial are being read."), err
	}
	stays, err := r.thin(ctx, s, ended)
	if err != nil || stays != "" && !s.Spec.Abort && r.Now().Sub(lastEnd(s)) < tidyPatience {
		return step.Wait(tidyEvery, v1alpha1.ReasonTidying, "The databases of trial %s are being removed.", stays), err
	}
	suite.Summarize(s, ended)
	if stays != "" {
		s.Status.Notes = append(s.Status.Notes, fmt.Sprintf("The databases of trial %s were not removed within %s, and may have disturbed the next ones.", stays, tidyPatience))
	}
	return next(s), nil
}

// next writes the next run down, or concludes.
func next(s *v1alpha1.ReplicationSuite) step.Outcome {
	run, invalid := suite.Next(s), suite.Invalid(&s.Status) != nil
	switch {
	case s.Spec.Abort && !invalid && (run != nil || lastRun(s).Verdict == v1alpha1.VerdictInconclusive):
		return aborted(s)
	case invalid, run == nil:
		suite.Conclude(s)
		return step.Done()
	case s.Spec.Suspend:
		return suspended()
	}
	s.Status.Runs = append(s.Status.Runs, *run)
	return running("Trial %s is next.", run.Name)
}

// lastRun is the zero value before the first.
func lastRun(s *v1alpha1.ReplicationSuite) v1alpha1.TrialRun {
	if n := len(s.Status.Runs); n > 0 {
		return s.Status.Runs[n-1]
	}
	return v1alpha1.TrialRun{}
}

// specChanged tells whether a field was changed that is fixed once the suite has started.
func specChanged(s *v1alpha1.ReplicationSuite) (bool, error) {
	hash, err := suite.Hash(&s.Spec)
	return hash != s.Status.SpecHash, err
}

func waitForSpec() step.Outcome {
	return step.Wait(time.Hour, v1alpha1.ReasonSpecChanged, "The spec was changed after the start. Restore it, or set spec.abort and create another suite.")
}

func aborted(s *v1alpha1.ReplicationSuite) step.Outcome {
	return step.Terminal(v1alpha1.ReasonAborted, "spec.abort ended the suite after %d of %d trials.", s.Status.Trials.Done, s.Status.Trials.Total)
}

// ended are the experiments of the runs that ended, by their names. It is not fresh while the cache lags behind the status.
func (r *Reconciler) ended(ctx context.Context, s *v1alpha1.ReplicationSuite) (found map[string]*v1alpha1.ReplicationExperiment, fresh bool, err error) {
	var list v1alpha1.ReplicationExperimentList
	if err := r.Experiments.List(ctx, &list); err != nil {
		return nil, false, err
	}
	of := map[types.UID]*v1alpha1.ReplicationExperiment{}
	for i := range list.Items {
		if x := &list.Items[i]; metav1.IsControlledBy(x, s) {
			of[x.UID] = x
		}
	}
	found = map[string]*v1alpha1.ReplicationExperiment{}
	for _, run := range s.Status.Runs {
		x := of[run.UID]
		switch {
		case run.UID == "" || run.Verdict == "":
		case x != nil && meta.IsStatusConditionTrue(x.Status.Conditions, v1alpha1.ConditionComplete):
			found[run.Name] = x
		case x != nil && run.StartTime != nil:
			return nil, false, nil // the status has it as complete
		case x == nil:
			there := &v1alpha1.ReplicationExperiment{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: run.Name}}
			if exists, err := r.Cluster.Get(ctx, there); err != nil {
				return nil, false, fmt.Errorf("read experiment %s: %w", run.Name, err)
			} else if exists && there.UID == run.UID {
				return nil, false, nil
			}
		}
	}
	return found, true, nil
}

// lastEnd is when the last run ended.
func lastEnd(s *v1alpha1.ReplicationSuite) time.Time {
	if at := lastRun(s).CompletionTime; at != nil {
		return at.Time
	}
	return time.Time{}
}

// thin lets the databases of trials go that need not stay, and names a trial whose are still there: they would disturb the next one.
func (r *Reconciler) thin(ctx context.Context, s *v1alpha1.ReplicationSuite, ended map[string]*v1alpha1.ReplicationExperiment) (stays string, err error) {
	kept := suite.Kept(s, ended)
	for _, run := range s.Status.Runs {
		x := ended[run.Name]
		switch {
		case x == nil || kept[run.Name] || !x.DeletionTimestamp.IsZero():
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
