package main

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"replab.dev/api/v1alpha1"
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
		unacknowledged = s.Replication.UnacknowledgedCommits
	}
	for _, c := range []struct {
		name  string
		value *int64
	}{
		{"lost", lost(r)}, {"lost alone", lostAlone(r)}, {"ghosts", s.GhostWrites}, {"alone", unacknowledged}, {"outage ms", s.OutageMilliseconds}, {"rejoin ms", rejoin(s)},
	} {
		columns = append(columns, fmt.Sprintf("%s %6s", c.name, text(c.value)))
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

// rejoin is the longest of a run.
func rejoin(s *v1alpha1.ReplicationExperimentStatus) (longest *int64) {
	for _, f := range s.Faults {
		if f.RejoinMilliseconds != nil && (longest == nil || *f.RejoinMilliseconds > *longest) {
			longest = f.RejoinMilliseconds
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
	sumAlone(b, runs)
	for _, c := range []struct {
		name string
		of   func(*v1alpha1.ReplicationExperimentStatus) *int64
	}{
		{"Outage", func(s *v1alpha1.ReplicationExperimentStatus) *int64 { return s.OutageMilliseconds }},
		{"Back in place (the last of a run's faults)", rejoin},
	} {
		if all := figures(runs, c.of); len(all) > 0 {
			fmt.Fprintf(b, "%s: %d to %d ms, median %.0f, of %d runs.\n", c.name, slices.Min(all), slices.Max(all), percentile.Median(all), len(all))
		}
	}
	sumTimes(b, runs)
	sumReasons(b, runs)
	return b.String()
}

// sound tells whether a run's figures can be relied on.
func sound(r record) bool {
	v := r.verdict()
	return r.Error == "" && (v == string(v1alpha1.VerdictPassed) || v == string(v1alpha1.VerdictFailed))
}

// sumLosses says of how many runs losses and ghosts are known.
func sumLosses(b *strings.Builder, runs []record) {
	var lossy, stated, ghostly, counted int
	for _, r := range runs {
		switch n := lost(r); {
		case n == nil:
		case *n > 0:
			lossy, stated = lossy+1, stated+1
		case sound(r): // that nothing was lost takes a run whose figures can be relied on
			stated++
		}
	}
	for _, n := range figures(runs, func(s *v1alpha1.ReplicationExperimentStatus) *int64 { return s.GhostWrites }) {
		counted++
		if n > 0 {
			ghostly++
		}
	}
	fmt.Fprintf(b, "Acknowledged writes were lost in %d of the %d runs that could tell, ghosts were found in %d of the %d that counted them.\n", lossy, stated, ghostly, counted)
	if lossy == 0 && stated > 0 {
		fmt.Fprintf(b, "None lost in n runs bounds the probability of a loss by about 3/n with 95%% confidence: here n = %d.\n", stated)
	}
}

// figures that are known of the runs that have a status.
func figures(runs []record, of func(*v1alpha1.ReplicationExperimentStatus) *int64) (all []int64) {
	for _, r := range runs {
		if r.Status == nil {
			continue
		}
		if v := of(r.Status); v != nil {
			all = append(all, *v)
		}
	}
	return all
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
