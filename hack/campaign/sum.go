package main

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	rule "replab.dev/internal/compare"
	"replab.dev/internal/percentile"
)

// line is one run: its verdict, what it lost and how long it was out, what was drawn, and why it is so.
func line(r record) string {
	number := fmt.Sprintf("%4d", r.Number)
	if r.Beside {
		number += "b"
	}
	columns := []string{fmt.Sprintf("%-5s", number), fmt.Sprintf("%-12s", r.verdict()), fmt.Sprintf("%4d s", r.Seconds)}
	if r.Status == nil {
		return strings.Join(append(columns, r.Error), "  ")
	}
	s := r.Status
	var unacknowledged *int64
	if s.Replication != nil {
		unacknowledged = s.Replication.DegradedCommits
	}
	for _, c := range []struct {
		name  string
		value *int64
	}{
		{"lost", lost(r)}, {"lost alone", lostWhileDegraded(r)}, {"ghosts", s.GhostWrites}, {"alone", unacknowledged},
	} {
		columns = append(columns, fmt.Sprintf("%s %6s", c.name, text(c.value)))
	}
	for _, c := range []struct {
		name string
		of   func(*v1alpha1.ReplicationExperimentStatus) *rule.Interval
	}{{"outage ms", outage}, {"rejoin ms", rejoin}} {
		shown := "-"
		if v := c.of(s); v != nil {
			shown = between(*v, 0)
		}
		columns = append(columns, fmt.Sprintf("%s %6s", c.name, shown))
	}
	for _, stage := range r.Stages {
		columns = append(columns, fmt.Sprintf("%s %.2f/s", stage.Name, stage.PerSecond))
	}
	for _, f := range r.Faults {
		columns = append(columns, fmt.Sprintf("%s node %s at %d for %d s", f.Action, node(f), f.AtSeconds, f.HoldSeconds))
	}
	if r.Error != "" {
		columns = append(columns, r.Error)
	}
	return strings.Join(append(columns, s.Reasons...), "  ")
}

func node(f v1alpha1.Fault) string {
	if f.Node == nil {
		return string(f.Target)
	}
	return strconv.Itoa(int(*f.Node))
}

// lost writes of a run, nil where nobody can tell.
func lost(r record) *int64 {
	if r.Status == nil || r.Status.Writes == nil {
		return nil
	}
	return r.Status.Writes.Lost
}

// outage of a run in milliseconds, with its bounds.
func outage(s *v1alpha1.ReplicationExperimentStatus) *rule.Interval {
	i, ok := rule.Measured(s, "outageMilliseconds")
	if !ok {
		return nil
	}
	return &i
}

// rejoin is the longest of a run in milliseconds.
func rejoin(s *v1alpha1.ReplicationExperimentStatus) (longest *rule.Interval) {
	for _, f := range s.Faults {
		if f.RejoinMilliseconds != nil && (longest == nil || float64(*f.RejoinMilliseconds) > longest.Low) {
			longest = ptr.To(rule.Exact(float64(*f.RejoinMilliseconds)))
		}
	}
	return longest
}

// text of a figure that may be absent.
func text(v *int64) string {
	if v == nil {
		return "-"
	}
	return strconv.FormatInt(*v, 10)
}

// unsound tells whether a run says nothing, or something that cannot be.
func unsound(runs []record) bool {
	return slices.ContainsFunc(runs, func(r record) bool {
		v := r.verdict()
		return v == "Error" || v == string(v1alpha1.VerdictInvalid) || v == string(v1alpha1.VerdictInconclusive) && len(r.Status.Reasons) == 0
	})
}

// sum says what came of all runs: verdicts, losses and ghosts, how long things took, and why runs found nothing out.
func sum(runs []record) string {
	b := &strings.Builder{}
	verdicts := map[string]int{}
	for _, r := range runs {
		verdicts[r.verdict()]++
	}
	fmt.Fprintf(b, "%d runs:", len(runs))
	for _, v := range slices.Sorted(maps.Keys(verdicts)) {
		fmt.Fprintf(b, " %d %s", verdicts[v], v)
	}
	b.WriteString(".\n")
	sumLosses(b, runs)
	sumDegraded(b, runs)
	for _, c := range []struct {
		name string
		of   func(*v1alpha1.ReplicationExperimentStatus) *rule.Interval
	}{{"Outage", outage}, {"Back in place (the last of a run's faults)", rejoin}} {
		sumFigure(b, runs, c.name, c.of)
	}
	sumTimes(b, runs)
	sumReasons(b, runs)
	return b.String()
}

