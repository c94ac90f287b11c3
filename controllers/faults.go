package controllers

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/topology"
)

const (
	// aimAhead is how long before a fault its target is written down, so that it can be injected on time.
	aimAhead = 1500 * time.Millisecond
	// agentPatience is how long an agent may stay silent before the fault counts as not injected.
	agentPatience = 20 * time.Second
	// confirmPatience is how long an effect may take to show: longer than any agent waits for it.
	confirmPatience = 20 * time.Second
)

// injectFaults injects the faults at their times. The targets of each, pods and UIDs, are written into the status before anything
// happens to them; acting again does no harm, since agents remember faults by their name and a pod is deleted by its UID.
func injectFaults(ctx context.Context, run *Run) (Outcome, error) {
	loadOver, out, err := watchLoad(ctx, run)
	if err != nil || out.terminal {
		return out, err
	}
	var due []*target
	ahead := Done()
	for _, f := range inOrder(run.Spec.Faults) {
		planned := loadStart(run).Add(time.Duration(f.AtSeconds) * time.Second)
		entries := entriesOf(run, f.Name)
		switch wait := planned.Sub(run.Now()); {
		case len(entries) == 0 && wait > aimAhead:
			ahead = both(ahead, Wait(min(wait-aimAhead, time.Second), "Waiting", "fault %s is planned for %d s after the start of the load", f.Name, f.AtSeconds))
		case len(entries) == 0:
			out, err := aim(ctx, run, f, planned)
			if err != nil || out.terminal {
				return out, err
			}
			ahead = both(ahead, out)
		case wait > 0:
			ahead = both(ahead, Wait(wait, "Aimed", "fault %s: its target is written down", f.Name))
		default:
			for _, e := range entries {
				due = append(due, &target{fault: f, entry: e})
			}
		}
	}
	out, err = inject(ctx, run, due, loadOver)
	return both(out, ahead), err
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
	nodes := state.Targets(f)
	if len(nodes) == 0 {
		if run.Now().Sub(planned) < agentPatience {
			return Wait(200*time.Millisecond, "Aiming", "fault %s: no node has the role %s", f.Name, f.Target), nil
		}
		return Terminal(v1alpha1.ReasonFaultImpossible, "fault %s: no node has the role %s (%s)", f.Name, f.Target, state.Why), nil
	}
	for i, node := range nodes {
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
			Name: name, Fault: f.Name, Pod: node.Name, PodUID: string(pod.UID), Role: topology.StatusRole(node.Role),
			PlannedTime: metav1.NewMicroTime(planned), Confirmed: metav1.ConditionUnknown,
		}
		if !found {
			entry.Confirmed, entry.Evidence = metav1.ConditionFalse, "the pod does not exist"
		}
		run.Status.Faults = append(run.Status.Faults, entry)
	}
	return Wait(0, "Aimed", "fault %s: its target is written down", f.Name), nil
}
