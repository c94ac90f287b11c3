package controllers

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"replab.dev/api/v1alpha1"
)

// How long something may look hopeless before it is taken to be: well below the two minutes in which people are told.
const (
	unschedulableAfter = 60 * time.Second
	configErrorAfter   = 30 * time.Second
	refusedAfter       = 15 * time.Second
	refusedStill       = time.Minute // since it was last said
	crashesBeforeEnd   = 3
)

// trouble looks for what will not go away by itself. Crashes of servers only count while no fault can have caused them.
func trouble(ctx context.Context, run *Run, crashes bool) (Outcome, error) {
	pods, err := run.Cluster.Pods(ctx, run.ReplicationExperiment)
	if err != nil {
		return Outcome{}, err
	}
	for i := range pods {
		pod := &pods[i]
		if out := unscheduled(pod, run.Now()); out.terminal {
			return explainClaim(ctx, run, out)
		}
		all := append(append([]corev1.ContainerStatus(nil), pod.Status.InitContainerStatuses...), pod.Status.ContainerStatuses...)
		for _, c := range all {
			if out := stuck(pod, c, run.Now()); out.terminal {
				return out, nil
			}
			if crashes && crashing(c) {
				return Terminal(v1alpha1.ReasonCrashLoop, "container %s of pod %s ended %d times, last with exit code %d; its last log lines:\n%s",
					c.Name, pod.Name, c.RestartCount, exitCode(c), run.Cluster.LogTail(ctx, pod, c.Name, true)), nil
			}
		}
	}
	return refusals(ctx, run)
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

// explainClaim names the claim when that is what a pod waits for.
func explainClaim(ctx context.Context, run *Run, out Outcome) (Outcome, error) {
	claims, err := run.Cluster.Claims(ctx, run.ReplicationExperiment)
	if err != nil {
		return Outcome{}, err
	}
	for _, c := range claims {
		if c.Status.Phase != corev1.ClaimPending {
			continue
		}
		class := "the cluster's default class"
		if c.Spec.StorageClassName != nil {
			class = "class " + *c.Spec.StorageClassName
		}
		if strings.Contains(out.message, "PersistentVolumeClaim") || strings.Contains(out.message, "volume") {
			size := c.Spec.Resources.Requests[corev1.ResourceStorage]
			return Terminal(v1alpha1.ReasonVolumeNotBound, "volume claim %s (%s of %s) is not bound: %s; choose another topology.storage.className or medium",
				c.Name, size.String(), class, out.message), nil
		}
	}
	return out, nil
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

func crashing(c corev1.ContainerStatus) bool {
	waiting := c.State.Waiting != nil && c.State.Waiting.Reason == "CrashLoopBackOff"
	return waiting && c.RestartCount >= crashesBeforeEnd
}

func exitCode(c corev1.ContainerStatus) int32 {
	if t := c.LastTerminationState.Terminated; t != nil {
		return t.ExitCode
	}
	return 0
}

// refusals finds pods that the API server would not have: quota, pod security, a webhook.
func refusals(ctx context.Context, run *Run) (Outcome, error) {
	events, err := run.Cluster.Refusals(ctx, run.ReplicationExperiment)
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
