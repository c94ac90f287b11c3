package comparison

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/figure"
	"replab.dev/internal/report/figures"
	"replab.dev/internal/report/reporttest"
	"replab.dev/internal/report/terminal"
	"replab.dev/internal/results"
)

// pair of runs that may be compared: the second is of another topology, and other figures.
func pair(t *testing.T) (base, now results.Results) {
	t.Helper()
	base, now = reporttest.SemiSync(t), reporttest.SemiSync(t)
	base.Experiment, base.Spec.Topology.Type = "async", v1alpha1.TopologyAsync
	base.Spec.Goals = nil
	for _, r := range []*results.Results{&base, &now} {
		r.Status.Bounds = nil
	}
	for _, l := range []*v1alpha1.LoadStatus{base.Status.Load, now.Status.Load} {
		l.RequestsPerSecondMilli = ptr.To[int64](79_000)
	}
	now.Status.Load.RequestsPerSecondMilli = ptr.To[int64](158_000)
	now.Status.Load.Latency.P99Microseconds = base.Status.Load.Latency.P99Microseconds * 9 / 10
	now.Status.OutageMilliseconds = ptr.To(*base.Status.OutageMilliseconds * 3)
	return base, now
}

func compareAll(t *testing.T, all ...results.Results) *Comparison {
	t.Helper()
	var documents []*figures.Document
	for _, r := range all {
		d := figures.Of(r)
		documents = append(documents, d)
	}
	c, err := Of(documents...)
	if err != nil {
		t.Fatal(err)
	}
	sound(t, c)
	return c
}

func sound(t *testing.T, c *Comparison) {
	t.Helper()
	for _, r := range append(c.Rows[:len(c.Rows):len(c.Rows)], c.Stages...) {
		for _, one := range r.Cells {
			if strings.HasPrefix(one.Because, figures.NoSuch) {
				t.Error(one.Because)
			}
		}
	}
}

func cell(t *testing.T, c *Comparison, title string) string {
	t.Helper()
	for _, r := range append(c.Rows, c.Stages...) {
		if r.Title == title {
			return r.Cells[1].Text()
		}
	}
	t.Fatalf("there is no row %q", title)
	return ""
}

func TestDifferencesAreInPercentOfTheFirst(t *testing.T) {
	base, now := pair(t)
	now.Status.Writes.Lost = ptr.To[int64](3) // from 0
	lag := now.Status.Replication.Lag         // known to within 70 µs
	lag.P50Microseconds, lag.P99Microseconds = ptr.To(*base.Status.Replication.Lag.P50Microseconds+69), ptr.To(*base.Status.Replication.Lag.P99Microseconds*2)
	c := compareAll(t, base, now)
	for title, want := range map[string]string{
		"successful requests/s": "158/s (+100%)", "latency p99": "14.55 ms (-10%)", "longest outage": "4.8 s (+200%)", "acknowledged writes lost": "3", "replication lag p50": "709 µs", "replication lag p99": "10.46 ms (+100%)",
	} {
		if got := cell(t, c, title); got != want {
			t.Errorf("%s is %q, want %q", title, got, want)
		}
	}
	if notes := strings.Join(c.Remarks(), "\n"); !strings.Contains(notes, "semisync against async, the baseline: one run each: an anecdote") {
		t.Errorf("the remarks are %s", notes)
	}
}

