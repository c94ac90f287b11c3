package experiment

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/controllers/experiment/fault"
	"replab.dev/internal/plan"
)

const (
	// settleTimeout is how long the nodes may take to come to rest once all holds with an end have ended.
	settleTimeout = 2 * time.Minute
	// finishTimeout is how long they may take for the last writes of the probes.
	finishTimeout = time.Minute

	finishingMessage = "the ledger is closed; waiting until every node has applied all writes"
)

// finisher has the recorder write its results; again and again with the same effect.
type finisher interface {
	FinishRecorder(ctx context.Context, token, url string) error
}

// settle waits for the end of the holds, of the distance and of a failover, closes the recorder's ledger, and waits until each node has
// applied everything: from then on the tables do not change.
func settle(ctx context.Context, run *Run) (Outcome, error) {
	scene, err := sceneOf(ctx, run)
	if err != nil {
		return Outcome{}, err
	}
	fault.Keep(ctx, scene)
	if out, err := letGo(ctx, run, scene); err != nil || !out.Done {
		return out, err
	}
	state, err := run.Snapshot.State(ctx)
	if err != nil {
		return Outcome{}, err
	}
	settled, why := state.Settled(fault.Leaves(scene))
	over := run.Now().After(restFrom(run).Add(settleTimeout))
	closed, since := reached(run, v1alpha1.MilestoneLedgerClosed)
	switch {
	case !settled && !over && !closed:
		return Wait(500*time.Millisecond, v1alpha1.ReasonSettling, "waiting until the nodes have come to rest"), nil
	case len(state.Writers) == 0 && over:
		return Terminal(v1alpha1.ReasonTimeout, "no primary %s after the load: %s", settleTimeout, why), nil
	case !closed:
		return finishRecorder(ctx, run)
	case since < newsAfter(run):
		return Wait(newsAfter(run)-since, v1alpha1.ReasonFinishing, finishingMessage), nil
	case !settled && since < finishTimeout:
		return Wait(500*time.Millisecond, v1alpha1.ReasonFinishing, finishingMessage), nil
	}
	run.Status.Rest = &v1alpha1.RestStatus{AtRest: metav1.ConditionTrue}
	if !settled {
		run.Status.Rest = &v1alpha1.RestStatus{AtRest: metav1.ConditionFalse, Note: why}
	}
	return Done(), nil
}

// letGo waits for the end of the holds that have one, and ends the distance.
func letGo(ctx context.Context, run *Run, scene *fault.Scene) (Outcome, error) {
	if out := fault.Held(ctx, scene); !out.Done {
		return out, nil
	}
	return endDistance(ctx, run)
}

// restFrom is when nothing of the experiment's own kept the nodes from coming to rest any more.
func restFrom(run *Run) time.Time {
	from := run.Now()
	if c := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionLoadFinished); c != nil {
		from = c.LastTransitionTime.Time
	}
	if d := run.Status.Distance; d != nil && d.RemovedTime != nil && d.RemovedTime.After(from) {
		from = d.RemovedTime.Time
	}
	for _, f := range run.Status.Faults {
		if f.ReleasedTime != nil && f.ReleasedTime.After(from) {
			from = f.ReleasedTime.Time
		}
	}
	return from
}

// finishRecorder ends the probes, whose last writes the nodes then have to apply too.
func finishRecorder(ctx context.Context, run *Run) (Outcome, error) {
	token, err := run.Snapshot.Token(ctx)
	if err != nil {
		return Outcome{}, err
	}
	if err := run.Processes.FinishRecorder(ctx, token, plan.RecorderURL(run.Input)); err != nil {
		return waitForRecorder(run, err)
	}
	reach(run, v1alpha1.MilestoneLedgerClosed)
	return Wait(newsAfter(run), v1alpha1.ReasonFinishing, finishingMessage), nil
}

// newsAfter is how long after the last writes what the topology tells is of a look at its nodes since: the look that was under way
// ends, and another begins and ends.
func newsAfter(run *Run) time.Duration {
	return time.Second + 2*time.Duration(run.Spec.Topology.Director.PeriodMilliseconds)*time.Millisecond
}
