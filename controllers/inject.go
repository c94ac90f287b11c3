package controllers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/wire"
)

const (
	// reasonInjecting is the reason while an agent does not answer, reasonRetrying while the API server does not.
	reasonInjecting = "Injecting"
	reasonRetrying  = "Retrying"
)

// target is a pod that a fault is about to hit.
type target struct {
	fault v1alpha1.Fault
	entry *v1alpha1.FaultStatus
	pod   *corev1.Pod // nil when it is gone, or another pod has its name
}

// inject acts on the targets of the faults that are due. All are started before the effect of any is awaited, those that
// agents carry out at the same moment: several nodes that fail together fail together. Once something was done there is no
// error any more: a target of which a call failed waits, and what is known of the others is written down.
func inject(ctx context.Context, run *Run, due []*target, loadOver bool) (Outcome, error) {
	due = slices.DeleteFunc(due, func(t *target) bool { return t.entry.Confirmed != metav1.ConditionUnknown })
	if len(due) == 0 {
		return Done(), nil
	}
	secret, err := token(ctx, run) // before anything is done
	if err != nil {
		return Outcome{}, err
	}
	out := Done()
	var called []*target
	var calls []FaultCall
	for _, t := range due {
		request, next, err := prepare(ctx, run, t, loadOver)
		if err != nil {
			next = Wait(300*time.Millisecond, reasonRetrying, "fault %s on pod %s: %v", t.entry.Name, t.entry.Pod, err)
		}
		out = both(out, next)
		if request != nil {
			called, calls = append(called, t), append(calls, FaultCall{PodIP: t.pod.Status.PodIP, FaultRequest: *request})
		}
	}
	if len(calls) > 0 {
		for i, answer := range run.Processes.Faults(ctx, secret, calls) {
			out = both(out, take(run, called[i], answer))
		}
	}
	return out, nil
}

// prepare looks at a target and either settles it, deletes its pod, or returns what its agent is to be asked.
func prepare(ctx context.Context, run *Run, t *target, loadOver bool) (*wire.FaultRequest, Outcome, error) {
	pod := &corev1.Pod{}
	pod.Namespace, pod.Name = run.Namespace, t.entry.Pod
	found, err := run.Cluster.Get(ctx, pod)
	if err != nil {
		return nil, Outcome{}, err
	}
	if found && string(pod.UID) == t.entry.PodUID {
		t.pod = pod
	}
	if loadOver && !begun(ctx, run, t.entry, pod) {
		return nil, unconfirmed(t.entry, "the load had ended, and the node's agent tells of no such fault: it was not injected afterwards"), nil
	}
	if t.fault.Action == v1alpha1.ActionDeletePod {
		return deletePod(ctx, run, t)
	}
	if t.pod == nil {
		return nil, unconfirmed(t.entry, "the pod was gone before the fault: another pod under its name is not hit instead"), nil
	}
	request := requestOf(t, wire.FaultAction(t.fault.Action))
	if t.fault.Action == v1alpha1.ActionPartition {
		if request.Addresses, err = cutOff(ctx, run, t.fault, t.pod); err != nil {
			return nil, Outcome{}, err
		}
		if len(request.Addresses) == 0 {
			return nil, take(run, t, FaultAnswer{Err: errors.New("no pod of the experiment has an address to cut off")}), nil
		}
	}
	return request, Done(), nil
}

func requestOf(t *target, action wire.FaultAction) *wire.FaultRequest {
	hold := t.fault.HoldSeconds * 1000
	if t.fault.HoldSeconds < 0 {
		hold = -1
	}
	return &wire.FaultRequest{Name: t.entry.Name, PodUID: t.entry.PodUID, Action: action, HoldMilliseconds: hold}
}

