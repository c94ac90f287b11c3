package controllers

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/protocol"
	"replab.dev/internal/topology"
)

const (
	// aimAhead is how long before a fault its target is written down, so that it can be injected on time.
	aimAhead = 1500 * time.Millisecond
	// agentPatience is how long an agent may stay silent before the fault counts as not injected.
	agentPatience = 20 * time.Second
	// confirmPatience is how long an effect may take to show.
	confirmPatience = 20 * time.Second
)

// injectFaults takes the faults in the order of their time. The target of each, pod and UID, is written into the status
// before anything happens to it; acting again does no harm, since agents remember faults by their name and a pod is deleted by its UID.
func injectFaults(ctx context.Context, run *Run) (Outcome, error) {
	loadOver, out, err := watchLoad(ctx, run)
	if err != nil || out.terminal {
		return out, err
	}
	for _, f := range inOrder(run.Spec.Faults) {
		planned := loadStart(run).Add(time.Duration(f.AtSeconds) * time.Second)
		entries := entriesOf(run, f.Name)
		if len(entries) == 0 {
			if wait := planned.Add(-aimAhead).Sub(run.Now()); wait > 0 {
				return Wait(min(wait, time.Second), "Waiting", "fault %s is planned for %d s after the start of the load", f.Name, f.AtSeconds), nil
			}
			return aim(ctx, run, f, planned)
		}
		if wait := planned.Sub(run.Now()); wait > 0 {
			return Wait(wait, "Aimed", "fault %s: its target is written down", f.Name), nil
		}
		for _, e := range entries {
			if loadOver && e.Confirmed == metav1.ConditionUnknown && !begun(ctx, run, e) {
				unconfirmed(e, "the load had ended, and the node's agent tells of no such fault: it was not injected afterwards")
				continue
			}
			if out, err := inject(ctx, run, f, e); err != nil || !out.done {
				return out, err
			}
		}
	}
	return Done(), nil
}

func inOrder(faults []v1alpha1.Fault) []v1alpha1.Fault {
	return slices.SortedStableFunc(slices.Values(faults), func(a, b v1alpha1.Fault) int { return int(a.AtSeconds - b.AtSeconds) })
}

func entriesOf(run *Run, fault string) []*v1alpha1.FaultStatus {
	var entries []*v1alpha1.FaultStatus
	for i := range run.Status.Faults {
		if run.Status.Faults[i].Fault == fault {
			entries = append(entries, &run.Status.Faults[i])
		}
	}
	return entries
}

// aim chooses the pods that a fault hits by the roles of this moment. Returning writes them down.
func aim(ctx context.Context, run *Run, f v1alpha1.Fault, planned time.Time) (Outcome, error) {
	state, err := observe(ctx, run)
	if err != nil {
		return Outcome{}, err
	}
	targets := targets(f, state)
	if len(targets) == 0 {
		if run.Now().Sub(planned) < agentPatience {
			return Wait(200*time.Millisecond, "Aiming", "fault %s: no node has the role %s", f.Name, f.Target), nil
		}
		return Terminal(v1alpha1.ReasonFaultImpossible, "fault %s: no node has the role %s (%s)", f.Name, f.Target, state.Why), nil
	}
	for i, node := range targets {
		pod := &corev1.Pod{}
		pod.Namespace, pod.Name = run.Namespace, node.Name
		found, err := run.Cluster.Get(ctx, pod)
		if err != nil {
			return Outcome{}, err
		}
		name := f.Name
		if i > 0 {
			name = fmt.Sprintf("%s.%d", f.Name, i+1) // no fault of a spec has a dot in its name
		}
		entry := v1alpha1.FaultStatus{
			Name: name, Fault: f.Name, Pod: node.Name, PodUID: string(pod.UID), Role: string(node.Role),
			PlannedTime: metav1.NewMicroTime(planned), Confirmed: metav1.ConditionUnknown,
		}
		if !found {
			entry.Confirmed, entry.Evidence = metav1.ConditionFalse, "the pod does not exist"
		}
		run.Status.Faults = append(run.Status.Faults, entry)
	}
	return Wait(0, "Aimed", "fault %s: its target is written down", f.Name), nil
}

// targets are nodes by their role; a node that is down can be hit only by its number.
func targets(f v1alpha1.Fault, state topology.State) []topology.NodeState {
	var found []topology.NodeState
	for i, n := range state.Nodes {
		switch f.Target {
		case v1alpha1.TargetPrimary:
			if n.Name == state.Primary {
				found = append(found, n)
			}
		case v1alpha1.TargetReplica, v1alpha1.TargetAllReplicas:
			if n.Role == protocol.RoleReplica {
				found = append(found, n)
			}
		case v1alpha1.TargetNode:
			if f.Node != nil && int(*f.Node) == i {
				found = append(found, n)
			}
		}
	}
	if f.Target == v1alpha1.TargetReplica && len(found) > 1 {
		found = found[:1]
	}
	return found
}

