package fault

import (
	"time"

	"replab.dev/api/v1alpha1"
	"replab.dev/controllers/step"
)

// take writes down what an agent answered.
func take(s *Scene, t target, answer Answer) step.Outcome {
	e := t.entry
	if answer.Err != nil {
		if s.silent(e) {
			unconfirmed(e, "the node's agent did not take the fault: %v", answer.Err)
			return step.Done()
		}
		return step.Wait(300*time.Millisecond, v1alpha1.ReasonInjecting, "fault %s: the agent of pod %s does not answer", e.Name, e.Pod)
	}
	e.SilentTime = nil
	if t.deletes() { // the answer is about its hold
		if answer.InjectedAt == nil {
			unconfirmed(e, "%s", answer.Evidence)
			return step.Done()
		}
		return aboutToDelete(e)
	}
	if e.InjectedTime = answer.InjectedAt; e.InjectedTime != nil {
		set(e, v1alpha1.FaultInjected, answer.Evidence)
	}
	switch {
	case answer.Concluded && answer.Confirmed:
		set(e, v1alpha1.FaultConfirmed, answer.Evidence)
		return step.Done()
	case answer.Concluded:
		unconfirmed(e, "%s", answer.Evidence)
		return step.Done()
	case e.InjectedTime != nil && s.Now().Sub(e.InjectedTime.Time) > confirmPatience:
		unconfirmed(e, "its effect was not seen within %s", confirmPatience)
		return step.Done()
	}
	return step.Wait(200*time.Millisecond, v1alpha1.ReasonConfirming, "fault %s: waiting for its effect", e.Name)
}
