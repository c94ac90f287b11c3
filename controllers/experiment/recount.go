package experiment

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/controllers/experiment/fault"
	"replab.dev/internal/plan"
	"replab.dev/internal/topology"
	"replab.dev/internal/wire"
)

// recountTimeout is how long after the audit the nodes that are back may take to be compared.
const recountTimeout = 2 * rejoinTimeout

// recount compares the tables of nodes that are back since the audit, rebuilt or let go of, with those of the node that the audit compared
// all with. That it could not be done ends nothing: the verdict says so.
func recount(ctx context.Context, run *Run, state topology.State, since time.Duration) (Outcome, error) {
	with := comparedWith(run, state)
	back, err := backSinceTheAudit(ctx, run, state, with)
	if err != nil || len(back) == 0 {
		return Done(), err
	}
	objects, planned, err := plan.Recount(run.Input, with, back)
	if err != nil {
		return Outcome{}, err
	}
	status, job, err := jobOf(ctx, run, planned)
	switch {
	case err != nil:
		return Outcome{}, err
	case status == jobComplete:
		return compared(ctx, run, back)
	case status == jobFailed:
		return notRecounted(run, back, lastWords(ctx, run, job)), nil
	case since > recountTimeout:
		return notRecounted(run, back, fmt.Sprintf("they were not %s after the audit", recountTimeout)), nil
	case status == jobRunning:
		return Wait(500*time.Millisecond, v1alpha1.ReasonComparing, "comparing the rows of the nodes that are back"), nil
	case state.Independent && !backInPlace(state.Node(with), state, writersCounted(run)):
		return notRecounted(run, back, with+" had not applied what the others sent"), nil
	}
	return startAudit(ctx, run, objects, planned)
}

// compared says which of the nodes that are back by now the comparison left out: they came back when it had begun.
func compared(ctx context.Context, run *Run, back []string) (Outcome, error) {
	result, err := recountResult(ctx, run)
	switch {
	case err != nil:
		return Outcome{}, err
	case result == nil:
		return notRecounted(run, back, "their audit left no result"), nil
	case result.Failed != "": // the verdict says so
		return Done(), nil
	}
	left := slices.DeleteFunc(back, func(node string) bool {
		return slices.ContainsFunc(result.Nodes, func(n wire.AuditedNode) bool { return n.Name == node })
	})
	if len(left) > 0 {
		return notRecounted(run, left, "the others were being compared by then"), nil
	}
	return Done(), nil
}

func notRecounted(run *Run, back []string, why string) Outcome {
	if run.Status.Rest == nil {
		run.Status.Rest = &v1alpha1.RestStatus{AtRest: metav1.ConditionUnknown}
	}
	run.Status.Rest.RecountFailed = strings.Join(back, ", ") + ": " + why
	return Done()
}

// comparedWith is the first that took the writes when the tables were compared: "" without one.
func comparedWith(run *Run, state topology.State) string {
	for _, writers := range [][]string{writersCounted(run), state.Writers} {
		if len(writers) > 0 {
			return writers[0]
		}
	}
	return ""
}

// writersCounted are the nodes that took the writes when they were counted, none where that is not known.
func writersCounted(run *Run) []string {
	if run.Status.Rest == nil {
		return nil
	}
	return run.Status.Rest.Writers
}

// backSinceTheAudit are the nodes that had not been in their places when the tables were compared, and are now: also one that takes the
// writes again.
func backSinceTheAudit(ctx context.Context, run *Run, state topology.State, with string) ([]string, error) {
	scene, err := sceneOf(ctx, run)
	if err != nil {
		return nil, err
	}
	return returned(state, with, writersCounted(run), fault.Leaves(scene)), nil
}

// returned are those of the nodes that the holds until the audit excused, or that were rebuilt. A hold on one of independent nodes keeps its
// writes from the others too.
func returned(state topology.State, with string, counted []string, held map[string]topology.Leave) []string {
	var back []string
	for _, n := range state.Nodes {
		serves := n.Role == topology.Reader || n.Role == topology.Writer
		away := n.Rejoin == wire.RejoinDone || held[n.Name] > topology.MustRest || state.Independent && len(held) > 0
		if serves && n.Name != with && away && backInPlace(n, state, counted) {
			back = append(back, n.Name)
		}
	}
	return back
}
