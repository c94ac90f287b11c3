package controllers

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/topology"
)

// TestEvidenceIsNotTheStatus, which the verdict writes while it reads the evidence.
func TestEvidenceIsNotTheStatus(t *testing.T) {
	run := (&scene{}).run(t)
	e, err := collect(t.Context(), run)
	if err != nil || e.Distance != nil {
		t.Fatalf("without links: %+v, %v", e.Distance, err)
	}
	run.Status.Distance = &v1alpha1.DistanceStatus{Nodes: []v1alpha1.LinkedNodeStatus{{Name: "x-db-0"}}}
	if e, err = collect(t.Context(), run); err != nil || e.Distance == nil || len(e.Distance.Nodes) != 1 {
		t.Fatalf("with links: %+v, %v", e.Distance, err)
	}
	run.Status.Distance.Nodes[0].Problem = v1alpha1.LinkNotInStage
	if got := e.Distance.Nodes[0].Problem; got != "" {
		t.Errorf("what was written into the status is in the evidence: %s", got)
	}
}

// TestTheVerdictWaitsForNodesThatDoNotAnswer, for a while: what each knows of itself nobody else tells.
func TestTheVerdictWaitsForNodesThatDoNotAnswer(t *testing.T) {
	silent := topology.State{Known: true, Silent: []string{"semisync-db-1"}}
	for name, c := range map[string]struct {
		state  topology.State
		waited time.Duration
		done   bool
	}{
		"all have answered": {topology.State{Known: true}, 0, true},
		"one has not":       {silent, 0, false},
		"one never does":    {silent, time.Minute, true},
		"none has":          {topology.State{Why: "gone"}, 0, false},
		"none ever does":    {topology.State{Why: "gone"}, time.Minute, true},
	} {
		t.Run(name, func(t *testing.T) {
			run := (&scene{}).run(t)
			run.Snapshot.state = part[topology.State]{read: true, value: c.state}
			run.waiting = v1alpha1.ProgressStatus{Awaited: v1alpha1.AwaitedTopology, AwaitedTime: ptr.To(metav1.NewMicroTime(run.Now().Add(-c.waited)))}
			out, err := judge(t.Context(), run)
			if err != nil || out.Done != c.done || (run.Status.Results != "") != c.done {
				t.Errorf("%+v, %v; results %q", out, err, run.Status.Results)
			}
		})
	}
}