// take writes down what an agent answered.
func take(run *Run, t *target, answer FaultAnswer) Outcome {
	e := t.entry
	if answer.Err != nil {
		if silentTooLong(run, e) {
			return unconfirmed(e, fmt.Sprintf("the node's agent did not take the fault: %v", answer.Err))
		}
		return Wait(300*time.Millisecond, reasonInjecting, "fault %s: the agent of pod %s does not answer", e.Name, e.Pod)
	}
	if t.fault.Action == v1alpha1.ActionDeletePod { // the answer is about its hold
		if answer.InjectedAt == nil {
			return unconfirmed(e, answer.Evidence)
		}
		return aboutToDelete(e)
	}
	e.InjectedTime, e.Evidence = answer.InjectedAt, answer.Evidence
	switch {
	case answer.Settled && answer.Confirmed:
		e.Confirmed = metav1.ConditionTrue
		return Done()
	case answer.Settled:
		return unconfirmed(e, answer.Evidence)
	case e.InjectedTime != nil && run.Now().Sub(e.InjectedTime.Time) > confirmPatience:
		return unconfirmed(e, fmt.Sprintf("its effect was not seen within %s", confirmPatience))
	}
	return Wait(200*time.Millisecond, "Confirming", "fault %s: waiting for its effect", e.Name)
}

// silentTooLong counts from the time of the fault, or from when this operator, who may be late, found an agent silent.
func silentTooLong(run *Run, e *v1alpha1.FaultStatus) bool {
	return run.Now().Sub(e.PlannedTime.Time) > agentPatience &&
		pendingReason(run, v1alpha1.ConditionFaultsInjected) == reasonInjecting && since(run, v1alpha1.ConditionFaultsInjected) > agentPatience
}

// begun tells whether a fault was injected already, perhaps by an operator that could not write it down any more.
func begun(ctx context.Context, run *Run, e *v1alpha1.FaultStatus, pod *corev1.Pod) bool {
	if e.InjectedTime != nil || e.Evidence == evidenceDeleting {
		return true
	}
	if pod.Status.PodIP == "" {
		return false
	}
	_, err := run.Processes.FaultState(ctx, pod.Status.PodIP, e.Name)
	return err == nil
}

func unconfirmed(e *v1alpha1.FaultStatus, evidence string) Outcome {
	e.Confirmed, e.Evidence = metav1.ConditionFalse, evidence
	return Done()
}

// evidenceDeleting stands in the status before a pod is deleted.
const evidenceDeleting = "the pod is being deleted"

// deletePod deletes the pod by its UID. A hold is left on the node's volume first, for the next pod: that is what its agent is asked for.
func deletePod(ctx context.Context, run *Run, t *target) (*wire.FaultRequest, Outcome, error) {
	e := t.entry
	gone := t.pod == nil
	switch {
	case gone && e.InjectedTime == nil && e.Evidence == evidenceDeleting:
		return nil, unconfirmed(e, "the pod is gone, but the operator was stopped while it deleted it: when that was is not known"), nil
	case gone && e.InjectedTime == nil:
		return nil, unconfirmed(e, "the pod was gone before the fault"), nil
	case gone:
		e.Confirmed, e.Evidence = metav1.ConditionTrue, "the pod with this UID is gone"
		return nil, Done(), nil
	case e.InjectedTime == nil && !t.pod.DeletionTimestamp.IsZero():
		return nil, unconfirmed(e, "the pod was being deleted already, by the operator before it was stopped or by somebody else: since when is not known"), nil
	case e.InjectedTime != nil:
		return nil, awaitGone(e), nil
	case e.Evidence != evidenceDeleting && t.fault.HoldSeconds != 0:
		return requestOf(t, wire.FaultHold), Done(), nil
	case e.Evidence != evidenceDeleting:
		return nil, aboutToDelete(e), nil
	}
	now := metav1.NewMicroTime(run.Now())
	if err := run.Cluster.DeletePod(ctx, keyOf(t.pod), t.pod.UID, t.fault.GracePeriodSeconds); err != nil {
		return nil, Outcome{}, err
	}
	e.InjectedTime = &now
	if run.clock != nil { // the API server may have taken the request as late as it answered
		e.Clock = run.clock.DeepCopy()
		e.Clock.LeastAheadMicroseconds -= run.Now().Sub(now.Time).Microseconds()
	}
	return nil, awaitGone(e), nil
}

// aboutToDelete writes the intent down; the next pass deletes.
func aboutToDelete(e *v1alpha1.FaultStatus) Outcome {
	e.Evidence = evidenceDeleting
	return Wait(0, "Deleting", "fault %s: about to delete pod %s", e.Name, e.Pod)
}

func awaitGone(e *v1alpha1.FaultStatus) Outcome {
	return Wait(300*time.Millisecond, "Confirming", "fault %s: waiting for the pod to go", e.Name)
}
