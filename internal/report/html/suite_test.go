package html

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/compare"
	"replab.dev/internal/report/chart"
	"replab.dev/internal/report/suites"
	"replab.dev/internal/suite"
)

// ofTwo variants is a suite with two comparisons and three trials.
func ofTwo() *suites.Document {
	d := &suites.Document{Suite: &v1alpha1.ReplicationSuite{}}
	s := d.Suite
	s.Name = "<cost>"
	s.Spec.Variants = []v1alpha1.SuiteVariant{{Name: "async"}, {Name: "semisync"}}
	s.Status.Verdict = v1alpha1.VerdictPassed
	s.Status.Comparisons = []v1alpha1.SuiteComparisonStatus{
		{Of: "semisync", To: "async", Metric: "requestsPerSecond", RatioPercent: "75", Low: "70", High: "80", Conclusion: "Lower"},
		{Of: "semisync", To: "async", Metric: "p99Microseconds", Low: "101", Conclusion: "Undecided"},
	}
	for i, variant := range []string{"async", "async", "semisync"} {
		run := v1alpha1.TrialRun{Name: variant + "-" + string(rune('1'+i)), Variant: variant, Round: int32(i + 1), Attempt: 1, Verdict: v1alpha1.VerdictPassed}
		s.Status.Runs = append(s.Status.Runs, run)
		x := v1alpha1.ReplicationExperiment{}
		x.Name = run.Name
		x.Status.Load = &v1alpha1.LoadStatus{StageFigures: v1alpha1.StageFigures{RequestsPerSecondMilli: ptr.To(int64(100_000))}}
		d.Trials = append(d.Trials, x)
	}
	return d
}

// pageOf a suite.
func pageOf(t *testing.T, d *suites.Document) string {
	t.Helper()
	var b strings.Builder
	if err := WriteSuite(&b, d); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestPageOfASuite: a dot for each trial and a row for each comparison.
func TestPageOfASuite(t *testing.T) {
	d := ofTwo()
	page := pageOf(t, d)
	picture := page[strings.Index(page, `data-chart="requestsPerSecond"`):]
	picture = picture[:strings.Index(picture, "</div>")]
	for _, run := range d.Suite.Status.Runs {
		if strings.Count(picture, "<title>"+run.Name+"</title>") != 1 {
			t.Errorf("no dot of %s in %s", run.Name, picture)
		}
	}
	for _, want := range []string{
		"<h1>&lt;cost&gt;</h1>", `data-chart="forest"`, "semisync/async latency p99", "<title>semisync/async successful requests/s: 75%, Lower</title>", "<td class=\"w\">70% to 80%</td>", "at least 101%",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in %s", want, page)
		}
	}
}

// TestASuiteWithoutTrials has a page without pictures.
func TestASuiteWithoutTrials(t *testing.T) {
	page := pageOf(t, &suites.Document{Suite: &v1alpha1.ReplicationSuite{}})
	if strings.Contains(page, "<svg") || !strings.Contains(page, "no verdict") {
		t.Error(page)
	}
}

// TestATrialBetweenTwoBoundsIsARange, and no lower bound at its low end.
func TestATrialBetweenTwoBoundsIsARange(t *testing.T) {
	value := func(low, high float64) chart.Point {
		v := suite.Value{Interval: compare.Interval{Low: low, High: high}}
		return withDot(nil, v, 1)[0].Points[0]
	}
	for name, c := range map[string]struct{ got, want chart.Point }{
		"exact":       {value(4, 4), chart.Point{Colour: decided, Value: 4}},
		"at least":    {value(4, math.Inf(1)), chart.Point{Colour: decided, Value: 4, Open: true}},
		"at most":     {value(math.Inf(-1), 9), chart.Point{Colour: decided, Value: 9, Below: true}},
		"in between":  {value(4, 9), chart.Point{Colour: decided, Value: 6.5, Range: &chart.Range{From: 4, To: 9}}},
		"from 0 to 9": {value(0, 9), chart.Point{Colour: decided, Value: 4.5, Range: &chart.Range{From: 0, To: 9}}},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestTheOnlyStageHasNoPictureOfItsOwn, since it is the whole load.
func TestTheOnlyStageHasNoPictureOfItsOwn(t *testing.T) {
	for stageMilli, want := range map[int64]bool{100_000: false, 90_000: true} {
		d := ofTwo()
		for i := range d.Trials {
			d.Trials[i].Spec.Load.Stages = []v1alpha1.Stage{{Name: "open"}}
			load := d.Trials[i].Status.Load
			load.Stages = []v1alpha1.StageStatus{{Name: "open", StageFigures: v1alpha1.StageFigures{RequestsPerSecondMilli: ptr.To(stageMilli)}}}
		}
		if got := strings.Contains(pageOf(t, d), `data-chart="requestsPerSecond-open"`); got != want {
			t.Errorf("a stage with %d of 100,000 has a picture: %v, want %v", stageMilli, got, want)
		}
	}
}
