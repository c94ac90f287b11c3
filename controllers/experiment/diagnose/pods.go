package diagnose

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/controllers/step"
)

// How long something may look hopeless before it is taken to be: below the two minutes in which people are told.
const (
	unschedulableAfter = 60 * time.Second
	configErrorAfter   = 30 * time.Second
	refusedStill       = time.Minute // since it was last said
	crashesBeforeEnd   = 3
	slowCrashesAfter   = 90 * time.Second // a pod of this age may crash once less
)

// Pod looks at one pod.
func Pod(ctx context.Context, s *Scene, pod *corev1.Pod, crashes bool) (step.Outcome, error) {
	if out := unscheduled(pod, s.Now); out.Terminal {
		return explainClaim(ctx, s, out)
	}
	if out := failed(pod); crashes && out.Terminal {
		return out, nil
	}
	for _, c := range containers(pod) {
		if out := stuck(pod, c, s.Now); out.Terminal {
			return out, nil
		}
		if crashes && crashing(pod, c, s.Now) {
			return step.Terminal(v1alpha1.ReasonCrashLoop, "container %s of pod %s ended again after %d restarts, last with exit code %d; its last log lines:\n%s",
				c.Name, pod.Name, c.RestartCount, exitCode(c), s.Words.LogTail(ctx, pod, c.Name, true)), nil
		}
	}
	return unstarted(ctx, s, pod)
}

func containers(pod *corev1.Pod) []corev1.ContainerStatus {
	return slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses)
}

// failed finds a pod that will not run again: it was evicted, or its node would not have it. The pod of a Job that ended
// otherwise is the Job's own business.
func failed(pod *corev1.Pod) step.Outcome {
	if pod.Status.Phase != corev1.PodFailed || pod.Status.Reason == "" {
		return step.Outcome{}
	}
	return step.Terminal(v1alpha1.ReasonPodFailed, "pod %s has failed on node %s: %s: %s", pod.Name, pod.Spec.NodeName, pod.Status.Reason, pod.Status.Message)
}

func unscheduled(pod *corev1.Pod, now time.Time) step.Outcome {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable &&
			now.Sub(c.LastTransitionTime.Time) > unschedulableAfter {
			return step.Terminal(v1alpha1.ReasonPodUnschedulable, "pod %s cannot be scheduled: %s", pod.Name, c.Message)
		}
	}
	return step.Outcome{}
}

func stuck(pod *corev1.Pod, c corev1.ContainerStatus, now time.Time) step.Outcome {
	w := c.State.Waiting
	if w == nil {
		return step.Outcome{}
	}
	switch w.Reason {
	case "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull":
		return step.Terminal(v1alpha1.ReasonImageCannotBePulled, "image %s of container %s in pod %s cannot be pulled: %s", c.Image, c.Name, pod.Name, w.Message)
	case "CreateContainerConfigError", "CreateContainerError", "RunContainerError":
		if now.Sub(pod.CreationTimestamp.Time) > configErrorAfter {
			return step.Terminal(v1alpha1.ReasonContainerConfig, "container %s of pod %s cannot be started: %s", c.Name, pod.Name, w.Message)
		}
	}
	return step.Outcome{}
}

func crashing(pod *corev1.Pod, c corev1.ContainerStatus, now time.Time) bool {
	if c.State.Waiting == nil || c.State.Waiting.Reason != "CrashLoopBackOff" {
		return false
	}
	slow := now.Sub(pod.CreationTimestamp.Time) > slowCrashesAfter
	return c.RestartCount >= crashesBeforeEnd || slow && c.RestartCount >= crashesBeforeEnd-1
}

func exitCode(c corev1.ContainerStatus) int32 {
	if t := c.LastTerminationState.Terminated; t != nil {
		return t.ExitCode
	}
	return 0
}
