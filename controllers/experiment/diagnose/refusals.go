package diagnose

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/controllers/step"
)

// RefusedAfter is how long the API server may refuse an object before the run ends: a quota may be freed, and a webhook start.
const RefusedAfter = time.Minute

// refusals finds pods that the API server would not have: quota, pod security, a webhook.
func refusals(s *Scene) step.Outcome {
	for _, e := range s.Refusals {
		first := e.FirstTimestamp.Time
		if first.IsZero() {
			first = e.EventTime.Time
		}
		last := e.LastTimestamp.Time
		if last.IsZero() {
			last = first
		}
		if belongs(s, e.InvolvedObject) && s.Now.Sub(first) > RefusedAfter && s.Now.Sub(last) < refusedStill {
			return step.Terminal(v1alpha1.ReasonObjectRefused, "%s %s cannot make its pods: %s", e.InvolvedObject.Kind, e.InvolvedObject.Name, e.Message)
		}
	}
	return step.Outcome{}
}

// belongs tells whether an event is about an object of this run's plan, or about the ReplicaSet of one.
func belongs(s *Scene, o corev1.ObjectReference) bool {
	for _, planned := range s.Controllers {
		hash, below := strings.CutPrefix(o.Name, planned+"-")
		if o.Name == planned || o.Kind == "ReplicaSet" && below && !strings.Contains(hash, "-") {
			return true
		}
	}
	return false
}
