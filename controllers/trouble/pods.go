package controllers

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"replab.dev/api/v1alpha1"
)

// How long something may look hopeless before it is taken to be: below the two minutes in which people are told.
const (
	unschedulableAfter = 60 * time.Second
	configErrorAfter   = 30 * time.Second
	refusedAfter       = 15 * time.Second
	refusedStill       = time.Minute // since it was last said
	crashesBeforeEnd   = 3
	slowCrashesAfter   = 90 * time.Second // a pod of this age may crash once less
)

// trouble looks for what will not go away by itself. Crashes of servers only count while no fault can have caused them.
func trouble(ctx context.Context, run *Run, crashes bool) (Outcome, error) {
	pods, err := run.Snapshot.Pods(ctx)
	if err != nil {
		return Outcome{}, err
	}
	for i := range pods {
		if out, err := podTrouble(ctx, run, &pods[i], crashes); err != nil || out.Terminal {
			return out, err
		}
	}
	if out, err := unbound(ctx, run); err != nil || out.Terminal {
		return out, err
	}
	return refusals(ctx, run)
}

func podTrouble(ctx context.Context, run *Run, pod *corev1.Pod, crashes bool) (Outcome, error) {
	if out := unscheduled(pod, run.Now()); out.Terminal {
		return explainClaim(ctx, run, out)
	}
	if out := failed(pod); crashes && out.Terminal {
		return out, nil
	}
	for _, c := range containers(pod) {
		if out := stuck(pod, c, run.Now()); out.Terminal {
			return out, nil
		}
		if crashes && crashing(pod, c, run.Now()) {
			return Terminal(v1alpha1.ReasonCrashLoop, "container %s of pod %s ended again after %d restarts, last with exit code %d; its last log lines:\n%s",
				c.Name, pod.Name, c.RestartCount, exitCode(c), run.Cluster.LogTail(ctx, pod, c.Name, true)), nil
		}
	}
	return unstarted(ctx, run, pod)
}

func containers(pod *corev1.Pod) []corev1.ContainerStatus {
	return slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses)
}

// failed finds a pod that will not run again: it was evicted, or its node would not have it. The pod of a Job that ended
// otherwise is the Job's own business.
func failed(pod *corev1.Pod) Outcome {
	if pod.Status.Phase != corev1.PodFailed || pod.Status.Reason == "" {
		return Outcome{}
	}
	return Terminal(v1alpha1.ReasonPodFailed, "pod %s has failed on node %s: %s: %s", pod.Name, pod.Spec.NodeName, pod.Status.Reason, pod.Status.Message)
}

func unscheduled(pod *corev1.Pod, now time.Time) Outcome {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable &&
			now.Sub(c.LastTransitionTime.Time) > unschedulableAfter {
			return Terminal(v1alpha1.ReasonPodUnschedulable, "pod %s cannot be scheduled: %s", pod.Name, c.Message)
		}
	}
	return Outcome{}
}

func stuck(pod *corev1.Pod, c corev1.ContainerStatus, now time.Time) Outcome {
	w := c.State.Waiting
	if w == nil {
		return Outcome{}
	}
	switch w.Reason {
	case "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull":
		return Terminal(v1alpha1.ReasonImageCannotBePulled, "image %s of container %s in pod %s cannot be pulled: %s", c.Image, c.Name, pod.Name, w.Message)
	case "CreateContainerConfigError", "CreateContainerError", "RunContainerError":
		if now.Sub(pod.CreationTimestamp.Time) > configErrorAfter {
			return Terminal(v1alpha1.ReasonContainerConfig, "container %s of pod %s cannot be started: %s", c.Name, pod.Name, w.Message)
		}
	}
	return Outcome{}
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

// refusals finds pods that the API server would not have: quota, pod security, a webhook.
func refusals(ctx context.Context, run *Run) (Outcome, error) {
	events, err := run.Snapshot.Refusals(ctx)
	if err != nil {
		return Outcome{}, err
	}
	for _, e := range events {
		first := e.FirstTimestamp.Time
		if first.IsZero() {
			first = e.EventTime.Time
		}
		last := e.LastTimestamp.Time
		if last.IsZero() {
			last = first
		}
		if belongs(run, e.InvolvedObject) && run.Now().Sub(first) > refusedAfter && run.Now().Sub(last) < refusedStill {
			return Terminal(v1alpha1.ReasonObjectRefused, "%s %s cannot make its pods: %s", e.InvolvedObject.Kind, e.InvolvedObject.Name, e.Message), nil
		}
	}
	return Outcome{}, nil
}

// belongs tells whether an event is about an object of this run's plan, or about the ReplicaSet of one.
func belongs(run *Run, o corev1.ObjectReference) bool {
	for _, planned := range run.Plan.Controllers() {
		if o.Name == planned || o.Kind == "ReplicaSet" && strings.HasPrefix(o.Name, planned+"-") {
			return true
		}
	}
	return false
}

// refused ends the run when the API server will not have an object as it is; other errors may go away.
func refused(err error) (Outcome, error) {
	if apierrors.IsInvalid(err) || apierrors.IsForbidden(err) || apierrors.IsBadRequest(err) {
		return Terminal(v1alpha1.ReasonObjectRefused, "%s", fmt.Sprintf("the API server refuses an object of the plan: %v", err)), nil
	}
	return Outcome{}, err
}
