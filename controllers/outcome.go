package controllers

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"replab.dev/api/v1alpha1"
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

// refused ends the run when the API server will not have an object as it is; other errors may go away.
func refused(err error) (Outcome, error) {
	if apierrors.IsInvalid(err) || apierrors.IsForbidden(err) || apierrors.IsBadRequest(err) {
		return Terminal(v1alpha1.ReasonObjectRefused, "the API server refuses an object of the plan: %v", err), nil
	}
	return Outcome{}, err
}
