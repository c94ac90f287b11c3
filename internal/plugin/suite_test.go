package plugin

import (
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/test/kubetest"
)

const cost = `
apiVersion: replab.dev/v1alpha1
kind: ReplicationSuite
metadata: {name: cost}
spec:
  template:
    spec:
      topology: {type: Async, nodes: 2}
      load: {stages: [{name: steady, durationSeconds: 60, users: 1}]}
  variants:
  - {name: async}
  - {name: semisync, patch: {topology: {type: SemiSync}}}
  trials: 6
`

// conduct stands in for the operator: it begins a suite's first trial and ends the suite once something was seen.
func conduct(t *testing.T, namespace string, verdict v1alpha1.Verdict, seen func() bool) {
	server := kubetest.Client(t)
	key := client.ObjectKey{Namespace: namespace, Name: "cost"}
	go func() {
		for ; t.Context().Err() == nil; time.Sleep(quick / 5) {
			s := &v1alpha1.ReplicationSuite{}
			if server.Get(t.Context(), key, s) != nil {
				continue
			}
			switch {
			case len(s.Status.Runs) == 0:
				s.Status.StartTime, s.Status.Conditions = ptr.To(metav1.Now()), reached(v1alpha1.ConditionAccepted)
				s.Status.Trials = &v1alpha1.TrialCounts{Total: 12}
				s.Status.Runs = []v1alpha1.TrialRun{{Name: "cost-async-1", Variant: "async", Round: 1, Attempt: 1}}
			case s.Status.Verdict == "" && seen():
				s.Status.Verdict, s.Status.Runs[0].Verdict = verdict, v1alpha1.VerdictPassed
				s.Status.Conditions = reached(v1alpha1.ConditionAccepted, v1alpha1.ConditionComplete)
			default:
				continue
			}
			_ = server.Status().Update(t.Context(), s) // tried again
		}
	}()
}

func TestASuiteIsRunAndWatched(t *testing.T) {
	t.Parallel()
	for verdict, code := range map[v1alpha1.Verdict]int{v1alpha1.VerdictPassed: ExitOK, v1alpha1.VerdictFailed: ExitFailed, v1alpha1.VerdictInconclusive: ExitUnknown} {
		t.Run(string(verdict), func(t *testing.T) {
			t.Parallel()
			here := namespace(t)
			run := begin(t, here, "run", file(t, cost))
			conduct(t, here, verdict, run.shows("round 1, async begins"))
			got := run.ends()
			if got.code != code || got.err != "" {
				t.Errorf("exit code %d, want %d: %s", got.code, code, got.err)
			}
			for _, want := range []string{"round 1, async begins: experiment cost-async-1\n", "round 1, async: Passed", "\nVerdict   " + string(verdict)} {
				if !strings.Contains(got.out, want) {
					t.Errorf("no %q in:\n%s", want, got.out)
				}
			}
			for _, args := range [][]string{{"watch", "cost"}, {"watch", "suite/cost"}} {
				if again := command(t, here, args...); again.code != code || !strings.Contains(again.out, "Verdict   "+string(verdict)) {
					t.Errorf("%v afterwards: %+v", args, again)
				}
			}
			if again := command(t, here, "run", file(t, cost)); again.code != ExitNotRun || !strings.Contains(again.err, "suite cost has run already, and is "+string(verdict)) {
				t.Errorf("run again: %+v", again)
			}
			if got := command(t, here, "abort", "cost"); got.code != ExitOK || got.out != "suite cost has already ended: "+string(verdict)+"\n" {
				t.Errorf("aborted afterwards: %+v", got)
			}
		})
	}
}