// TestWhatMayNotBeComparedSaysWhy, and shows its figures without a difference.
func TestWhatMayNotBeComparedSaysWhy(t *testing.T) {
	for name, c := range map[string]struct {
		change func(base, now *results.Results)
		why    string
	}{
		"another load":                           {func(_, now *results.Results) { now.Spec.Load.Stages[1].RequestsPerSecond = 7 }, "spec.load.stages must be the same in both"},
		"another data set":                       {func(_, now *results.Results) { now.Spec.Dataset.Users = 7 }, "spec.dataset must be the same in both"},
		"other faults":                           {func(_, now *results.Results) { now.Spec.Faults = nil }, "spec.faults must be the same in both"},
		"an inconclusive base":                   {func(base, _ *results.Results) { base.Status.Verdict = v1alpha1.VerdictInconclusive }, "the baseline's verdict is Inconclusive"},
		"an invalid run":                         {func(_, now *results.Results) { now.Status.Verdict = v1alpha1.VerdictInvalid }, "this run's verdict is Invalid"},
		"a run without figures":                  {func(_, now *results.Results) { now.Status.Load = nil }, "no figures of its load"},
		"another durability of another topology": {func(_, now *results.Results) { now.Spec.Topology.Durability = v1alpha1.DurabilityRelaxed }, "durability is Relaxed here and Full in the baseline"},
		"other machines":                         {func(_, now *results.Results) { now.Provenance.Machines[0].CPUs = 64 }, "the machines differ: 64 processors"},
		"unknown machines": {func(_, now *results.Results) {
			now.Provenance.Machines, now.Provenance.MachinesUnknown = nil, "may not read nodes"
		}, "are unknown: may not read nodes"},
	} {
		t.Run(name, func(t *testing.T) {
			base, now := pair(t)
			c.change(&base, &now)
			got := compareAll(t, base, now)
			if !strings.Contains(got.Runs[1].Why, c.why) || !strings.Contains(got.Remarks()[0], c.why) {
				t.Errorf("why not: %q, want %q", got.Runs[1].Why, c.why)
			}
			for _, r := range append(got.Rows, got.Stages...) {
				for _, one := range r.Cells {
					if one.Delta != "" {
						t.Errorf("%s has a difference of %s", r.Title, one.Delta)
					}
				}
			}
		})
	}
}

// TestNoDifferenceIsStatedOfWhatIsNotKnown: of bounds, and of latencies that the closed loop contradicts.
func TestNoDifferenceIsStatedOfWhatIsNotKnown(t *testing.T) {
	base, now := pair(t)
	b := (*figure.Bounds)(&now.Status.Bounds)
	b.AtLeast("load.latency.p99Microseconds", now.Status.Load.Latency.P99Microseconds, "some failed")
	b.Between("outageMilliseconds", *now.Status.OutageMilliseconds-500, *now.Status.OutageMilliseconds, "the recorder was paused")
	now.Status.Replication.Lag.P50Microseconds = nil
	c := compareAll(t, base, now)
	for title, want := range map[string]string{
		"latency p99": "≥ 14.55 ms", "latency p50": "3.3 ms (+0%)", "longest outage": "4.3 s to 4.8 s", "replication lag p50": "not measured",
	} {
		if got := cell(t, c, title); got != want {
			t.Errorf("%s is %q, want %q", title, got, want)
		}
	}
	base, now = pair(t)
	now.Status.Load.PausedMilliseconds = ptr.To(*now.Status.Load.DurationMilliseconds/100 + 1)
	(*figure.Bounds)(&now.Status.Bounds).Between("load.requestsPerSecondMilli", 158_000, 167_000, "the recorder was paused")
	c = compareAll(t, base, now)
	for title, want := range map[string]string{"successful requests/s": "158/s to 167/s", "requests": "3,608", "latency p50": "3.3 ms (+0%)"} {
		if got := cell(t, c, title); got != want {
			t.Errorf("where the recorder was paused, %s is %q, want %q", title, got, want)
		}
	}
	if notes := strings.Join(c.Remarks(), "\n"); !strings.Contains(notes, "the throughput here is not compared, since the recorder was paused") {
		t.Errorf("the remarks are %s", notes)
	}
	(*figure.Bounds)(&now.Status.Bounds).Between("load.requestsPerSecondMilli", 158_000, 160_000, "the recorder was paused")
	if got := cell(t, compareAll(t, base, now), "successful requests/s"); got != "158/s (+100 to +103%)" {
		t.Errorf("a throughput between two bounds is %q", got)
	}
	base, now = pair(t)
	(*figure.Bounds)(&base.Status.Bounds).Unknown("load.latency.p50Microseconds", "the loop contradicts it")
	c = compareAll(t, base, now)
	if got := c.Rows[1].Cells[0].Text(); got != "3.3 ms (the loop contradicts it)" {
		t.Errorf("the latency that is contradicted is %q", got)
	}
	if got := cell(t, c, "latency p50"); got != "3.3 ms" {
		t.Errorf("the other one is %q", got)
	}
	if got := cell(t, c, "successful requests/s"); got != "158/s (+100%)" {
		t.Errorf("the throughput is %q", got)
	}
}

