package suites

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/report/figures"
	"replab.dev/internal/report/terminal"
)

func text(s *v1alpha1.ReplicationSuite, details bool) string {
	var b strings.Builder
	Write(&b, s, details)
	return b.String()
}

// ended is a suite of two variants.
func ended() *v1alpha1.ReplicationSuite {
	s := &v1alpha1.ReplicationSuite{ObjectMeta: metav1.ObjectMeta{Name: "cost"}}
	s.Spec.Template.Spec.Raw = []byte(`{}`)
	s.Spec.Variants = []v1alpha1.SuiteVariant{{Name: "async"}, {Name: "semisync", Patch: &runtime.RawExtension{Raw: []byte(`{"faults": [{}, {}]}`)}}}
	s.Spec.Reference = []v1alpha1.ReferenceFigure{
		{Variant: "async", Metric: "requestsPerSecond", Value: "320", Source: "seed 000"},
		{Variant: "async", Stage: "steady", Metric: "requestsPerSecond", Value: "249.5", Source: "seed 000"},
		{Variant: "async", Metric: "failedRequests", Value: "1.1", Source: "seed 001"},
	}
	s.Status = v1alpha1.ReplicationSuiteStatus{
		Verdict: v1alpha1.VerdictFailed,
		Reasons: []string{"semisync lostWrites at most 0 in every trial: 1 of 7 lost some."},
		Notes:   []string{"The variants ran one after the other."},
		Trials:  &v1alpha1.TrialCounts{Total: 14, Done: 14, Passed: 13, Failed: 1, Repeated: 2},
		Runs: []v1alpha1.TrialRun{{
			Name: "cost-async-1", Variant: "async", Round: 1, Attempt: 1, Verdict: v1alpha1.VerdictPassed,
			StartTime: &metav1.Time{Time: time.Unix(100, 0)}, CompletionTime: &metav1.Time{Time: time.Unix(190, 0)},
		}},
		Variants: []v1alpha1.VariantStatus{
			{Name: "async", Trials: 7, Losses: &v1alpha1.LossesStatus{LostIn: 0, Of: 7, UpperPercent: 35}, Figures: []v1alpha1.TrialsFigure{
				{Name: "requestsPerSecond", Median: "1200.25", Low: "1.001", High: "1300", N: 7},
				{Name: "failedRequests", Median: "0.5", Low: "0", High: "3", N: 7},
				{Name: "p99Microseconds", MedianAtLeast: "94718", Low: "94718", High: "94718", N: 7},
				{Name: "p99Microseconds", Stage: "steady", MedianAtLeast: "94718", Low: "94718", High: "94718", N: 7},
				{Name: "stageCPUMillicores", Stage: "steady", Item: "app", Median: "610", N: 7},
			}},
			{Name: "semisync", Trials: 7, Losses: &v1alpha1.LossesStatus{LostIn: 1, LostInAtMost: 3, Of: 8, UpperPercent: 72}, Figures: []v1alpha1.TrialsFigure{{Name: "requestsPerSecond", Median: "900", N: 5}, {Name: "failedRequests", MedianAtLeast: "0", Low: "0", N: 7}}},
		},
		Comparisons: []v1alpha1.SuiteComparisonStatus{
			{Of: "semisync", To: "async", Metric: "requestsPerSecond", RatioPercent: "75.123", Low: "72", High: "178.451", N: 7, P: "0.016", Conclusion: "Lower"},
			{Of: "semisync", To: "async", Metric: "p99Microseconds", Low: "101", N: 7, P: "0.016", Conclusion: "Undecided"},
			{Of: "semisync", To: "async", Metric: "p99Microseconds", Stage: "steady", Low: "101", N: 7, P: "0.016", Conclusion: "Undecided"},
			{Of: "semisync", To: "async", Metric: "p99Microseconds", Stage: "open", Low: "0", N: 7, P: "0.3", Conclusion: "Undecided", RoundsNeeded: 40},
			{Of: "semisync", To: "async", Metric: "p50Microseconds", Stage: "open", Low: "90", High: "110", N: 7, P: "1", Conclusion: "Undecided", RoundsNeeded: 21268},
			{Of: "semisync", To: "async", Metric: "p50Microseconds", Stage: "idle", Conclusion: "Undecided"},
		},
		Expectations: []v1alpha1.ExpectationStatus{{Expectation: "semisync lostWrites at most 0 in every trial", Found: "1 of 7 lost some", Met: metav1.ConditionFalse}},
	}
	return s
}

