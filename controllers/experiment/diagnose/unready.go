package diagnose

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/controllers/step"
	"replab.dev/internal/kube"
)

const (
	// unstartedAfter is how long a pod that has its node may wait for its volumes and its network. Pulling images comes after that.
	unstartedAfter = 100 * time.Second
	// unreadyAfter is how long a server that runs may take to get ready; on a slow disk the first start makes it wait for
	// hundreds of MiB.
	unreadyAfter = 4 * time.Minute
)

// unstarted finds a pod of which nothing was ever started, and whose last event tells why: a volume that cannot be mounted,
// a Secret or ConfigMap that is missing, a network that cannot be set up. A kubelet that says nothing at all is as bad.
func unstarted(ctx context.Context, s *Scene, pod *corev1.Pod) (step.Outcome, error) {
	scheduled := conditionOf(pod, corev1.PodScheduled)
	if pod.Status.Phase != corev1.PodPending || !pod.DeletionTimestamp.IsZero() || scheduled == nil || scheduled.Status != corev1.ConditionTrue ||
		s.Now.Sub(scheduled.LastTransitionTime.Time) <= unstartedAfter {
		return step.Outcome{}, nil
	}
	if ready := conditionOf(pod, corev1.PodReadyToStartContainers); ready != nil && ready.Status == corev1.ConditionTrue {
		return step.Outcome{}, nil // images may be on their way
	}
	for _, c := range containers(pod) {
		if c.State.Waiting == nil || c.LastTerminationState.Terminated != nil {
			return step.Outcome{}, nil
		}
	}
	event, err := s.Words.LastEvent(ctx, pod)
	switch {
	case err != nil:
		return step.Outcome{}, err
	case event != nil && event.Type == corev1.EventTypeWarning:
		return step.Terminal(v1alpha1.ReasonPodNotStarted, "pod %s could not be started on node %s for %s: %s: %s",
			pod.Name, pod.Spec.NodeName, unstartedAfter, event.Reason, event.Message), nil
	case len(containers(pod)) == 0:
		return step.Terminal(v1alpha1.ReasonPodNotStarted, "node %s has not taken up pod %s for %s: is its kubelet running?",
			pod.Spec.NodeName, pod.Name, unstartedAfter), nil
	}
	return step.Outcome{}, nil
}

// NeverReady finds a pod whose containers run but that does not get ready. As long as a node is not ready, it is no fault
// of the others that they are not.
func NeverReady(ctx context.Context, s *Scene) step.Outcome {
	isNode := func(p corev1.Pod) bool { return p.Labels[kube.LabelComponent] == kube.ComponentNode }
	nodesAlone := slices.ContainsFunc(s.Pods, func(p corev1.Pod) bool { return isNode(p) && !Ready(&p) })
	for i := range s.Pods {
		if (isNode(s.Pods[i]) || !nodesAlone) && UnreadyFor(s.Now, &s.Pods[i]) > unreadyAfter {
			return step.Terminal(v1alpha1.ReasonTimeout, "pod %s has been running for %s and is not ready; %s",
				s.Pods[i].Name, unreadyAfter, LastLines(ctx, s.Words, &s.Pods[i]))
		}
	}
	return step.Outcome{}
}

// UnreadyFor is how long a pod all of whose containers run has not been ready; 0 for one that is, or of which one does not run.
func UnreadyFor(now time.Time, pod *corev1.Pod) time.Duration {
	ready := conditionOf(pod, corev1.PodReady)
	if ready == nil || ready.Status == corev1.ConditionTrue || len(pod.Status.ContainerStatuses) == 0 {
		return 0
	}
	from := ready.LastTransitionTime.Time
	for _, c := range pod.Status.ContainerStatuses {
		if c.State.Running == nil {
			return 0
		}
		if c.State.Running.StartedAt.After(from) {
			from = c.State.Running.StartedAt.Time
		}
	}
	return now.Sub(from)
}

// LastLines of the log of a pod's first container, the one that the pod is for.
func LastLines(ctx context.Context, words Words, pod *corev1.Pod) string {
	container := pod.Spec.Containers[0].Name
	return fmt.Sprintf("last log lines of container %s of pod %s:\n%s", container, pod.Name, words.LogTail(ctx, pod, container, false))
}

// Ready tells whether a pod is.
func Ready(pod *corev1.Pod) bool {
	c := conditionOf(pod, corev1.PodReady)
	return c != nil && c.Status == corev1.ConditionTrue
}

func conditionOf(pod *corev1.Pod, t corev1.PodConditionType) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == t {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}
