package experiment

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"replab.dev/api/v1alpha1"
	"replab.dev/controllers/experiment/diagnose"
	"replab.dev/controllers/step"
)

// Outcome is what a step came to.
type Outcome = step.Outcome

// The words of the steps.
var (
	Done     = step.Done
	Wait     = step.Wait
	Terminal = step.Terminal
)

// refusal is what an error says of a write that the API server refuses.
type refusal int

const (
	notRefused  refusal = iota // the error is another one, and may go away
	refusedNow                 // what refuses may change: a quota is freed, a right given, a webhook started
	refusedEver                // the object will never be taken as it is
)

func refusalOf(err error) refusal {
	switch {
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return refusedEver
	case apierrors.IsForbidden(err), apierrors.IsInternalError(err) && strings.Contains(err.Error(), "failed calling webhook"):
		return refusedNow
	}
	return notRefused
}

// refused ends the run if the API server will not have an object as it is. It waits as long as for refused pods if that may change.
// Other errors may go away.
func refused(run *Run, err error) (Outcome, error) {
	switch refusalOf(err) {
	case notRefused:
		return Outcome{}, err
	case refusedNow:
		if waited(run, v1alpha1.AwaitedAdmission) < diagnose.RefusedAfter {
			return Wait(time.Second, "Refused", "the API server refuses an object of the plan, which is tried again: %v", err), nil
		}
	}
	return Terminal(v1alpha1.ReasonObjectRefused, "the API server refuses an object of the plan: %v", err), nil
}