// TestTextOfASuite: intervals, bounds, a dash for what was not measured or is at least 0, and no stage that says what the whole load does.
func TestTextOfASuite(t *testing.T) {
	want := `Verdict   Failed
Trials    14 of 14: 13 passed, 1 failed; 2 inconclusive runs were repeated
Reason    semisync lostWrites at most 0 in every trial: 1 of 7 lost some.

Expectations
EXPECTATION                                    MET   FOUND
semisync lostWrites at most 0 in every trial   no    1 of 7 lost some

Comparisons, round by round
COMPARISON       FIGURE       PART  RATIO   95% INTERVAL    ROUNDS   P       CONCLUSION
semisync/async   successful requests/s - 75.1%   72% to 179%    7        0.016   Lower
semisync/async   latency p99  -  -       at least 101%   7        0.016   Undecided
semisync/async   latency p99  open  -       -   7 (about 40 needed)        0.3   Undecided
semisync/async   latency p50  open  -       90% to 110%   7 (over 1000 needed)        1   Undecided

Trials that lost acknowledged writes
VARIANT   TRIALS WITH A LOSS   TRIALS   FAULTS   UPPER BOUND (95%)
async     0         7    0   -
semisync  1 to 3  8  2  72%

Medians of the trials, with their 95% interval
FIGURE        PART  ASYNC                              SEMISYNC
successful requests/s  -  1,200/s (1.001/s to 1,300/s, n 7)  900/s (n 5)
failed requests   -  0.5 (0 to 3, n 7)   unknown (n 7)
latency p99   -  at least 94.71 ms (94.71 ms to 94.72 ms, n 7)              -
processor   app in steady  0.610 CPU (n 7)              -

Published figures beside the measured ones
VARIANT   FIGURE       PART    PUBLISHED   MEASURED                            SOURCE
async     successful requests/s   -        320/s       1,200/s (1.001/s to 1,300/s, n 7)   seed 000
async     successful requests/s   steady   249.5/s       not measured                        seed 000
async     failed requests   -   1.1   0.5 (0 to 3, n 7)   seed 001

Note      The variants ran one after the other.
`
	got := text(ended(), false)
	squeeze := func(text string) (lines []string) {
		for line := range strings.Lines(text) {
			lines = append(lines, strings.Join(strings.Fields(line), " "))
		}
		return lines
	}
	if diff := cmp.Diff(squeeze(want), squeeze(got)); diff != "" {
		t.Errorf("(-want +got):\n%s\n%s", diff, got)
	}
}

// TestFaultsOfAVariant: only trials with faults are evidence that writes survive them.
func TestFaultsOfAVariant(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*v1alpha1.ReplicationSuiteSpec)
		want   []string
	}{
		"none":       {func(*v1alpha1.ReplicationSuiteSpec) {}, []string{"0", ""}},
		"of a patch": {func(s *v1alpha1.ReplicationSuiteSpec) { s.Variants[0].Patch = s.Variants[1].Patch }, []string{"2", "35%"}},
		"drawn":      {func(s *v1alpha1.ReplicationSuiteSpec) { s.DrawFaults = &v1alpha1.DrawFaults{Count: 3} }, []string{"drawn, 3 times", "35%"}},
		"unreadable": {func(s *v1alpha1.ReplicationSuiteSpec) { s.Template.Spec.Raw = nil }, []string{"", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			s := ended()
			c.change(&s.Spec)
			row := losses(s).Rows[0]
			if diff := cmp.Diff(words(c.want...), row[3:]); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestDetailsHaveALineForEachTrial(t *testing.T) {
	got := text(ended(), true)
	if row := "cost-async-1 async 1 1 Passed 90"; !strings.Contains(strings.Join(strings.Fields(got), " "), row) || strings.Contains(text(ended(), false), "cost-async-1") {
		t.Errorf("no %q in the details alone:\n%s", row, got)
	}
}

func TestNothingOfASuiteThatWaits(t *testing.T) {
	if got := text(&v1alpha1.ReplicationSuite{}, false); got != "Verdict   none yet\nTrials    none\n" {
		t.Errorf("%q", got)
	}
}

// TestAllOutages are shown, also those that are known in part, and before the list of trials.
func TestAllOutages(t *testing.T) {
	d := &Document{Suite: ended()}
	d.Suite.Status.Runs = nil
	for i, outage := range []int64{1500, 650, 700} {
		run := v1alpha1.TrialRun{Name: fmt.Sprintf("cost-async-%d", i+1), Variant: "async", Round: int32(i + 1), Attempt: 1, Verdict: v1alpha1.VerdictPassed}
		d.Suite.Status.Runs = append(d.Suite.Status.Runs, run)
		x := v1alpha1.ReplicationExperiment{ObjectMeta: metav1.ObjectMeta{Name: run.Name}}
		x.Status.OutageMilliseconds = &outage
		if outage == 1500 {
			x.Status.Bounds = []v1alpha1.BoundStatus{{Figure: "outageMilliseconds", AtLeast: &outage, Because: "its end was not seen"}}
		}
		d.Trials = append(d.Trials, x)
	}
	tables := d.Tables()
	last := tables[len(tables)-2]
	want := figures.Table{Title: "Outages of all trials", Head: last.Head, Rows: [][]figures.Cell{words("async", "650 ms, 700 ms, at least 1.5 s")}}
	if diff := cmp.Diff(want, last); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestATerminalOf80ColumnsShowsAllTables, without a word that is cut.
func TestATerminalOf80ColumnsShowsAllTables(t *testing.T) {
	var b strings.Builder
	Write(terminal.Screen{Writer: &b, Columns: 80}, ended(), true)
	for line := range strings.Lines(b.String()) {
		if ansi.StringWidth(line) > 80 {
			t.Errorf("too wide: %q", line)
		}
	}
	whole := strings.Fields(text(ended(), true))
	for _, word := range strings.Fields(b.String()) {
		if !slices.ContainsFunc(whole, func(of string) bool {
			return of == word || strings.HasSuffix(word, "/") && strings.HasPrefix(of, word) || strings.HasSuffix(of, "/"+word)
		}) {
			t.Errorf("%q is cut in:\n%s", word, b.String())
		}
	}
}
