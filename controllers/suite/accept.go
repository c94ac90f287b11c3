package suite

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/api/v1alpha1/validation"
	"replab.dev/controllers/cached"
	"replab.dev/controllers/step"
	"replab.dev/internal/decode"
	"replab.dev/internal/suite"
)

// blockedEvery is the time between two looks at what a person has to clear away.
const blockedEvery = 10 * time.Second

// accept lets a suite begin once its spec and that of every variant are right, and no other experiment has the name of a trial.
func (r *Reconciler) accept(ctx context.Context, s *v1alpha1.ReplicationSuite) (step.Outcome, error) {
	if s.Spec.Abort {
		return step.Terminal(v1alpha1.ReasonAborted, "spec.abort was true before the first trial."), nil
	}
	if errs := validation.Suite(s, suite.Metric); len(errs) > 0 {
		return step.Terminal(v1alpha1.ReasonSpecRefused, "%s", validation.Message(errs)), nil
	}
	for _, check := range []func(context.Context, *v1alpha1.ReplicationSuite) (step.Outcome, error){r.namesFree, r.variantsRight} {
		if out, err := check(ctx, s); err != nil || !out.Done {
			return out, err
		}
	}
	if s.Spec.Suspend {
		return suspended(), nil
	}
	hash, err := suite.Hash(&s.Spec)
	if err != nil {
		return step.Outcome{}, err
	}
	now := metav1.NewTime(r.Now())
	s.Status.StartTime, s.Status.SpecHash = &now, hash
	suite.Summarize(s, nil)
	return running("The spec is fixed from here on."), nil
}

func suspended() step.Outcome {
	return step.Wait(time.Hour, v1alpha1.ReasonSuspended, "spec.suspend is true. Set it to false to go on.")
}

// running goes on after the status was written.
func running(format string, args ...any) step.Outcome {
	return step.Outcome{Done: true, Reason: v1alpha1.ReasonRunning, Message: fmt.Sprintf(format, args...)}
}

// namesFree waits while an experiment that is not the suite's has the name of a trial.
func (r *Reconciler) namesFree(ctx context.Context, s *v1alpha1.ReplicationSuite) (step.Outcome, error) {
	for _, t := range suite.Trials(&s.Spec) {
		x := &v1alpha1.ReplicationExperiment{}
		name := t.Name(s.Name, 1)
		err := r.Experiments.Get(ctx, client.ObjectKey{Namespace: s.Namespace, Name: name}, x)
		var undecodable *cached.UndecodableError
		switch {
		case apierrors.IsNotFound(err):
		case errors.As(err, &undecodable), err == nil && !metav1.IsControlledBy(x, s):
			return taken(name), nil
		case err != nil:
			return step.Outcome{}, err
		}
	}
	return step.Done(), nil
}

func taken(name string) step.Outcome {
	return step.Wait(blockedEvery, v1alpha1.ReasonNameTaken, "Another experiment has the trial's name %s. Delete it, or create a suite of another name.", name)
}

// variantsRight has the API server look at the trials without making them, and then checks them as the operator checks an experiment.
func (r *Reconciler) variantsRight(ctx context.Context, s *v1alpha1.ReplicationSuite) (step.Outcome, error) {
	tried := step.Done()
	wrong, err := suite.Refused(s, func(run v1alpha1.TrialRun) (*v1alpha1.ReplicationExperiment, []string, error) {
		x := &v1alpha1.ReplicationExperiment{}
		found, out, err := r.try(ctx, s, run, x)
		if tried = out; err == nil && !out.Done {
			err = errNotTried
		}
		return x, found, err
	})
	switch {
	case errors.Is(err, errNotTried):
		return tried, nil
	case err != nil:
		return step.Outcome{}, err
	case len(wrong) > 0:
		return step.Terminal(v1alpha1.ReasonSpecRefused, "%s", strings.Join(wrong, "\n")), nil
	}
	return step.Done(), nil
}

// errNotTried ends the tries: the suite waits before the next one.
var errNotTried = errors.New("the trial was not tried")

// try returns what is wrong with a trial, and decodes the trial with its defaults.
func (r *Reconciler) try(ctx context.Context, s *v1alpha1.ReplicationSuite, run v1alpha1.TrialRun, x *v1alpha1.ReplicationExperiment) ([]string, step.Outcome, error) {
	object, err := suite.Experiment(s, run)
	if err != nil {
		return []string{err.Error()}, step.Done(), nil
	}
	err = r.Writer.Create(ctx, object, client.DryRunAll, client.FieldValidation(metav1.FieldValidationStrict))
	switch {
	case apierrors.IsAlreadyExists(err):
		return nil, taken(run.Name), nil
	case step.RefusalOf(err) == step.RefusedEver:
		return []string{err.Error()}, step.Done(), nil
	case step.RefusalOf(err) == step.RefusedNow:
		return nil, refusedNow(err), nil
	case err != nil:
		return nil, step.Outcome{}, fmt.Errorf("try experiment %s: %w", run.Name, err)
	}
	if why := validation.TooLong(object.Object["spec"]); why != "" {
		return []string{why}, step.Done(), nil
	}
	if err := decode.Experiment(object, x); err != nil {
		return []string{err.Error()}, step.Done(), nil
	}
	return validation.Sentences(validation.Experiment(x, r.Servers)), step.Done(), nil
}

func refusedNow(err error) step.Outcome {
	return step.Wait(blockedEvery, v1alpha1.ReasonObjectRefused, "The API server refuses a trial; trying again: %v", err)
}
