package main

import (
	"fmt"
	"math"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/percentile"
	"replab.dev/internal/runs"
)

// pair is the two runs of a number, as far as they were made.
type pair struct {
	number     int
	of, beside *record
}

func pairs(all []record) []pair {
	var made []pair
	place := map[int]int{}
	for i := range all {
		r := &all[i]
		at, ok := place[r.Number]
		if !ok {
			at = len(made)
			place[r.Number] = at
			made = append(made, pair{number: r.Number})
		}
		if r.Beside {
			made[at].beside = r
		} else {
			made[at].of = r
		}
	}
	return made
}

// measured is the closed loop of a stage of a run whose figures can be relied on.
func measured(r *record, stage string) (runs.Stage, bool) {
	if r == nil || !sound(*r) || r.Status == nil || r.Status.Load == nil {
		return runs.Stage{}, false
	}
	for _, s := range r.Status.Load.Stages {
		if s.Name == stage && s.ClosedLoopHolds == metav1.ConditionFalse {
			return runs.Stage{}, false
		}
	}
	for _, s := range r.Stages {
		if s.Name == stage && s.PerSecond > 0 {
			return s, true
		}
	}
	return runs.Stage{}, false
}

// compare prints, for each closed loop, the ratio of each pair's throughput, their median with its interval, and whether the ratios
// lie to one side of 1: by pairs, since a shared machine drifts, with a bootstrap interval and Wilcoxon's signed ranks.
func compare(all []record, s subject, o options) string {
	b := &strings.Builder{}
	name, other := s.experiment.GetName(), s.beside.GetName()
	fmt.Fprintf(b, "Requests per second of %s / those of %s, in pairs of runs in random order:\n", name, other)
	made := pairs(all)
	for _, stage := range closedLoops(s) {
		var ratios []float64
		var shown []string
		var ofs, besides []float64
		for _, p := range made {
			x, ok := measured(p.of, stage)
			y, also := measured(p.beside, stage)
			if ok && also {
				ratios = append(ratios, x.PerSecond/y.PerSecond)
				ofs, besides = append(ofs, x.PerSecond), append(besides, y.PerSecond)
				shown = append(shown, fmt.Sprintf("%.3f", x.PerSecond/y.PerSecond))
			}
		}
		fmt.Fprintf(b, "%s: %s\n", stage, verdictOf(ratios, o.draw.Seed))
		if len(ratios) > 0 {
			fmt.Fprintf(b, "  each: %s; medians %.1f/s and %.1f/s\n", strings.Join(shown, " "), percentile.Median(ofs), percentile.Median(besides))
		}
		if left := o.count - len(ratios); left > 0 {
			fmt.Fprintf(b, "  %d of %d pairs are left out: one of the two is not made yet, or its figures are not to be relied on\n", left, o.count)
		}
	}
	return b.String()
}

// fewest pairs of which Wilcoxon's signed ranks can find anything at 5%.
const fewest = 6

func verdictOf(ratios []float64, seed int64) string {
	switch n := len(ratios); {
	case n == 0:
		return "no pair"
	case n < fewest:
		return fmt.Sprintf("median ratio %.3f of %d pairs: an anecdote, fewer than %d pairs have no interval", percentile.Median(ratios), n, fewest)
	}
	low, high := interval(ratios, seed)
	logs := make([]float64, len(ratios))
	for i, r := range ratios {
		logs[i] = math.Log(r)
	}
	return fmt.Sprintf("median ratio %.3f, 95%% interval %.3f to %.3f, of %d pairs; Wilcoxon's signed ranks against 1: p = %.4f",
		percentile.Median(ratios), low, high, len(ratios), signedRanks(logs))
}

// closedLoops are the names of the stages that count and have users.
func closedLoops(s subject) []string {
	var names []string
	spec, _ := normal(s.beside)["spec"].(map[string]any)
	load, _ := spec["load"].(map[string]any)
	stages, _ := load["stages"].([]any)
	for _, each := range stages {
		stage, _ := each.(map[string]any)
		discard, _ := stage["discard"].(bool)
		if name, ok := stage["name"].(string); ok && !discard && field(stage, "users") > 0 {
			names = append(names, name)
		}
	}
	return names
}
