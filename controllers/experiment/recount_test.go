package experiment

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
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

// TestANodeThatIsBackIsComparedThoughAnotherNeverIs, of which it is said once.
func TestANodeThatIsBackIsComparedThoughAnotherNeverIs(t *testing.T) {
	x := experiment.Parse(t, []byte(semisync))
	w := newWorld(t, x)
	w.stuck = true
	found := play(t, w, w, x)
	const why = "Nodes that were not back in place 2m0s after the audit: semisync-db-2."
	reasons := strings.Join(slices.Concat(found.Status.Reasons, found.Status.Notes), "\n")
	if rows := found.Status.Nodes[0].RejoinedRows; rows == nil || *rows != 11_000 || strings.Count(reasons, why) != 1 {
		t.Errorf("rows %v: %s", rows, reasons)
	}
}

// mute is a world whose director does not answer any more once the tables are compared.
type mute struct{ *world }

func (m mute) Ask(ctx context.Context, questions []topology.Question) topology.Answers {
	if m.made("-audit") {
		return topology.Answers{"director": {Err: "refused"}}
	}
	return m.world.Ask(ctx, questions)
}

func TestThatNobodyKnowsWhoIsBackIsSaid(t *testing.T) {
	x := experiment.Parse(t, []byte(semisync))
	w := newWorld(t, x)
	found := play(t, w, mute{w}, x)
	const why = "Nodes that were not back in place 4m0s after the audit: unknown, since the director does not answer: refused."
	if reasons := strings.Join(slices.Concat(found.Status.Reasons, found.Status.Notes), "\n"); strings.Count(reasons, why) != 1 {
		t.Error(reasons)
	}
}

// TestWhatAComparisonLeftOutIsSaid: what came back when it had begun, and all where it left no result.
func TestWhatAComparisonLeftOutIsSaid(t *testing.T) {
	for why, c := range map[string]struct {
		made bool
		back []string
	}{
		"": {true, []string{"semisync-db-0"}},
		"semisync-db-2: the others were being compared by then":    {true, []string{"semisync-db-0", "semisync-db-2"}},
		"semisync-db-0, semisync-db-2: their audit left no result": {false, []string{"semisync-db-0", "semisync-db-2"}},
	} {
		s := &scene{}
		run := s.run(t)
		if c.made {
			s.put(&batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: run.Namespace, Name: s.x + "-recount"}})
		}
		out, err := compared(t.Context(), run, c.back)
		if got := ptr.Deref(run.Status.Rest, v1alpha1.RestStatus{}).RecountFailed; err != nil || !out.Done || got != why {
			t.Errorf("%+v, %v: %q, want %q", out, err, got, why)
		}
	}
}

