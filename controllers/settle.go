package controllers

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/plan"
	"replab.dev/internal/topology"
)

// settleTimeout is how long the nodes may take to come to rest once all holds with an end have ended.
const settleTimeout = 2 * time.Minute

// settle waits for the end of the holds and of a failover, closes the witness's ledger, and waits until each node has
// applied everything: from then on the tables do not change.
func settle(ctx context.Context, run *Run) (Outcome, error) {
	holding, leave, err := holds(ctx, run)
	if err != nil {
		return Outcome{}, err
	}
	if holding != "" {
		return Wait(500*time.Millisecond, "Holding", "%s", holding), nil
	}
	state, err := observe(ctx, run)
	if err != nil {
		return Outcome{}, err
	}
	settled, why := state.Settled(leave)
	timeout := pendingReason(run, v1alpha1.ConditionSettled) == "Settling" && since(run, v1alpha1.ConditionSettled) > settleTimeout
	if !settled && !timeout {
		return Wait(500*time.Millisecond, "Settling", "waiting until the nodes have come to rest"), nil
	}
	if state.Primary == "" {
		return Terminal(v1alpha1.ReasonTimeout, "no primary %s after the load: %s", settleTimeout, why), nil
	}
	if pendingReason(run, v1alpha1.ConditionSettled) != "Finishing" {
		return finishWitness(ctx, run, settled, why)
	}
	return Done(), nil
}

// finishWitness ends the probes, whose last writes the nodes then have to apply too.
func finishWitness(ctx context.Context, run *Run, settled bool, why string) (Outcome, error) {
	secret, err := token(ctx, run)
	if err != nil {
		return Outcome{}, err
	}
	if err := run.Processes.FinishWitness(ctx, secret, plan.WitnessURL(run.Input)); err != nil {
		return waitForWitness(run, v1alpha1.ConditionSettled, err)
	}
	if !settled {
		run.Status.Reasons = append(run.Status.Reasons, fmt.Sprintf("The nodes had not come to rest %s after the load: %s.", settleTimeout, why))
	}
	// Long enough for the topology to look at its nodes again: what it told was from before the last writes.
	return Wait(time.Second, "Finishing", "the ledger is closed; waiting until every node has applied all of it"), nil
}

// holds tells which holds with an end still stand, and what those until the end of the audit excuse their nodes from.
func holds(ctx context.Context, run *Run) (waiting string, leave map[string]topology.Leave, err error) {
	leave = map[string]topology.Leave{}
	for i := range run.Status.Faults {
		e := &run.Status.Faults[i]
		f := faultOf(run, e.Fault)
		if e.InjectedTime == nil || f == nil || f.HoldSeconds == 0 {
			continue
		}
		if f.HoldSeconds < 0 {
			leave[e.Pod] = max(leave[e.Pod], leaveFor(f))
			continue
		}
		if e.ReleasedTime == nil {
			released, err := releasedAt(ctx, run, e, f)
			if err != nil {
				return "", nil, err
			}
			if e.ReleasedTime = released; released == nil {
				waiting = fmt.Sprintf("fault %s holds for %d s", e.Name, f.HoldSeconds)
			}
		}
	}
	return waiting, leave, nil
}

func leaveFor(f *v1alpha1.Fault) topology.Leave {
	if f.Action == v1alpha1.ActionPartition && f.PartitionFrom != v1alpha1.PartitionEveryone {
		return topology.MayLag
	}
	return topology.MayBeDown
}

// releasedAt asks the node's agent. An agent that cannot be asked is taken to have let go a while after the hold should have ended.
func releasedAt(ctx context.Context, run *Run, e *v1alpha1.FaultStatus, f *v1alpha1.Fault) (*metav1.MicroTime, error) {
	end := metav1.NewMicroTime(e.InjectedTime.Add(time.Duration(f.HoldSeconds) * time.Second))
	if run.Now().Before(end.Time) {
		return nil, nil
	}
	pod := &corev1.Pod{}
	pod.Namespace, pod.Name = run.Namespace, e.Pod
	if found, err := run.Cluster.Get(ctx, pod); err != nil {
		return nil, err
	} else if found && pod.Status.PodIP != "" {
		if record, err := run.Processes.FaultState(ctx, pod.Status.PodIP, e.Name); err == nil {
			return record.ReleasedAt, nil
		}
	}
	if run.Now().After(end.Add(agentPatience)) {
		return &end, nil
	}
	return nil, nil
}

func faultOf(run *Run, name string) *v1alpha1.Fault {
	for i := range run.Spec.Faults {
		if run.Spec.Faults[i].Name == name {
			return &run.Spec.Faults[i]
		}
	}
	return nil
}
