package diagnose

import (
	"context"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/controllers/step"
)

// unboundAfter is how long a claim may wait for its volume. One that waits for its pod to be scheduled first is no
// exception: a pod that cannot be scheduled is found before that.
const unboundAfter = 90 * time.Second

// unbound finds a claim that nobody makes a volume for, whether or not a pod says that it waits for it: with late binding
// the scheduler is silent for ten minutes.
func unbound(ctx context.Context, s *Scene) (step.Outcome, error) {
	for i := range s.Claims {
		c := &s.Claims[i]
		if c.Status.Phase == corev1.ClaimPending && c.DeletionTimestamp.IsZero() && s.Now.Sub(c.CreationTimestamp.Time) > unboundAfter {
			return notBound(ctx, s, c, "")
		}
	}
	return step.Outcome{}, nil
}

// explainClaim names the claim when that is what a pod waits for.
func explainClaim(ctx context.Context, s *Scene, out step.Outcome) (step.Outcome, error) {
	if !strings.Contains(out.Message, "PersistentVolumeClaim") && !strings.Contains(out.Message, "volume") {
		return out, nil
	}
	for i := range s.Claims {
		if s.Claims[i].Status.Phase == corev1.ClaimPending {
			return notBound(ctx, s, &s.Claims[i], out.Message)
		}
	}
	return out, nil
}

// notBound ends the run with what is known of the claim: what the scheduler said, if it did, and the claim's last event.
func notBound(ctx context.Context, s *Scene, c *corev1.PersistentVolumeClaim, why string) (step.Outcome, error) {
	event, err := s.Words.LastEvent(ctx, c)
	switch {
	case err != nil:
		return step.Outcome{}, err
	case event != nil && why != "":
		why += "; " + event.Reason + ": " + event.Message
	case event != nil:
		why = event.Reason + ": " + event.Message
	case why == "":
		why = "nothing is said about it"
	}
	class := "the cluster's default class"
	if c.Spec.StorageClassName != nil {
		class = "class " + *c.Spec.StorageClassName
	}
	size := c.Spec.Resources.Requests[corev1.ResourceStorage]
	return step.Terminal(v1alpha1.ReasonVolumeNotBound, "volume claim %s (%s of %s) is not bound: %s; choose another topology.storage.className or medium",
		c.Name, size.String(), class, why), nil
}
