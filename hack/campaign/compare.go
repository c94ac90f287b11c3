package main

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	rule "replab.dev/internal/compare"
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

// leftOut says why a pair is not compared, "" where it is.
func (p pair) leftOut() string {
	if p.of == nil || p.beside == nil {
		return "one of the two is not made yet"
	}
	return rule.Refusal(p.of.run(), p.beside.run())
}

// measured is the throughput of a closed loop, with its bounds.
func measured(r *record, stage string) (rule.Interval, bool) {
	for _, s := range r.Status.Load.Stages {
		if s.Name == stage && s.ClosedLoopHolds != metav1.ConditionFalse {
			rate, ok := rule.Measured(r.Status, "load.stages["+stage+"].requestsPerSecondMilli")
			return rate, ok && rate.Low > 0
		}
	}
	return rule.Interval{}, false
}

// compare prints, for each closed loop, the ratio of each pair's throughput, their median with its interval, and whether the ratios
// lie to one side of 1: by pairs, since a shared machine drifts, with a bootstrap interval and Wilcoxon's signed ranks.
func compare(all []record, s subject, o options) string {
	b := &strings.Builder{}
	name, other := s.experiment.GetName(), s.beside.GetName()
	fmt.Fprintf(b, "Requests per second of %s / those of %s, in pairs of runs in random order:\n", name, other)
	made := pairs(all)
	for _, stage := range closedLoops(s) {
		compareStage(b, made, stage, o)
	}
	return b.String()
}

func compareStage(b *strings.Builder, made []pair, stage string, o options) {
	var ofs, besides, ratios []rule.Interval
	var shown []string
	why := map[string]int{}
	if missing := o.count - len(made); missing > 0 {
		why["one of the two is not made yet"] = missing
	}
	for _, p := range made {
		if cause := p.leftOut(); cause != "" {
			why[cause]++
			continue
		}
		x, ok := measured(p.of, stage)
		y, also := measured(p.beside, stage)
		if !ok || !also {
			why["nothing succeeded in the stage, or its closed loop does not hold"]++
			continue
		}
		ofs, besides, ratios = append(ofs, x), append(besides, y), append(ratios, x.Over(y))
		shown = append(shown, between(x.Over(y), 3))
	}
	fmt.Fprintf(b, "%s: %s\n", stage, verdictOf(ratios, o.draw.Seed))
	if len(ratios) > 0 {
		fmt.Fprintf(b, "  each: %s; medians %s/s and %s/s\n", strings.Join(shown, ", "), between(perSecond(rule.Median(ofs)), 1), between(perSecond(rule.Median(besides)), 1))
	}
	for _, cause := range slices.Sorted(maps.Keys(why)) {
		fmt.Fprintf(b, "  %d of %d pairs are left out: %s\n", why[cause], o.count, cause)
	}
}

func perSecond(milli rule.Interval) rule.Interval {
	return rule.Interval{Low: milli.Low / 1000, High: milli.High / 1000}
}

// between shows a figure with so many decimals; bounds are rounded outwards.
func between(i rule.Interval, decimals int) string {
	scale := math.Pow10(decimals)
	switch {
	case i.Exact():
		return fmt.Sprintf("%.*f", decimals, i.Low)
	case math.IsInf(i.High, 1):
		return fmt.Sprintf("≥%.*f", decimals, math.Floor(i.Low*scale)/scale)
	}
	return fmt.Sprintf("%.*f to %.*f", decimals, math.Floor(i.Low*scale)/scale, decimals, math.Ceil(i.High*scale)/scale)
}

func verdictOf(ratios []rule.Interval, seed int64) string {
	n := len(ratios)
	if n == 0 {
		return "no pair"
	}
	median := rule.Median(ratios)
	if _, _, ok := rule.Percent(median, rule.Exact(1)); !ok {
		return fmt.Sprintf("the median ratio of %d pairs is not stated: its bounds are more than 10 points apart", n)
	}
	if n < rule.Fewest {
		return fmt.Sprintf("median ratio %s of %d pairs: an anecdote, fewer than %d pairs have no interval", between(median, 3), n, rule.Fewest)
	}
	logs := make([]rule.Interval, n)
	for i, r := range ratios {
		logs[i] = rule.Interval{Low: math.Log(r.Low), High: math.Log(r.High)}
	}
	with := rule.Bootstrap(ratios, seed)
	return fmt.Sprintf("median ratio %s, 95%% interval %.3f to %.3f, of %d pairs; Wilcoxon's signed ranks against 1: p = %.4f",
		between(median, 3), with.Low, with.High, n, rule.SignedRanks(logs))
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
