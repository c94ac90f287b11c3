package plugin

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	parser "github.com/joshdk/go-junit"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/report/ci"
	"replab.dev/test/kubetest"
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

// TestAnErrorNamesTheGoalsThatWereMissed: the notes have them where another finding decided. A failure has them once.
func TestAnErrorNamesTheGoalsThatWereMissed(t *testing.T) {
	const missed, other = "Goal lostWrites (max 0) was missed: measured 3.", "The recorder was restarted."
	for _, c := range []struct {
		verdict       v1alpha1.Verdict
		reasons, want string
		notes         []string
	}{
		{v1alpha1.VerdictInconclusive, other, other + "\n" + missed, []string{"A note.", missed}},
		{v1alpha1.VerdictInconclusive, other, other + "\nGoal lostWrites (max 0) was missed.", nil},
		{v1alpha1.VerdictFailed, missed, missed, nil},
	} {
		x := &v1alpha1.ReplicationExperiment{}
		x.Status.Verdict, x.Status.Reasons, x.Status.Notes = c.verdict, []string{c.reasons}, c.notes
		x.Status.Goals = []v1alpha1.GoalStatus{{Metric: "requests", Limit: "min 1", Met: metav1.ConditionTrue}, {Metric: "lostWrites", Limit: "max 0", Measured: ptr.To[int64](3), Met: metav1.ConditionFalse}}
		run := recorded{of: &unstructured.Unstructured{}, begun: true, over: true, end: conclusion{begunHere: true, experiment: x}}
		var b strings.Builder
		if err := cases([]ci.Run{run.told(nil)})(&b); err != nil {
			t.Fatal(err)
		}
		suites, err := parser.Ingest([]byte(b.String()))
		if err != nil {
			t.Fatal(err)
		}
		if got := suites[0].Tests[0].Error; got == nil || got.Error() != c.want {
			t.Errorf("%s: %v, want %s", c.verdict, got, c.want)
		}
	}
}

// TestFilesThatCannotBeWrittenStopACommand before anything runs, whatever the experiments are.
func TestFilesThatCannotBeWrittenStopACommand(t *testing.T) {
	t.Parallel()
	here, folder := namespace(t), t.TempDir()
	none, both := filepath.Join(folder, "none", "file"), filepath.Join(folder, "both")
	for name, args := range map[string][]string{
		"junit":   {"--junit", none},
		"summary": {"--summary", none},
		"one":     {"--junit", both, "--summary", folder + "/./both"},
	} {
		got := command(t, here, append(append([]string{"run"}, args...), file(t, semisync))...)
		if got.code != ExitNotRun || !strings.Contains(got.err, "none/file") && !strings.Contains(got.err, "name the same file") || got.out != "" {
			t.Errorf("%s: %+v", name, got)
		}
	}
	var all v1alpha1.ReplicationExperimentList
	if err := kubetest.Client(t).List(t.Context(), &all, client.InNamespace(here)); err != nil || len(all.Items) != 0 {
		t.Errorf("%d experiments were made, %v", len(all.Items), err)
	}
}

// TestAVerdictOutlivesAFailedWrite: the exit code is the verdict's, unless all passed.
func TestAVerdictOutlivesAFailedWrite(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("this system has no /dev/full")
	}
	for verdict, code := range map[v1alpha1.Verdict]int{v1alpha1.VerdictFailed: ExitFailed, v1alpha1.VerdictPassed: ExitNotRun} {
		here := namespace(t)
		operate(t, here, "semisync", verdict, atOnce)
		got := command(t, here, "run", "--junit", "/dev/full", file(t, semisync))
		if got.code != code || !strings.Contains(got.out, "Verdict   "+string(verdict)) || !strings.Contains(got.err, "error: write the results of the runs: ") {
			t.Errorf("%s: %+v", verdict, got)
		}
	}
}

// TestAKilledCommandLeavesWhatIsKnown: the run that ended, the one that is under way, and the one that was not begun.
func TestAKilledCommandLeavesWhatIsKnown(t *testing.T) {
	t.Parallel()
	here, junit := namespace(t), filepath.Join(t.TempDir(), "junit.xml")
	if err := os.WriteFile(junit, []byte("of an earlier command"), 0o600); err != nil {
		t.Fatal(err)
	}
	operate(t, here, "semisync", v1alpha1.VerdictPassed, atOnce)
	all := semisync
	for _, name := range []string{"second", "third"} {
		all += "\n---\n" + strings.Replace(semisync, "name: semisync", "name: "+name, 1)
	}
	run := begin(t, here, "run", "--junit", junit, file(t, all))
	run.awaits(t, "Verdict   Passed")
	var states []string
	for end := time.Now().Add(time.Minute); len(states) != 3 && time.Now().Before(end); time.Sleep(quick) {
		states = nil
		if suites, err := parser.Ingest([]byte(read(t, junit))); err == nil && len(suites) == 1 && suites[0].Tests[0].Status == parser.StatusPassed {
			for _, c := range suites[0].Tests {
				states = append(states, string(c.Status))
			}
		}
	}
	if got := strings.Join(states, " "); got != "passed error skipped" {
		t.Errorf("%q", got)
	}
	if files, err := os.ReadDir(filepath.Dir(junit)); err != nil || len(files) != 1 {
		t.Errorf("%d files, %v", len(files), err)
	}
	run.leave()
	run.ends()
}

// TestAStreamGetsItsTextOnce, which a pipe and /dev/stdout cannot take back.
func TestAStreamGetsItsTextOnce(t *testing.T) {
	t.Parallel()
	here := namespace(t)
	operate(t, here, "semisync", v1alpha1.VerdictPassed, atOnce)
	reading, writing, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	path := fmt.Sprintf("/dev/fd/%d", writing.Fd())
	if _, err := os.Stat(path); err != nil {
		t.Skip("this system has no /dev/fd")
	}
	got := command(t, here, "run", "--junit", path, file(t, semisync))
	if err := writing.Close(); err != nil || got.code != ExitOK {
		t.Errorf("%+v, %v", got, err)
	}
	text, err := io.ReadAll(reading)
	if err != nil || strings.Count(string(text), "<?xml") != 1 || !strings.Contains(string(text), "Verdict   Passed") {
		t.Errorf("%s, %v", text, err)
	}
}

// TestAFileIsReplacedInPlace: a link stays one, and a folder that takes no other file is enough.
func TestAFileIsReplacedInPlace(t *testing.T) {
	folder := t.TempDir()
	to, link := filepath.Join(folder, "to"), filepath.Join(folder, "link")
	if err := errors.Join(os.WriteFile(to, nil, 0o600), os.Symlink(to, link)); err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("a", 200) // the name of the file beside it would be too long
	for path, at := range map[string]string{link: to, filepath.Join(folder, long+strings.Repeat("b", 50)): ""} {
		f := resultFile{path: path}
		if err := f.replace(func(w io.Writer) error { _, err := io.WriteString(w, "text"); return err }); err != nil || read(t, cmp.Or(at, path)) != "text" {
			t.Errorf("%s: %v", path, err)
		}
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is no link any more: %v", err)
	}
}
