package main

import (
	"fmt"
	"math"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/runs"
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

// TestAPairThatTellsNothingIsLeftOut, and said to be.
func TestAPairThatTellsNothingIsLeftOut(t *testing.T) {
	run := func(number int, beside bool, perSecond float64, v v1alpha1.Verdict, holds metav1.ConditionStatus) record {
		return record{
			task: task{number, beside}, Stages: []runs.Stage{{Name: "closed", Users: 8, PerSecond: perSecond}},
			Status: &v1alpha1.ReplicationExperimentStatus{Verdict: v, Load: &v1alpha1.LoadStatus{Stages: []v1alpha1.StageStatus{{Name: "closed", ClosedLoopHolds: holds}}}},
		}
	}
	passed, holds := v1alpha1.VerdictPassed, metav1.ConditionTrue
	s := subjectOf(t, options{file: semisync, beside: single})
	got := compare([]record{
		run(1, false, 50, passed, holds), run(1, true, 100, passed, holds),
		run(2, true, 100, v1alpha1.VerdictInconclusive, holds), run(2, false, 99, passed, holds),
		run(3, false, 99, passed, metav1.ConditionFalse), run(3, true, 100, passed, holds),
		run(4, true, 100, passed, holds),
	}, s, options{count: 4})
	want := "closed: median ratio 0.500 of 1 pairs: an anecdote, fewer than 6 pairs have no interval\n  each: 0.500; medians 50.0/s and 100.0/s\n" +
		"  3 of 4 pairs are left out: one of the two is not made yet, or its figures are not to be relied on\n"
	if !strings.HasSuffix(got, want) {
		t.Errorf("it says\n%swant\n%s", got, want)
	}
}

// TestSignedRanks by what can be counted by hand: of n signs each is as likely, and only all alike have the least sum.
func TestSignedRanks(t *testing.T) {
	for name, c := range map[string]struct {
		values []float64
		want   float64
	}{
		"all on one side":   {[]float64{1, 2, 3, 4, 5, 6}, 2. / 64},
		"none":              {nil, 1},
		"zeros tell naught": {[]float64{0, 1, 2, 0, 3, 4, 5, 6}, 2. / 64},
		"the least differs": {[]float64{-1, 2, 3, 4, 5, 6}, 4. / 64},                  // sums 0 and 1
		"balanced":          {[]float64{1, -2, -3, 4}, 1},                             // 5 of 10
		"ties":              {[]float64{-1, 1, 1, 1, 1, 1}, 2 * (1. + 6.) / 64},       // rank 3.5 each: the sums 0 and 3.5
		"one of ten":        {[]float64{-5, 2, 3, 5, 7, 8, 8, 9, 10, 11}, 12. / 1024}, // the sums 0, 1, 2, 3 and 3.5 twice
	} {
		if got := signedRanks(c.values); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %.5f, want %.5f", name, got, c.want)
		}
	}
}

// TestTheIntervalHasTheMedianAsOftenAsItSays: of samples from a known distribution.
func TestTheIntervalHasTheMedianAsOftenAsItSays(t *testing.T) {
	low, high := interval([]float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, 1)
	again, _ := interval([]float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, 1)
	if low != again || low > 4 || low < 2 || high < 8 || high > 10 {
		t.Errorf("interval %v to %v, then from %v", low, high, again)
	}
}
