package plugin

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	parser "github.com/joshdk/go-junit"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
)

// read is a file that a command wrote.
func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestACIServerReadsWhatCameOfRuns: JUnit has one case for each, and the summary grows.
func TestACIServerReadsWhatCameOfRuns(t *testing.T) {
	t.Parallel()
	here := namespace(t)
	operate(t, here, "semisync", v1alpha1.VerdictFailed, atOnce)
	operate(t, here, "second", v1alpha1.VerdictPassed, atOnce)
	junit, summary := filepath.Join(t.TempDir(), "junit.xml"), filepath.Join(t.TempDir(), "summary.md")
	if err := os.WriteFile(summary, []byte("# Before\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := command(t, here, "run", "--junit", junit, "--summary", summary, file(t, semisync+"\n---\n"+strings.Replace(semisync, "name: semisync", "name: second", 1)))
	if got.code != ExitFailed {
		t.Errorf("%+v", got)
	}
	suites, err := parser.Ingest([]byte(read(t, junit)))
	if err != nil || len(suites) != 1 || len(suites[0].Tests) != 2 {
		t.Fatalf("%+v, %v", suites, err)
	}
	first, second := suites[0].Tests[0], suites[0].Tests[1]
	if first.Status != parser.StatusFailed || second.Status != parser.StatusPassed || first.Name != "experiment semisync" || first.Classname != here ||
		!strings.Contains(second.SystemOut, "Verdict   Passed") {
		t.Errorf("%+v, %+v", first, second)
	}
	text := read(t, summary)
	if !strings.HasPrefix(text, "# Before\n") || !strings.Contains(text, "## replab: 1 of 2 passed") || !strings.Contains(text, "| experiment second | "+here+" | Passed |") {
		t.Error(text)
	}
}

// TestACIServerReadsWhyNothingRan: of all runs, where the first one is refused.
func TestACIServerReadsWhyNothingRan(t *testing.T) {
	t.Parallel()
	here := namespace(t)
	junit := filepath.Join(t.TempDir(), "junit.xml")
	wrong := strings.Replace(strings.Replace(semisync, "nodes:", "node:", 1), "name: semisync", "name: wrong", 1)
	if got := command(t, here, "run", "--junit", junit, file(t, semisync+"\n---\n"+wrong)); got.code != ExitNotRun {
		t.Errorf("%+v", got)
	}
	suites, err := parser.Ingest([]byte(read(t, junit)))
	if err != nil || len(suites) != 1 || len(suites[0].Tests) != 2 {
		t.Fatalf("%+v, %v", suites, err)
	}
	for _, c := range suites[0].Tests {
		if c.Status != parser.StatusError || !strings.Contains(c.Error.Error(), "nothing was applied") {
			t.Errorf("%+v", c)
		}
	}
}

// TestACIServerReadsWhyNoFileWasRead though no run is known.
func TestACIServerReadsWhyNoFileWasRead(t *testing.T) {
	t.Parallel()
	junit := filepath.Join(t.TempDir(), "junit.xml")
	if got := command(t, namespace(t), "run", "--junit", junit, "/nowhere.yaml"); got.code != ExitNotRun {
		t.Errorf("%+v", got)
	}
	suites, err := parser.Ingest([]byte(read(t, junit)))
	if err != nil || len(suites) != 1 || len(suites[0].Tests) != 1 || !strings.Contains(suites[0].Tests[0].Error.Error(), "/nowhere.yaml") {
		t.Errorf("%+v, %v", suites, err)
	}
}

// TestAnInconclusiveExperimentIsRepeated as often as was asked for.
func TestAnInconclusiveExperimentIsRepeated(t *testing.T) {
	t.Parallel()
	here := namespace(t)
	operate(t, here, "semisync", v1alpha1.VerdictInconclusive, atOnce)
	summary := filepath.Join(t.TempDir(), "summary.md")
	got := command(t, here, "run", "--retry-inconclusive", "1", "--summary", summary, file(t, semisync))
	if got.code != ExitUnknown || strings.Count(got.out, "\nVerdict   Inconclusive") != 2 || !strings.Contains(got.out, "Experiment semisync is Inconclusive, and runs again: repetition 1 of 1.") {
		t.Errorf("%+v", got)
	}
	if text := read(t, summary); !strings.Contains(text, "It replaced Inconclusive runs: 1.") {
		t.Errorf("the summary does not mention the repetition: %s", text)
	}
	if again := command(t, here, "run", "--replace", file(t, semisync)); strings.Count(again.out, "\nVerdict   ") != 1 {
		t.Errorf("without the flag: %+v", again)
	}
}

// TestWhatIsNotRepeated has an answer, was ended by somebody, or was refused.
func TestWhatIsNotRepeated(t *testing.T) {
	of := func(verdict v1alpha1.Verdict, abort bool) conclusion {
		x := &v1alpha1.ReplicationExperiment{}
		x.Spec.Abort, x.Status.Verdict = abort, verdict
		x.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionAccepted, Status: metav1.ConditionTrue}}
		return conclusion{code: exitOf(x), experiment: x, begunHere: true}
	}
	refused := of(v1alpha1.VerdictInconclusive, false)
	refused.code = ExitNotRun
	others := of(v1alpha1.VerdictInconclusive, false)
	others.begunHere = false
	missed := of(v1alpha1.VerdictInconclusive, false)
	missed.experiment.Status.Goals = []v1alpha1.GoalStatus{{Met: metav1.ConditionTrue}, {Met: metav1.ConditionFalse}}
	lost, none := of(v1alpha1.VerdictInconclusive, false), of(v1alpha1.VerdictInconclusive, false)
	lost.experiment.Status.Writes = &v1alpha1.WritesStatus{Lost: ptr.To[int64](1)}
	none.experiment.Status.Writes = &v1alpha1.WritesStatus{Lost: ptr.To[int64](0)}
	for name, c := range map[string]struct {
		end  conclusion
		want bool
	}{
		"writes lost":   {lost, false},
		"none lost":     {none, true},
		"inconclusive":  {of(v1alpha1.VerdictInconclusive, false), true},
		"passed":        {of(v1alpha1.VerdictPassed, false), false},
		"invalid":       {of(v1alpha1.VerdictInvalid, false), false},
		"aborted":       {of(v1alpha1.VerdictInconclusive, true), false},
		"refused":       {refused, false},
		"a goal missed": {missed, false},
		"somebody's":    {others, false},
		"a suite":       {conclusion{code: ExitUnknown, suite: &v1alpha1.ReplicationSuite{}}, false},
	} {
		if got := c.end.undecided(); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