// inject acts on one target and waits until the effect was seen, or until it is clear that it was not.
func inject(ctx context.Context, run *Run, f v1alpha1.Fault, e *v1alpha1.FaultStatus) (Outcome, error) {
	if e.Confirmed != metav1.ConditionUnknown {
		return Done(), nil
	}
	pod := &corev1.Pod{}
	pod.Namespace, pod.Name = run.Namespace, e.Pod
	found, err := run.Cluster.Get(ctx, pod)
	if err != nil {
		return Outcome{}, err
	}
	if f.Action == v1alpha1.ActionDeletePod {
		return deletePod(ctx, run, f, e, pod, found)
	}
	if !found || string(pod.UID) != e.PodUID {
		return unconfirmed(e, "the pod was gone before the fault: another pod under its name is not hit instead"), nil
	}
	record, err := askForFault(ctx, run, f, e, pod)
	if err != nil {
		if late := run.Now().Sub(e.PlannedTime.Time); late > agentPatience {
			return unconfirmed(e, fmt.Sprintf("the node's agent did not take the fault: %v", err)), nil
		}
		return Wait(300*time.Millisecond, "Injecting", "fault %s: the agent of pod %s does not answer", e.Name, e.Pod), nil
	}
	e.InjectedTime, e.Evidence = record.InjectedAt, record.Evidence
	switch {
	case record.Confirmed:
		e.Confirmed = metav1.ConditionTrue
		return Done(), nil
	case run.Now().Sub(e.PlannedTime.Time) > confirmPatience:
		return unconfirmed(e, record.Evidence), nil
	}
	return Wait(200*time.Millisecond, "Confirming", "fault %s: waiting for its effect", e.Name), nil
}

func askForFault(ctx context.Context, run *Run, f v1alpha1.Fault, e *v1alpha1.FaultStatus, pod *corev1.Pod) (protocol.FaultRecord, error) {
	secret, err := token(ctx, run)
	if err != nil {
		return protocol.FaultRecord{}, err
	}
	request := protocol.FaultRequest{
		Name: e.Name, PodUID: e.PodUID, Action: protocol.FaultAction(f.Action), HoldMilliseconds: hold(f),
	}
	if f.Action == v1alpha1.ActionPartition {
		if request.Addresses, err = cutOff(ctx, run, f, pod); err != nil {
			return protocol.FaultRecord{}, err
		}
	}
	return run.Processes.Fault(ctx, secret, pod.Status.PodIP, request)
}

func hold(f v1alpha1.Fault) int64 {
	if f.HoldSeconds < 0 {
		return -1
	}
	return f.HoldSeconds * 1000
}

// begun tells whether a fault was injected already, perhaps by an operator that could not write it down any more.
func begun(ctx context.Context, run *Run, e *v1alpha1.FaultStatus) bool {
	if e.InjectedTime != nil || e.Evidence == evidenceDeleting {
		return true
	}
	pod := &corev1.Pod{}
	pod.Namespace, pod.Name = run.Namespace, e.Pod
	if found, err := run.Cluster.Get(ctx, pod); err != nil || !found {
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

// deletePod deletes the pod by its UID. A hold is left on the node's volume first, for the next pod.
func deletePod(ctx context.Context, run *Run, f v1alpha1.Fault, e *v1alpha1.FaultStatus, pod *corev1.Pod, found bool) (Outcome, error) {
	gone := !found || string(pod.UID) != e.PodUID
	switch {
	case gone && e.InjectedTime == nil && e.Evidence == evidenceDeleting:
		return unconfirmed(e, "the pod is gone, but the operator was stopped while it deleted it: when that was is not known"), nil
	case gone && e.InjectedTime == nil:
		return unconfirmed(e, "the pod was gone before the fault"), nil
	case gone:
		e.Confirmed, e.Evidence = metav1.ConditionTrue, "the pod with this UID is gone"
		return Done(), nil
	case e.InjectedTime != nil:
		return Wait(300*time.Millisecond, "Confirming", "fault %s: waiting for the pod to go", e.Name), nil
	}
	if f.HoldSeconds != 0 {
		secret, err := token(ctx, run)
		if err != nil {
			return Outcome{}, err
		}
		request := protocol.FaultRequest{Name: e.Name, PodUID: e.PodUID, Action: protocol.FaultHold, HoldMilliseconds: hold(f)}
		if _, err := run.Processes.Fault(ctx, secret, pod.Status.PodIP, request); err != nil {
			if run.Now().Sub(e.PlannedTime.Time) > agentPatience {
				return unconfirmed(e, fmt.Sprintf("the node's agent did not take the hold: %v", err)), nil
			}
			return Wait(300*time.Millisecond, "Injecting", "fault %s: the agent of pod %s does not answer", e.Name, e.Pod), nil
		}
	}
	if e.Evidence != evidenceDeleting {
		e.Evidence = evidenceDeleting
		return Wait(0, "Deleting", "fault %s: about to delete pod %s", e.Name, e.Pod), nil
	}
	now := metav1.NewMicroTime(run.Now())
	if err := run.Cluster.DeletePod(ctx, keyOf(pod), pod.UID, f.GracePeriodSeconds); err != nil {
		return Outcome{}, err
	}
	e.InjectedTime = &now
	return Wait(300*time.Millisecond, "Confirming", "fault %s: waiting for the pod to go", e.Name), nil
}
