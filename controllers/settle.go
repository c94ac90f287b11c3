package controllers

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/plan"
	"replab.dev/internal/topology"
)

const (
	// settleTimeout is how long the nodes may take to come to rest once all holds with an end have ended.
	settleTimeout = 2 * time.Minute
	// finishTimeout is how long they may take for the last writes of the probes.
	finishTimeout = time.Minute

	// reasonFinishing tells that the ledger is closed: a step that waits for it never goes back.
	reasonFinishing  = "Finishing"
	finishingMessage = "the ledger is closed; waiting until every node has applied all of it"
)

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
	over := run.Now().After(restFrom(run).Add(settleTimeout))
	finishing := pendingReason(run, v1alpha1.ConditionSettled) == reasonFinishing
	switch {
	case !settled && !over && !finishing:
		return Wait(500*time.Millisecond, "Settling", "waiting until the nodes have come to rest"), nil
	case len(state.Writers) == 0 && over:
		return Terminal(v1alpha1.ReasonTimeout, "no primary %s after the load: %s", settleTimeout, why), nil
	case !finishing:
		return finishWitness(ctx, run)
	case !settled && since(run, v1alpha1.ConditionSettled) < finishTimeout:
		return Wait(500*time.Millisecond, reasonFinishing, finishingMessage), nil
	case !settled:
		run.Status.Reasons = append(run.Status.Reasons, fmt.Sprintf("The nodes had not come to rest when they were audited: %s.", why))
	}
	return Done(), nil
}

// restFrom is when nothing of the experiment's own kept the nodes from coming to rest any more.
func restFrom(run *Run) time.Time {
	from := run.Now()
	if c := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionLoadFinished); c != nil {
		from = c.LastTransitionTime.Time
	}
	for _, f := range run.Status.Faults {
		if f.ReleasedTime != nil && f.ReleasedTime.After(from) {
			from = f.ReleasedTime.Time
		}
	}
	return from
}

// finishWitness ends the probes, whose last writes the nodes then have to apply too.
func finishWitness(ctx context.Context, run *Run) (Outcome, error) {
	secret, err := token(ctx, run)
	if err != nil {
		return Outcome{}, err
	}
	if err := run.Processes.FinishWitness(ctx, secret, plan.WitnessURL(run.Input)); err != nil {
		return waitForWitness(run, v1alpha1.ConditionSettled, err)
	}
	// Long enough for the topology to look at its nodes again: what it told was from before the last writes.
	return Wait(time.Second, reasonFinishing, finishingMessage), nil
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
			if e.ReleasedTime = released; released == nil && run.Now().Before(holdEnd(e, f).Add(agentPatience)) {
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

func holdEnd(e *v1alpha1.FaultStatus, f *v1alpha1.Fault) time.Time {
	return e.InjectedTime.Add(time.Duration(f.HoldSeconds) * time.Second)
}

// releasedAt asks the node's agent, nil when it has not let go or cannot be asked.
func releasedAt(ctx context.Context, run *Run, e *v1alpha1.FaultStatus, f *v1alpha1.Fault) (*metav1.MicroTime, error) {
	if run.Now().Before(holdEnd(e, f)) {
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
