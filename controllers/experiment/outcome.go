package experiment

import (
	"time"

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

// refused ends the run if the API server will not have an object as it is. It waits as long as for refused pods if that may change.
// Other errors may go away.
func refused(run *Run, err error) (Outcome, error) {
	switch step.RefusalOf(err) {
	case step.NotRefused:
		return Outcome{}, err
	case step.RefusedNow:
		if waited(run, v1alpha1.AwaitedAdmission) < diagnose.RefusedAfter {
			return Wait(time.Second, v1alpha1.ReasonRefused, "the API server refuses an object of the plan; trying again for a minute: %v", err), nil
		}
	}
	return Terminal(v1alpha1.ReasonObjectRefused, "the API server refuses an object of the plan: %v", err), nil
}
