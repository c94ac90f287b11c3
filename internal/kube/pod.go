package kube

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// FirstRan returns when the first container of a pod began that runs or has run, by its machine's clock; nil when none did. The kubelet
// rounds it down to seconds.
func FirstRan(p corev1.Pod) *time.Time {
	var first *time.Time
	for _, c := range p.Status.ContainerStatuses {
		for _, state := range []corev1.ContainerState{c.State, c.LastTerminationState} {
			var at time.Time
			switch {
			case state.Running != nil:
				at = state.Running.StartedAt.Time
			case state.Terminated != nil:
				at = state.Terminated.StartedAt.Time
			default:
				continue
			}
			if first == nil || at.Before(*first) {
				first = &at
			}
		}
	}
	return first
}