// suiteOf makes the suite in a namespace.
func suiteOf(t *testing.T, namespace string) *v1alpha1.ReplicationSuite {
	t.Helper()
	if got := command(t, namespace, "run", "--timeout", "0", file(t, cost)); !strings.Contains(got.err, "suite cost has not ended") {
		t.Fatalf("%+v", got)
	}
	s := &v1alpha1.ReplicationSuite{}
	if err := kubetest.Client(t).Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "cost"}, s); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestASuiteIsListedDescribedAndAborted(t *testing.T) {
	t.Parallel()
	here := namespace(t)
	s := suiteOf(t, here)
	s.Status.Runs = []v1alpha1.TrialRun{{Name: "cost-async-1", Variant: "async", Round: 1, Attempt: 1}}
	s.Status.Trials, s.Status.Columns = &v1alpha1.TrialCounts{Total: 12, Done: 3}, map[string]string{"trials": "3/12"}
	eta := metav1.NewTime(time.Now().Add(time.Hour))
	s.Status.EstimatedCompletionTime = &eta
	if err := kubetest.Client(t).Status().Update(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if got := command(t, here, "list"); got.code != ExitOK || !strings.HasPrefix(got.out, "SUITE   TRIALS   VERDICT   ETA   AGE\ncost    3/12     -         59m   ") {
		t.Errorf("listed: %+v", got)
	}
	if got := command(t, here, "describe", "cost"); got.code != ExitOK || !strings.Contains(got.out, "Trials    3 of 12\n") || !strings.Contains(got.out, "cost-async-1") {
		t.Errorf("described: %+v", got)
	}
	if got := command(t, here, "abort", "cost"); got.code != ExitOK || !strings.HasPrefix(got.out, "suite cost is being ended with its running trial.") {
		t.Errorf("aborted: %+v", got)
	}
	if err := kubetest.Client(t).Get(t.Context(), client.ObjectKeyFromObject(s), s); err != nil || !s.Spec.Abort {
		t.Errorf("abort is %t, %v", s.Spec.Abort, err)
	}
}

// TestASuiteAndAnExperimentOfOneName are told apart by what stands before the slash.
func TestASuiteAndAnExperimentOfOneName(t *testing.T) {
	t.Parallel()
	here := namespace(t)
	suiteOf(t, here)
	stored(t, here, "cost", ended(v1alpha1.VerdictPassed))
	if got := command(t, here, "abort", "cost"); got.code != ExitNotRun || !strings.Contains(got.err, "write experiment/cost or suite/cost") {
		t.Errorf("without a kind: %+v", got)
	}
	if got := command(t, here, "abort", "experiment/cost"); got.out != "experiment cost has already ended: Passed\n" {
		t.Errorf("the experiment: %+v", got)
	}
	if got := command(t, here, "watch", "run/cost"); got.code != ExitNotRun || !strings.Contains(got.err, "there is no kind run: write experiment/cost or suite/cost") {
		t.Errorf("another kind: %+v", got)
	}
}

// TestASuiteInATerminal has a bar below the lines, and no trace of the bar at the end.
func TestASuiteInATerminal(t *testing.T) {
	t.Parallel()
	here := namespace(t)
	x := newTerminal(t, shell(t, here, "run", file(t, cost)))
	var seen atomic.Bool
	conduct(t, here, v1alpha1.VerdictPassed, seen.Load)
	x.shows("round 1, async begins", "░░░░░░░░░░░░░░░░░░░░ 0/12  round 1, async")
	seen.Store(true)
	x.shows("round 1, async: Passed", "Verdict   Passed", "code=0")
	if screen := x.tmux("capture-pane", "-p"); strings.Contains(screen, "░") {
		t.Errorf("the bar is left:\n%s", screen)
	}
}

func TestCtrlCLeavesASuiteGoing(t *testing.T) {
	t.Parallel()
	here := namespace(t)
	run := begin(t, here, "run", file(t, cost))
	conduct(t, here, v1alpha1.VerdictPassed, func() bool { return false })
	run.awaits(t, "round 1, async begins")
	run.leave()
	if got := run.ends(); got.code != ExitInterrupted || !strings.Contains(got.err, "Suite cost goes on. Come back: kubectl replab watch suite/cost -n "+here) {
		t.Errorf("%+v", got)
	}
}

// TestASuiteThatIsOverMakesRoom with --replace, and only then.
func TestASuiteThatIsOverMakesRoom(t *testing.T) {
	t.Parallel()
	here := namespace(t)
	first := suiteOf(t, here)
	first.Status.StartTime, first.Status.Verdict, first.Status.Conditions = ptr.To(metav1.Now()), v1alpha1.VerdictFailed, reached(v1alpha1.ConditionAccepted, v1alpha1.ConditionComplete)
	server := kubetest.Client(t)
	if err := server.Status().Update(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	run := begin(t, here, "run", "--replace", file(t, cost))
	go func() { // stands in for the garbage collector
		for ; t.Context().Err() == nil; time.Sleep(quick / 5) {
			s := &v1alpha1.ReplicationSuite{}
			if server.Get(t.Context(), client.ObjectKeyFromObject(first), s) == nil && s.DeletionTimestamp != nil {
				_ = server.Patch(t.Context(), s, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))) // tried again
			}
		}
	}()
	run.awaits(t, "Removing the older suite cost and its objects.")
	conduct(t, here, v1alpha1.VerdictPassed, func() bool {
		s := &v1alpha1.ReplicationSuite{}
		return server.Get(t.Context(), client.ObjectKeyFromObject(first), s) == nil && s.UID != first.UID && !meta.IsStatusConditionTrue(s.Status.Conditions, v1alpha1.ConditionComplete)
	})
	if got := run.ends(); got.code != ExitOK {
		t.Errorf("%+v", got)
	}
}

