package main

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/figure"
)

// TestTwoTopologiesAreComparedUnderOneLoad: that of the reference. Each number has both, in random order.
func TestTwoTopologiesAreComparedUnderOneLoad(t *testing.T) {
	c := newCluster(t, outcome{verdict: v1alpha1.VerdictPassed})
	o := options{file: "../../experiments/galera.yaml", beside: single, count: 8, keep: 1, draw: draw{Rest: 15, Seed: 3}}
	_, b, err := c.goOn(t.Context(), t, t.TempDir(), o)
	must(t, err)
	s := subjectOf(t, o)
	orders := map[bool]int{}
	for i, made := range b.runs {
		if i%2 == 0 {
			orders[made.Beside]++
		}
		if made.Number != i/2+1 || i%2 == 1 && made.Beside == b.runs[i-1].Beside {
			t.Errorf("run %d is %+v", i, made.task)
		}
	}
	if orders[true] == 0 || orders[false] == 0 {
		t.Errorf("the first of each pair are %v: want some of both", orders)
	}
	if len(c.left(t)) != 0 {
		t.Errorf("%v are kept", c.left(t))
	}
	got := compare(b.runs, s, o)
	for _, want := range []string{
		"Requests per second of galera / those of single, in pairs of runs in random order:\nclosed: median ratio 0.900, 95% interval 0.900 to 0.900, of 8 pairs; Wilcoxon's signed ranks against 1: p = 0.0078\n",
		"medians 90.0/s and 100.0/s",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("it says\n%swithout %q", got, want)
		}
	}
	spec := s.experiment.Object["spec"].(map[string]any)
	if spec["faults"] != nil || spec["goals"] != nil || fmt.Sprint(spec["load"]) != fmt.Sprint(s.beside.Object["spec"].(map[string]any)["load"]) {
		t.Errorf("Galera runs with %v", spec)
	}
}

// pairOf is two runs of a number whose closed loop has a throughput in thousandths, as far as it is known.
func pairOf(number int, of, beside [2]int64) []record {
	var both []record
	for i, milli := range [][2]int64{of, beside} {
		f := v1alpha1.StageFigures{RequestsPerSecondMilli: &milli[0]}
		var b figure.Bounds
		b.Between("load.requestsPerSecondMilli", milli[0], milli[1], "why")
		b.Between("load.stages[closed].requestsPerSecondMilli", milli[0], milli[1], "why")
		both = append(both, record{
			task: task{number, i == 1}, Spec: &v1alpha1.ReplicationExperimentSpec{}, Provenance: &onMachines,
			Status: &v1alpha1.ReplicationExperimentStatus{Verdict: v1alpha1.VerdictPassed, Bounds: b, Load: &v1alpha1.LoadStatus{
				StageFigures: f, Stages: []v1alpha1.StageStatus{{Name: "closed", StageFigures: f, ClosedLoopHolds: metav1.ConditionTrue}},
			}},
		})
	}
	return both
}

// TestAPairThatTellsNothingIsLeftOut, and said to be.
func TestAPairThatTellsNothingIsLeftOut(t *testing.T) {
	full := [2]int64{100_000, 100_000}
	var all []record
	for number := range 6 {
		all = append(all, pairOf(number+1, [2]int64{50_000, 50_000}, full)...)
	}
	all[3].Status.Verdict = v1alpha1.VerdictInconclusive
	all[4].Status.Load.Stages[0].ClosedLoopHolds = metav1.ConditionFalse
	all[6].Spec.Topology = v1alpha1.TopologySpec{Type: v1alpha1.TopologyAsync, Durability: v1alpha1.DurabilityVolatile}
	all[8].Error = "it took longer"
	got := compare(all[:11], subjectOf(t, options{file: semisync, beside: single}), options{count: 7})
	want := `closed: median ratio 0.500 of 1 pairs: an anecdote, fewer than 6 pairs have no interval
  each: 0.500; medians 50.0/s and 100.0/s
  1 of 7 pairs are left out: durability is Volatile here and  in the baseline, and the topology differs too, so a difference could come from either
  1 of 7 pairs are left out: nothing succeeded in the stage, or its closed loop does not hold
  2 of 7 pairs are left out: one of the two is not made yet
  1 of 7 pairs are left out: the baseline's verdict is Inconclusive: its figures cannot be relied on
  1 of 7 pairs are left out: this experiment has no figures of its load
`
	if !strings.HasSuffix(got, want) {
		t.Errorf("it says\n%swant\n%s", got, want)
	}
}

func TestPairsKeepBounds(t *testing.T) {
	s := subjectOf(t, options{file: semisync, beside: single})
	var all []record
	for number := range 7 {
		most := int64(50_000)
		if number < 4 {
			most = 52_000 // the recorder stood still
		}
		all = append(all, pairOf(number+1, [2]int64{50_000, most}, [2]int64{100_000, 100_000})...)
	}
	got := compare(all, s, options{count: 7})
	if want := "closed: median ratio 0.500 to 0.520, 95% interval 0.500 to 0.520, of 7 pairs; Wilcoxon's signed ranks against 1: p = 0.0156\n"; !strings.Contains(got, want) {
		t.Errorf("it says\n%swithout\n%s", got, want)
	}
	if want := "medians 50.0 to 52.0/s and 100.0/s"; !strings.Contains(got, want) {
		t.Errorf("it says\n%swithout %q", got, want)
	}
	(*figure.Bounds)(&all[0].Status.Bounds).Between("load.stages[closed].requestsPerSecondMilli", 50_000, 61_000, "why")
	got = compare(all[:2], s, options{count: 1})
	if want := "closed: the median ratio of 1 pairs is not stated: its bounds are more than 10 points apart\n"; !strings.Contains(got, want) {
		t.Errorf("it says\n%swithout\n%s", got, want)
	}
}

// TestSummariesKeepBounds: an outage that did not end makes no exact median.
func TestSummariesKeepBounds(t *testing.T) {
	run := func(v v1alpha1.Verdict, ms, uncertain int64, open bool) record {
		var b figure.Bounds
		if b.Between("outageMilliseconds", ms-uncertain, ms, "why"); open {
			b.AtLeast("outageMilliseconds", ms, "why")
		}
		return record{Status: &v1alpha1.ReplicationExperimentStatus{Verdict: v, OutageMilliseconds: &ms, Bounds: b}}
	}
	passed := v1alpha1.VerdictPassed
	all := []record{run(passed, 300, 0, false), run(passed, 200, 20, false), run(passed, 100, 0, true)}
	if got, want := sum(all), "Outage: 100 to an unknown number of ms, median 180 to 300, of 3 runs.\n"; !strings.Contains(got, want) {
		t.Errorf("it says\n%swithout %q", got, want)
	}
	all = append(all[:2], run(v1alpha1.VerdictInvalid, 9000, 0, false), run(v1alpha1.VerdictInconclusive, 8000, 0, false))
	if got, want := sum(all), "Outage: 180 to 300 ms, median 240 to 250, of 2 runs; left out are 2 whose figures cannot be relied on.\n"; !strings.Contains(got, want) {
		t.Errorf("it says\n%swithout %q", got, want)
	}
	lost := int64(5)
	all[2].Status.Writes = &v1alpha1.WritesStatus{Lost: &lost}
	if got, want := sum(all), "lost in 0 of the 0 runs that could tell"; !strings.Contains(got, want) {
		t.Errorf("an Invalid run's losses count:\n%s", got)
	}
	if got := line(run(passed, 100, 0, true)); !strings.Contains(got, "outage ms   ≥100") {
		t.Errorf("the line is %q", got)
	}
}
