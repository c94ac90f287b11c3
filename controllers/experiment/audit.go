package experiment

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/controllers/experiment/fault"
	"replab.dev/internal/kube"
	"replab.dev/internal/plan"
	"replab.dev/internal/topology"
	"replab.dev/internal/topology/registry"
	"replab.dev/internal/verdict/finding"
	"replab.dev/internal/wire"
)

const (
	// rejoinTimeout is how long nodes may take to be brought back once the writes are counted.
	rejoinTimeout = 2 * time.Minute
	// askPatience is how long a topology may not answer once its state is needed.
	askPatience = 2 * time.Minute

	rejoiningMessage = "the writes are counted; held and old nodes are brought back"
)

// audit compares the ledger with the tables, lets go of what was held until then, and has the old primaries rebuilt,
// whose ghosts are now counted.
func audit(ctx context.Context, run *Run) (Outcome, error) {
	if counted, since := reached(run, v1alpha1.MilestoneCounted); counted {
		return rejoin(ctx, run, since)
	}
	scene, err := sceneOf(ctx, run)
	if err != nil {
		return Outcome{}, err
	}
	fault.Keep(ctx, scene)
	state, err := run.Snapshot.State(ctx)
	if err != nil {
		return Outcome{}, err
	}
	objects, planned, err := plan.Audit(run.Input, state)
	if err != nil {
		return Outcome{}, err
	}
	status, job, err := jobOf(ctx, run, planned)
	switch {
	case err != nil:
		return Outcome{}, err
	case status == jobFailed:
		return Terminal(v1alpha1.ReasonAuditFailed, "Job %s failed: %s", job.Name, lastWords(ctx, run, job)), nil
	case status == jobComplete:
		return counted(ctx, run, state)
	case status == jobRunning:
		if out, err := diagnosePods(ctx, run, false); err != nil || out.Terminal {
			return out, err
		}
		return Wait(500*time.Millisecond, v1alpha1.ReasonCounting, "the audit is running"), nil
	}
	if !state.Known {
		return askAgain(run, state), nil
	}
	return startAudit(ctx, run, objects, planned)
}

// askAgain bears a topology that does not answer, for a while.
func askAgain(run *Run, state topology.State) Outcome {
	if waited(run, v1alpha1.AwaitedTopology) > askPatience {
		return Terminal(v1alpha1.ReasonAuditFailed, "the nodes' roles could not be learnt for %s: %s", askPatience, state.Why)
	}
	return Wait(time.Second, v1alpha1.ReasonAsking, "asking the topology for the nodes' roles")
}

func startAudit(ctx context.Context, run *Run, objects []kube.Object, planned *batchv1.Job) (Outcome, error) {
	for _, o := range objects {
		if err := run.Cluster.Apply(ctx, run.ReplicationExperiment, o); err != nil {
			return refused(run, err)
		}
	}
	if err := run.Cluster.Create(ctx, run.ReplicationExperiment, planned); err != nil {
		return refused(run, err)
	}
	return Wait(500*time.Millisecond, v1alpha1.ReasonCounting, "the audit is running"), nil
}

// counted is the moment to which the holds without an end were to last. Who takes the writes then is written down: a node that is let go
// may take them back.
func counted(ctx context.Context, run *Run, state topology.State) (Outcome, error) {
	scene, err := sceneOf(ctx, run)
	if err != nil {
		return Outcome{}, err
	}
	if out := fault.Standing(ctx, scene); !out.Done {
		return out, nil
	}
	if (!state.Known || state.FailingOver() || len(silentUnheld(scene, state)) > 0) && waited(run, v1alpha1.AwaitedTopology) < judgePatience {
		return Wait(time.Second, v1alpha1.ReasonAsking, "the writes are counted; asking the topology which node takes writes"), nil
	}
	if run.Status.Rest != nil {
		run.Status.Rest.Writers = state.Writers
	}
	reach(run, v1alpha1.MilestoneCounted)
	return Wait(0, v1alpha1.ReasonRejoining, rejoiningMessage), nil
}

// silentUnheld are the nodes that did not answer, though no fault is to keep them down until the audit is done: they may soon, and one of them may
// take the writes.
func silentUnheld(scene *fault.Scene, state topology.State) []string {
	held := fault.Leaves(scene)
	return slices.DeleteFunc(slices.Clone(state.Silent), func(node string) bool { return held[node] == topology.MayBeDown })
}

// rejoin waits for nodes to be brought back. One that is not is named in the notes, and changes no verdict. Those that are back are compared.
func rejoin(ctx context.Context, run *Run, since time.Duration) (Outcome, error) {
	scene, err := sceneOf(ctx, run)
	if err != nil {
		return Outcome{}, err
	}
	state, err := run.Snapshot.State(ctx)
	if err != nil {
		return Outcome{}, err
	}
	waiting := bringBack(ctx, run, scene, state)
	patience := rejoinTimeout
	if !state.Known { // who is back is compared: it may be known soon
		patience, waiting = recountTimeout, waiting+" unknown, since "+state.Why
	}
	if waiting != "" && since <= patience {
		return Wait(500*time.Millisecond, v1alpha1.ReasonRejoining, rejoiningMessage), nil
	}
	out, err := recount(ctx, run, state, since)
	if err == nil && out.Done && waiting != "" {
		run.Status.Notes = append(run.Status.Notes, finding.Of(finding.NotBackAfterAudit, patience, strings.TrimSpace(waiting)).String())
	}
	return out, err
}

// bringBack lets go of what was held and has nodes rebuilt, as far as that is not under way, and names those that are not in their places.
func bringBack(ctx context.Context, run *Run, scene *fault.Scene, state topology.State) (waiting string) {
	if err := fault.Release(ctx, scene); err != nil {
		waiting += " " + err.Error() + ";"
	}
	for _, n := range state.Nodes {
		if n.Role == topology.Isolated && n.Rejoin == "" {
			if err := askToRejoin(ctx, run, n.Name); err != nil {
				waiting += " " + err.Error() + ";"
			}
		}
		if !backInPlace(n, state, writersCounted(run)) {
			waiting += " " + n.Name
		}
	}
	return waiting
}

// backInPlace tells whether a node is where it belongs. The one writer has all that there is if it took the writes when they were counted;
// one that has taken them back since must have caught up.
func backInPlace(n topology.NodeState, state topology.State, counted []string) bool {
	switch n.Role {
	case topology.Writer:
		return n.CaughtUp || n.Stopped || len(state.Writers) < 2 && (len(counted) == 0 || slices.Contains(counted, n.Name))
	case topology.Reader:
		return n.CaughtUp
	default:
		return n.Rejoin == wire.RejoinFailed
	}
}

func askToRejoin(ctx context.Context, run *Run, node string) error {
	driver, err := registry.For(run.Spec.Topology)
	if err != nil {
		return err
	}
	rebuilds, ok := driver.(topology.Rebuilder)
	if !ok {
		return fmt.Errorf("node %s is isolated, and its topology rebuilds no nodes", node)
	}
	secret, err := run.Snapshot.Token(ctx)
	if err != nil {
		return err
	}
	_, err = run.Processes.Send(ctx, secret, rebuilds.Rejoin(plan.Params(run.Input), node))
	return err
}