func TestCheckASuite(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ from, to, want string }{
		"right":                         {"trials: 6", "trials: 7", "cost: valid\n"},
		"an unknown field":              {"trials: 6", "trails: 6", "cost: refused\n  spec.trails: unknown field"},
		"a rule of suites":              {"trials: 6", "trials: 6\n  comparisons: [{of: semisync, to: nobody, metrics: [requestsPerSecond]}]", "  spec.comparisons[0].to: "},
		"a variant":                     {"type: SemiSync", "type: SemiSync, nodes: 1", "  variant semisync: spec.topology.nodes"},
		"what no trial has":             {"trials: 6", "trials: 6\n  expectations: [{variant: async, metric: requestsPerSecond, stage: rush, min: 1}]", "has no stage \"rush\""},
		"an unknown field of a variant": {"type: SemiSync", "typ: SemiSync", "  variant semisync: spec.topology.typ: unknown field"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := command(t, namespace(t), "check", "--local", file(t, strings.Replace(cost, c.from, c.to, 1)))
			if !strings.Contains(got.out, c.want) || (got.code == ExitOK) != (name == "right") {
				t.Errorf("no %q in %+v", c.want, got)
			}
		})
	}
}

// measured is a suite with two trials that have ended, and a third that was deleted.
func measured(t *testing.T, here string) {
	t.Helper()
	s := suiteOf(t, here)
	for i, name := range []string{"cost-async-1", "cost-semisync-1"} {
		status := ended(v1alpha1.VerdictPassed)
		status.Load = &v1alpha1.LoadStatus{StageFigures: v1alpha1.StageFigures{RequestsPerSecondMilli: ptr.To(int64(100_000 + 1000*i))}}
		x := stored(t, here, name, status)
		s.Status.Runs = append(s.Status.Runs, v1alpha1.TrialRun{Name: name, Variant: []string{"async", "semisync"}[i], Round: 1, Attempt: 1, UID: x.UID, Verdict: v1alpha1.VerdictPassed})
	}
	s.Status.Runs = append(s.Status.Runs, v1alpha1.TrialRun{Name: "cost-async-2", Variant: "async", Round: 2, Attempt: 1, UID: "gone", Verdict: v1alpha1.VerdictPassed})
	s.Status.StartTime, s.Status.Verdict, s.Status.Conditions = ptr.To(metav1.Now()), v1alpha1.VerdictPassed, reached(v1alpha1.ConditionAccepted, v1alpha1.ConditionComplete)
	if err := kubetest.Client(t).Status().Update(t.Context(), s); err != nil {
		t.Fatal(err)
	}
}

func TestReportOfASuiteInEachFormat(t *testing.T) {
	t.Parallel()
	here := namespace(t)
	measured(t, here)
	folder := filepath.Join(t.TempDir(), "kept")
	if got := command(t, here, "export", "cost", "--to", folder); !strings.Contains(got.err, "suite.yaml and 0 of 2 trials that are left") || !strings.Contains(got.err, "the results of experiment cost-async-1 are gone") {
		t.Errorf("exported without results: %+v", got)
	}
	for output, want := range map[string]string{
		"html":     "<h1>cost</h1><span class=\"verdict Passed\">",
		"markdown": "# cost: Passed\n",
		"csv":      "cost,async,1,cost-async-1,Passed,requestsPerSecond,,,100,100,100\n",
		"json":     "\"name\": \"cost-semisync-1\"",
	} {
		if got := command(t, here, "report", "cost", "-o", output); got.code != ExitOK || !strings.Contains(got.out, want) {
			t.Errorf("no %q in %+v", want, got)
		}
	}
	file := filepath.Join(t.TempDir(), "cost.json")
	whole := command(t, here, "report", "suite/cost", "-o", "csv").out
	if got := command(t, here, "report", "cost", "-o", "json", "--file", file); got.code != ExitOK {
		t.Fatalf("%+v", got)
	}
	if got := command(t, here, "report", file, "-o", "csv"); got.out != whole {
		t.Errorf("of its file: %+v, want\n%s", got, whole)
	}
	if got := command(t, here, "report", "cost", "-o", "csv-timeline"); got.code != ExitNotRun || !strings.Contains(got.err, "there is no format csv-timeline: use --output html, json, csv, markdown") {
		t.Errorf("another format: %+v", got)
	}
	if got := command(t, here, "compare", "cost", "cost-async-1"); got.code != ExitNotRun {
		t.Errorf("compared: %+v", got)
	}
}
