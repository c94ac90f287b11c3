package verdict

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/evidencetest"
)

// judgedBeside judges sound evidence whose baseline is twice as fast.
func judgedBeside(change func(*evidence.Run)) v1alpha1.ReplicationExperimentStatus {
	e, s := evidencetest.Sound(), v1alpha1.ReplicationExperimentStatus{Images: &v1alpha1.ImagesStatus{K6: "k6:1"}, ScriptHash: "hash"}
	e.Spec.Baseline, e.Baseline = &v1alpha1.BaselineReference{Name: "single"}, baseline()
	change(&e)
	Judge(e, &s)
	return s
}

// TestAPartOfNothingIsOpen where the figure may be 0, too.
func TestAPartOfNothingIsOpen(t *testing.T) {
	var e evidence.Run
	s := judgedBeside(func(run *evidence.Run) { run.Baseline.Status.Load.Failures, e = 0, *run })
	s.Load.Failures = 5
	s.Bounds = []v1alpha1.BoundStatus{{Figure: "load.failures", AtLeast: ptr.To[int64](0), AtMost: ptr.To[int64](5), Because: "the recorder paused"}}
	part, met, why := againstBaseline(e, &s, v1alpha1.Goal{Metric: "failedRequests", MaxPercentOfBaseline: ptr.To[int64](100)})
	if part.Value != nil || met != metav1.ConditionUnknown || !strings.Contains(why.String(), "the recorder paused") {
		t.Errorf("%v, %s, %s", part, met, why)
	}
}

// TestGoalsInPercentOfTheBaseline: this run is half as fast, and its p99 twice as long.
func TestGoalsInPercentOfTheBaseline(t *testing.T) {
	throughput := func(least int64) v1alpha1.Goal {
		return v1alpha1.Goal{Metric: "requestsPerSecond", MinPercentOfBaseline: &least}
	}
	bounded := func(least, most int64) func(*evidence.Run) {
		return func(e *evidence.Run) {
			e.Baseline.Status.Bounds = []v1alpha1.BoundStatus{{Figure: "load.requestsPerSecondMilli", AtLeast: &least, AtMost: &most, Because: "the recorder paused"}}
		}
	}
	atLeast := func(s *v1alpha1.ReplicationExperimentStatus, least int64) {
		s.Bounds = []v1alpha1.BoundStatus{{Figure: "load.requestsPerSecondMilli", AtLeast: &least, Because: "the app was away"}}
	}
	for name, c := range map[string]struct {
		goal     v1alpha1.Goal
		change   func(*evidence.Run)
		met      metav1.ConditionStatus
		permille *int64
		says     string
	}{
		"met":                                  {throughput(50), nil, metav1.ConditionTrue, ptr.To[int64](500), "The goal was met."},
		"missed":                               {throughput(51), nil, metav1.ConditionFalse, ptr.To[int64](500), "Goal requestsPerSecond (min 51% of the baseline) was missed: measured 49.833, 50.0% of the baseline."},
		"above the largest":                    {v1alpha1.Goal{Metric: "p99Microseconds", MaxPercentOfBaseline: ptr.To[int64](199)}, nil, metav1.ConditionFalse, ptr.To[int64](2000), "200.0% of the baseline"},
		"met, and its own is not":              {v1alpha1.Goal{Metric: "requestsPerSecond", Min: ptr.To[int64](51), MinPercentOfBaseline: ptr.To[int64](1)}, nil, metav1.ConditionFalse, ptr.To[int64](500), "(min 51, min 1% of the baseline) was missed"},
		"between the bounds":                   {throughput(50), bounded(98_666, 100_666), metav1.ConditionUnknown, ptr.To[int64](500), "the measured value is 49.5% to 50.6% of the baseline's, but not exact, because the recorder paused"},
		"wherever it lies in them":             {throughput(49), bounded(98_666, 100_666), metav1.ConditionTrue, ptr.To[int64](500), "The goal was met."},
		"of a baseline without an upper bound": {throughput(1), func(e *evidence.Run) { atLeast(&e.Baseline.Status, 99_666) }, metav1.ConditionUnknown, nil, "its percentage of the baseline is too inexact, because the app was away"},
		"at most a part of such a baseline": {
			v1alpha1.Goal{Metric: "requestsPerSecond", MaxPercentOfBaseline: ptr.To[int64](50)},
			func(e *evidence.Run) { atLeast(&e.Baseline.Status, 99_666) }, metav1.ConditionTrue, nil, "The goal was met.",
		},
		"within more than 10 points": {throughput(50), bounded(90_000, 115_000), metav1.ConditionUnknown, nil, "its percentage of the baseline is too inexact, because the recorder paused"},
		"missed within bounds":       {throughput(60), bounded(98_666, 100_666), metav1.ConditionFalse, ptr.To[int64](500), "measured 49.833, 49.5% to 50.6% of the baseline."},
		"nowhere in them":            {throughput(51), bounded(98_666, 100_666), metav1.ConditionFalse, ptr.To[int64](500), "was missed"},
		"failures, and none in the baseline": {
			v1alpha1.Goal{Metric: "failedRequests", MaxPercentOfBaseline: ptr.To[int64](100)},
			func(e *evidence.Run) { e.Baseline.Status.Load.Failures = 0 }, metav1.ConditionFalse, nil, "was missed: measured 10.",
		},
		"without a baseline":       {throughput(50), func(e *evidence.Run) { e.Baseline = nil }, metav1.ConditionUnknown, nil, "run it first"},
		"of another load":          {throughput(50), func(e *evidence.Run) { e.Spec.Load.Mix.Register = 3 }, metav1.ConditionUnknown, nil, "this run is not compared with the baseline: "},
		"of a baseline without it": {v1alpha1.Goal{Metric: "outageMilliseconds", MaxPercentOfBaseline: ptr.To[int64](100)}, nil, metav1.ConditionUnknown, nil, "this run or the baseline did not measure it"},
	} {
		t.Run(name, func(t *testing.T) {
			s := judgedBeside(func(e *evidence.Run) {
				e.Spec.Goals, e.Baseline.Status.Load.RequestsPerSecondMilli = []v1alpha1.Goal{c.goal}, ptr.To[int64](99_666)
				if c.change != nil {
					c.change(e)
				}
			})
			if g := s.Goals[0]; g.Met != c.met || ptr.Deref(g.BaselinePermille, -1) != ptr.Deref(c.permille, -1) {
				t.Errorf("%s, %d thousandths of the baseline; want %s, %v", g.Met, ptr.Deref(g.BaselinePermille, -1), c.met, c.permille)
			}
			if !strings.Contains(strings.Join(s.Reasons, "\n"), c.says) {
				t.Errorf("%q, want %q", s.Reasons, c.says)
			}
		})
	}
}