// TestWhoTookTheWritesWhenTheyWereCountedIsWrittenDown, once it is known.
func TestWhoTookTheWritesWhenTheyWereCountedIsWrittenDown(t *testing.T) {
	two := topology.State{Known: true, Writers: []string{"semisync-db-1"}}
	failingOver := topology.State{Known: true, Writers: []string{"semisync-db-0"}, Failovers: []topology.Failover{{OldWriter: "semisync-db-0"}}}
	silent := topology.State{Known: true, Writers: []string{"semisync-db-0"}, Silent: []string{"semisync-db-1"}}
	held := topology.State{Known: true, Writers: []string{"semisync-db-0"}, Silent: []string{"semisync-db-2"}}
	for name, c := range map[string]struct {
		state  topology.State
		waited time.Duration
		want   string // "" while it is waited for
		done   bool
	}{
		"a node does not answer":          {silent, 0, "", false},
		"a node never answers":            {silent, time.Minute, "semisync-db-0", true},
		"one that is held does not":       {held, 0, "semisync-db-0", true},
		"it is known":                     {two, 0, "semisync-db-1", true},
		"the topology does not answer":    {topology.State{Why: "gone"}, 0, "", false},
		"it never does":                   {topology.State{Why: "gone"}, time.Minute, "", true},
		"another one is being brought up": {failingOver, 0, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			s := &scene{}
			run := s.run(t)
			run.Status.Rest = &v1alpha1.RestStatus{AtRest: metav1.ConditionTrue}
			run.Spec.Faults = []v1alpha1.Fault{{Name: "hang", Action: v1alpha1.ActionPause, HoldSeconds: -1}}
			run.Status.Faults = []v1alpha1.FaultStatus{{Name: "hang", Fault: "hang", Pod: "semisync-db-2", InjectedTime: ptr.To(metav1.NewMicroTime(run.Now()))}}
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
	if back, err := backSinceTheAudit(t.Context(), run, state, with); err != nil || len(back) > 0 {
		t.Errorf("%v are compared before they have what the others have, %v", back, err)
	}
	state.Nodes[0].CaughtUp = true
	back, err := backSinceTheAudit(t.Context(), run, state, with)
	if err != nil || with != "semisync-db-1" || strings.Join(back, " ") != "semisync-db-0" {
		t.Errorf("%v are compared with %s, %v", back, with, err)
	}
	first := state.Nodes[0]
	first.CaughtUp = false
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

// TestNoNodeIsComparedWithAPrimaryThatIsBehind: what it lacks would count as the other's own.
func TestNoNodeIsComparedWithAPrimaryThatIsBehind(t *testing.T) {
	s := &scene{}
	run := s.run(t)
	run.Spec.Faults = []v1alpha1.Fault{{Name: "cut", Action: v1alpha1.ActionPartition, HoldSeconds: -1}}
	run.Status.Faults = []v1alpha1.FaultStatus{{Name: "cut", Fault: "cut", Pod: "semisync-db-0", InjectedTime: ptr.To(metav1.NewMicroTime(run.Now()))}}
	run.Status.Rest = &v1alpha1.RestStatus{Writers: []string{"semisync-db-0", "semisync-db-1"}}
	state := topology.State{Known: true, Independent: true, Writers: run.Status.Rest.Writers, Nodes: []topology.NodeState{
		{Name: "semisync-db-0", Role: topology.Writer}, {Name: "semisync-db-1", Role: topology.Writer, CaughtUp: true},
	}}
	out, err := recount(t.Context(), run, state, 0)
	if want := "semisync-db-1: semisync-db-0 had not applied what the others sent"; err != nil || !out.Done || run.Status.Rest.RecountFailed != want {
		t.Errorf("%+v, %v: %q", out, err, run.Status.Rest.RecountFailed)
	}
}

// TestAHoldOnOnePrimaryLeavesTheOtherToCompareToo: the two have exchanged nothing while it stood.
func TestAHoldOnOnePrimaryLeavesTheOtherToCompareToo(t *testing.T) {
	held := map[string]topology.Leave{"db-0": topology.MayLag}
	node := func(name string, caughtUp, stopped bool) topology.NodeState {
		return topology.NodeState{Name: name, Role: topology.Writer, CaughtUp: caughtUp, Stopped: stopped}
	}
	for name, c := range map[string]struct {
		second      topology.NodeState
		independent bool
		held        map[string]topology.Leave
		want        string
	}{
		"both have all":              {node("db-1", true, false), true, held, "db-1"},
		"the second never will":      {node("db-1", false, true), true, held, "db-1"},
		"the second has not yet":     {node("db-1", false, false), true, held, ""},
		"nothing was held":           {node("db-1", true, false), true, nil, ""},
		"members of a group had all": {node("db-1", true, false), false, held, ""},
	} {
		state := topology.State{Known: true, Independent: c.independent, Writers: []string{"db-0", "db-1"}, Nodes: []topology.NodeState{node("db-0", true, false), c.second}}
		if got := strings.Join(returned(state, "db-0", state.Writers, c.held), " "); got != c.want {
			t.Errorf("%s: compared once more are %q, want %q", name, got, c.want)
		}
	}
}