// TestDurabilityAloneIsWhatIsCompared: with the topology the same, it is stated and compared.
func TestDurabilityAloneIsWhatIsCompared(t *testing.T) {
	base, now := pair(t)
	base.Spec.Topology.Type = now.Spec.Topology.Type
	now.Spec.Topology.Durability = v1alpha1.DurabilityRelaxed
	c := compareAll(t, base, now)
	if c.Runs[1].Why != "" || !strings.Contains(c.Remarks()[0], "durability is Relaxed here and Full in the baseline") || cell(t, c, "successful requests/s") != "158/s (+100%)" {
		t.Errorf("not compared: %q; %s", c.Runs[1].Why, c.Remarks())
	}
}

func TestText(t *testing.T) {
	base, now := pair(t)
	c := compareAll(t, base, now, now)
	var text bytes.Buffer
	if err := c.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text.String(), "158/s (+100%)") || !strings.Contains(text.String(), "SemiSync of MySQL 8.4.6, 3 nodes") {
		t.Errorf("the text is\n%s", text.String())
	}
	d := figures.Of(base)
	if _, err := Of(d); err == nil || !strings.Contains(err.Error(), "two or more experiments") {
		t.Errorf("one run alone: %v", err)
	}
}

// TestTextFitsATerminal of 80 columns, also with four runs of long names; in a pipe its lines are whole.
func TestTextFitsATerminal(t *testing.T) {
	base, now := pair(t)
	for n, want := range map[int]string{2: "successful requests/s     79/s      158/s (+100%)\n", 4: "\nsuccessful        79/s      158/s (+100%)    158/s (+100%)     158/s (+100%)\nrequests/s\n"} {
		runs := slices.Clone([]results.Results{base, now, now, now}[:n])
		for i := range runs[2:] {
			runs[i+2].Experiment = fmt.Sprintf("semisync-with-a-long-name-%d", i)
		}
		var text strings.Builder
		if err := compareAll(t, runs...).WriteText(terminal.Screen{Writer: &text, Columns: 80}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(text.String(), want) {
			t.Errorf("of %d runs no %q in\n%s", n, want, text.String())
		}
		for line := range strings.Lines(text.String()) {
			if utf8.RuneCountInString(line) > 81 {
				t.Errorf("of %d runs: too wide: %q", n, line)
			}
		}
	}
}

// TestWhatElseDiffersIsSaid; where it alone does, it is what is compared.
func TestWhatElseDiffersIsSaid(t *testing.T) {
	for name, change := range map[string]func(*v1alpha1.ReplicationExperimentSpec){
		"topology.resources": func(s *v1alpha1.ReplicationExperimentSpec) {
			s.Topology.Resources.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}
		},
		"topology.parameters": func(s *v1alpha1.ReplicationExperimentSpec) {
			s.Topology.Parameters = map[string]string{"innodb_buffer_pool_size": "2G"}
		},
		"routing":     func(s *v1alpha1.ReplicationExperimentSpec) { s.Routing.Proxy = "another" },
		"pods":        func(s *v1alpha1.ReplicationExperimentSpec) { s.Pods = &v1alpha1.PodsSpec{} },
		"load.runner": func(s *v1alpha1.ReplicationExperimentSpec) { s.Load.Runner = v1alpha1.RunnerK6Operator },
	} {
		base, now := pair(t)
		change(&now.Spec)
		if got := compareAll(t, base, now).Remarks()[0]; !strings.Contains(got, "spec."+name+" differs too") {
			t.Errorf("%s: %s", name, got)
		}
		base.Spec.Topology.Type = now.Spec.Topology.Type
		if got := compareAll(t, base, now).Remarks()[0]; !strings.Contains(got, "spec."+name+" differs") || strings.Contains(got, "too") {
			t.Errorf("%s alone: %s", name, got)
		}
	}
	base, now := pair(t)
	if got := compareAll(t, base, now).Remarks()[0]; strings.Contains(got, "differs") {
		t.Errorf("nothing differs: %s", got)
	}
}

