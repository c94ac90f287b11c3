package controllers

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/topology"
	"replab.dev/test/experiment"
)

// TestANodeThatIsRebuiltIsComparedOnceMore, and none else is.
func TestANodeThatIsRebuiltIsComparedOnceMore(t *testing.T) {
	const faults = "  faults: [{name: crash, atSeconds: 15, target: Primary, action: Kill, holdSeconds: 10}]\n"
	for name, text := range map[string]string{"rebuilt": semisync, "without a fault": strings.Replace(semisync, faults, "", 1)} {
		t.Run(name, func(t *testing.T) {
			x := experiment.Parse(t, []byte(text))
			w := newWorld(t, x)
			found := play(t, w, w, x)
			made := strings.Contains(strings.Join(w.log, "\n"), "create *v1.Job/semisync-recount")
			rows := found.Status.Nodes[0].RejoinedRows
			if again := name == "rebuilt"; made != again || again && (rows == nil || *rows != 11_000) || !again && rows != nil {
				t.Errorf("compared again: %v, rows %v: %q", made, rows, found.Status.Reasons)
			}
		})
	}
}

// TestWhoTookTheWritesWhenTheyWereCountedIsWrittenDown, once it is known.
func TestWhoTookTheWritesWhenTheyWereCountedIsWrittenDown(t *testing.T) {
	two := topology.State{Known: true, Writers: []string{"semisync-db-1"}}
	failingOver := topology.State{Known: true, Writers: []string{"semisync-db-0"}, Failovers: []topology.Failover{{OldWriter: "semisync-db-0"}}}
	for name, c := range map[string]struct {
		state  topology.State
		waited time.Duration
		want   string // "" while it is waited for
		done   bool
	}{
		"it is known":                     {two, 0, "semisync-db-1", true},
		"the topology does not answer":    {topology.State{Why: "gone"}, 0, "", false},
		"it never does":                   {topology.State{Why: "gone"}, time.Minute, "", true},
		"another one is being brought up": {failingOver, 0, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			s := &scene{}
			run := s.run(t)
			run.Status.Rest = &v1alpha1.RestStatus{AtRest: metav1.ConditionTrue}
			run.waiting = v1alpha1.ProgressStatus{Awaited: v1alpha1.AwaitedTopology, AwaitedTime: ptr.To(metav1.NewMicroTime(run.Now().Add(-c.waited)))}
			out, err := counted(t.Context(), run, c.state)
			if is, _ := reached(run, v1alpha1.MilestoneCounted); err != nil || out.Done || is != c.done || strings.Join(run.Status.Rest.Writers, " ") != c.want {
				t.Errorf("%+v, %v; counted %v, writers %v", out, err, is, run.Status.Rest.Writers)
			}
		})
	}
}

// TestWhatWasHeldIsComparedOnceItIsBack, also where it takes the writes again, with the node that the audit compared all with.
func TestWhatWasHeldIsComparedOnceItIsBack(t *testing.T) {
	s := &scene{}
	run := s.run(t)
	run.Spec.Faults = []v1alpha1.Fault{{Name: "cut", Action: v1alpha1.ActionPartition, HoldSeconds: -1}}
	run.Status.Faults = []v1alpha1.FaultStatus{{Name: "cut", Fault: "cut", Pod: "semisync-db-0", InjectedTime: ptr.To(metav1.NewMicroTime(run.Now()))}}
	run.Status.Rest = &v1alpha1.RestStatus{Writers: []string{"semisync-db-1"}}
	state := topology.State{Known: true, Writers: []string{"semisync-db-0"}, Nodes: []topology.NodeState{
		{Name: "semisync-db-0", Role: topology.Writer}, {Name: "semisync-db-1", Role: topology.Reader, CaughtUp: true}, {Name: "semisync-db-2", Role: topology.Reader, CaughtUp: true},
	}}
	with := comparedWith(run, state)
	back, err := backSinceTheAudit(t.Context(), run, state, with)
	if err != nil || with != "semisync-db-1" || strings.Join(back, " ") != "semisync-db-0" {
		t.Errorf("%v are compared with %s, %v", back, with, err)
	}
	first := state.Nodes[0]
	if !backInPlace(first, state, []string{first.Name}) || !backInPlace(first, state, nil) {
		t.Error("the only writer is not in its place")
	}
	if backInPlace(first, state, []string{"semisync-db-1"}) {
		t.Error("one that has taken the writes back is in its place before it has what the others have")
	}
	state.Writers = append(state.Writers, "semisync-db-1")
	if backInPlace(first, state, state.Writers) {
		t.Error("one of several writers is in its place before it has what the others have")
	}
	if first.CaughtUp = true; !backInPlace(first, state, []string{"semisync-db-1"}) {
		t.Error("one that has caught up is not in its place")
	}
}