// sound tells whether a run's figures can be relied on.
func sound(r record) bool {
	v := r.verdict()
	return rule.Reliable(v1alpha1.Verdict(v))
}

// sumFigure says how a figure of the runs is distributed. Runs whose figures cannot be relied on do not enter, and are counted.
func sumFigure(b *strings.Builder, runs []record, name string, of func(*v1alpha1.ReplicationExperimentStatus) *rule.Interval) {
	var all []rule.Interval
	left := 0
	for _, r := range runs {
		if r.Status == nil {
			continue
		}
		switch v := of(r.Status); {
		case v == nil:
		case sound(r):
			all = append(all, *v)
		default:
			left++
		}
	}
	switch {
	case len(all) > 0:
		whole := rule.Interval{Low: slices.Min(rule.Lows(all)), High: slices.Max(rule.Highs(all))}
		fmt.Fprintf(b, "%s: %.0f to %s ms, median %s, of %d runs", name, whole.Low, highest(whole.High), between(rule.Median(all), 0), len(all))
	case left > 0:
		fmt.Fprintf(b, "%s: of no run", name)
	default:
		return
	}
	if left > 0 {
		fmt.Fprintf(b, "; left out are %d whose figures cannot be relied on", left)
	}
	b.WriteString(".\n")
}

func highest(v float64) string {
	if math.IsInf(v, 1) {
		return "an unknown number of"
	}
	return fmt.Sprintf("%.0f", v)
}

// tells whether a count of a run says something: that there was none takes figures that can be relied on.
func tells(r record, n *int64) bool {
	return n != nil && (*n > 0 || sound(r))
}

// sumLosses says of how many runs losses and ghosts are known.
func sumLosses(b *strings.Builder, runs []record) {
	var lossy, stated, ghostly, counted int
	for _, r := range withSets(runs) {
		if n := lost(r); tells(r, n) {
			stated++
			lossy += min(1, int(*n))
		}
		if tells(r, r.Status.GhostWrites) {
			counted++
			ghostly += min(1, int(*r.Status.GhostWrites))
		}
	}
	fmt.Fprintf(b, "Acknowledged writes were lost in %d of the %d runs that could tell, ghosts were found in %d of the %d that counted them.\n", lossy, stated, ghostly, counted)
	if lossy == 0 && stated > 0 {
		fmt.Fprintf(b, "None lost in n runs bounds the probability of a loss by about 3/n with 95%% confidence: here n = %d.\n", stated)
	}
}

// sumTimes says where the time of a run goes.
func sumTimes(b *strings.Builder, runs []record) {
	var names []string
	steps := map[string][]int64{}
	var whole []int64
	for _, r := range runs {
		whole = append(whole, r.Seconds)
		for _, s := range r.Steps {
			if steps[s.Name] == nil {
				names = append(names, s.Name)
			}
			steps[s.Name] = append(steps[s.Name], s.Seconds)
		}
	}
	if len(whole) == 0 {
		return
	}
	fmt.Fprintf(b, "A run takes %.0f s (the median, with its removal)", percentile.Median(whole))
	between := "; its steps: "
	for _, name := range names {
		if m := percentile.Median(steps[name]); m >= 1 {
			fmt.Fprintf(b, "%s%s %.0f s", between, name, m)
			between = ", "
		}
	}
	b.WriteString(".\n")
}

// sumReasons says why runs did not pass, those of a kind together.
func sumReasons(b *strings.Builder, runs []record) {
	why := map[string][]string{}
	for _, r := range runs {
		reasons := []string{r.Error}
		if r.Error == "" && r.Status != nil {
			reasons = r.Status.Reasons
		}
		if v := r.verdict(); v != string(v1alpha1.VerdictPassed) && len(reasons) > 0 {
			key := v + ": " + alike(reasons[0])
			why[key] = append(why[key], r.Name)
		}
	}
	keys := slices.Sorted(maps.Keys(why))
	slices.SortStableFunc(keys, func(a, b string) int { return len(why[b]) - len(why[a]) })
	for _, key := range keys {
		fmt.Fprintf(b, "%4d x %s (%s)\n", len(why[key]), key, strings.Join(why[key], " "))
	}
}

var numbers = regexp.MustCompile(`[0-9]+`)

// alike takes the numbers out of a reason, by which two of the same kind differ.
func alike(reason string) string { return numbers.ReplaceAllString(reason, "N") }