func TestAMissedGoalIsStatedWithItsBounds(t *testing.T) {
	outage, rate := v1alpha1.GoalStatus{Metric: "outageMilliseconds", Measured: ptr.To[int64](1678)}, v1alpha1.GoalStatus{Metric: "requestsPerSecond", MeasuredMilli: ptr.To[int64](50_500)}
	part := outage
	part.BaselinePermille = ptr.To[int64](3000)
	for name, c := range map[string]struct {
		goal        v1alpha1.GoalStatus
		path        string
		least, most *int64
		want        string
	}{
		"exact":         {outage, "", nil, nil, "1678"},
		"both bounds":   {outage, "outageMilliseconds", ptr.To[int64](1356), ptr.To[int64](1678), "1356 to 1678"},
		"of a baseline": {part, "outageMilliseconds", ptr.To[int64](1356), ptr.To[int64](1678), "1356 to 1678, 300.0% of the baseline"},
		"a lower one":   {outage, "outageMilliseconds", ptr.To[int64](1678), nil, "at least 1678"},
		"in its unit":   {rate, "load.requestsPerSecondMilli", ptr.To[int64](48_000), ptr.To[int64](50_500), "48.000 to 50.500"},
		"an upper one":  {rate, "load.requestsPerSecondMilli", nil, ptr.To[int64](50_500), "at most 50.500"},
	} {
		s := evidence.Status{OutageMilliseconds: outage.Measured, Load: &v1alpha1.LoadStatus{}}
		s.Load.RequestsPerSecondMilli, s.Goals = rate.MeasuredMilli, []v1alpha1.GoalStatus{c.goal}
		if c.path != "" {
			s.Bounds = []v1alpha1.BoundStatus{{Figure: c.path, AtLeast: c.least, AtMost: c.most, Because: "the recorder paused"}}
		}
		if got := missedBy(c.goal, &s); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