func TestStorageIsComparedAloneOnly(t *testing.T) {
	base, now := pair(t)
	now.Spec.Topology.Storage.Medium = "another"
	if why := compareAll(t, base, now).Runs[1].Why; !strings.Contains(why, "spec.topology.storage differs, and the topology differs too") {
		t.Errorf("with another topology: %q", why)
	}
	base.Spec.Topology.Type = now.Spec.Topology.Type
	if c := compareAll(t, base, now); c.Runs[1].Why != "" || !strings.Contains(c.Remarks()[0], "spec.topology.storage differs") {
		t.Errorf("alone: %s", c.Remarks())
	}
}

func TestAThroughputOfNothingSaysWhyThereIsNoDifference(t *testing.T) {
	base, now := pair(t)
	base.Status.Load.RequestsPerSecondMilli = ptr.To[int64](0)
	if why := compareAll(t, base, now).Runs[1].Why; !strings.Contains(why, "its throughput is 0") {
		t.Errorf("of nothing: %q", why)
	}
	now.Spec.Dataset.Users = 7
	if why := compareAll(t, base, now).Runs[1].Why; !strings.Contains(why, "spec.dataset must be the same") {
		t.Errorf("of another data set too: %q", why)
	}
}

func TestADifferenceOfNothingHasNoMinus(t *testing.T) {
	base, now := pair(t)
	now.Status.Load.Latency.P50Microseconds = base.Status.Load.Latency.P50Microseconds - 1
	if got := cell(t, compareAll(t, base, now), "latency p50"); !strings.HasSuffix(got, "(+0%)") {
		t.Errorf("one µs less is %q", got)
	}
}

// TestRunsOfOneNameAreToldApart by what the cluster called them.
func TestRunsOfOneNameAreToldApart(t *testing.T) {
	base, now := pair(t)
	base.Experiment, base.UID, now.UID = now.Experiment, "0123456789", "abcdefghij"
	c := compareAll(t, base, now)
	if a, b := c.Runs[0].Name, c.Runs[1].Name; a != "semisync 01234567" || b != "semisync abcdefgh" {
		t.Errorf("they are %q and %q", a, b)
	}
}

// TestStagesAreThoseThatAllHave; one that is the whole load of each is not shown again.
func TestStagesAreThoseThatAllHave(t *testing.T) {
	for name, c := range map[string]struct {
		change func(base, now *results.Results)
		want   string
	}{
		"one each": {func(_, _ *results.Results) {}, ""},
		"two each": {func(base, now *results.Results) {
			base.Spec.Load.Stages[0].Discard, now.Spec.Load.Stages[0].Discard = false, false
		}, strings.Repeat("warmup ", 5) + strings.Repeat("open ", 5)},
		"one more in the one": {func(_, now *results.Results) { now.Spec.Load.Stages[0].Discard = false }, strings.Repeat("open ", 5)},
	} {
		t.Run(name, func(t *testing.T) {
			base, now := pair(t)
			c.change(&base, &now)
			var got strings.Builder
			for _, r := range compareAll(t, base, now).Stages {
				stage, _, _ := strings.Cut(r.Title, ": ")
				got.WriteString(stage + " ")
			}
			if got.String() != c.want {
				t.Errorf("stages %q, want %q", got.String(), c.want)
			}
		})
	}
}
