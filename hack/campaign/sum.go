package main

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"replab.dev/api/v1alpha1"
)

// line is one run in the table.
func line(r record) string {
	columns := []string{fmt.Sprintf("%4d", r.Number), fmt.Sprintf("%-12s", r.verdict())}
	if r.Status == nil {
		return strings.Join(append(columns, r.Error), "  ")
	}
	s := r.Status
	var lost, unacknowledged *int64
	if s.Writes != nil {
		lost = s.Writes.Lost
	}
	if s.Replication != nil {
		unacknowledged = s.Replication.UnacknowledgedCommits
	}
	for _, c := range []struct {
		name  string
		value *int64
	}{
		{"lost", lost}, {"ghosts", s.GhostWrites}, {"alone", unacknowledged}, {"outage ms", s.OutageMilliseconds}, {"rejoin ms", rejoin(s)},
	} {
		columns = append(columns, fmt.Sprintf("%s %6s", c.name, text(c.value)))
	}
	for _, f := range r.Faults {
		columns = append(columns, fmt.Sprintf("%s node %s at %d for %d s", f.Action, node(f), f.AtSeconds, f.HoldSeconds))
	}
	if r.Error != "" {
		columns = append(columns, r.Error)
	}
	return strings.Join(columns, "  ")
}

func node(f v1alpha1.Fault) string {
	if f.Node == nil {
		return string(f.Target)
	}
	return strconv.Itoa(int(*f.Node))
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

// sum says what came of all runs: verdicts, losses and ghosts, and why runs found nothing out.
func sum(runs []record) string {
	b := &strings.Builder{}
	verdicts := map[string]int{}
	why := map[string][]int{}
	var lossy, stated, ghostly, counted int
	for _, r := range runs {
		verdicts[r.verdict()]++
		if r.Status == nil {
			continue
		}
		if w := r.Status.Writes; w != nil && w.Lost != nil {
			stated++
			if *w.Lost > 0 {
				lossy++
			}
		}
		if g := r.Status.GhostWrites; g != nil {
			counted++
			if *g > 0 {
				ghostly++
			}
		}
		if v := r.Status.Verdict; v != v1alpha1.VerdictPassed && len(r.Status.Reasons) > 0 {
			key := string(v) + ": " + alike(r.Status.Reasons[0])
			why[key] = append(why[key], r.Number)
		}
	}
	fmt.Fprintf(b, "%d runs:", len(runs))
	for _, v := range slices.Sorted(maps.Keys(verdicts)) {
		fmt.Fprintf(b, " %d %s", verdicts[v], v)
	}
	fmt.Fprintf(b, ".\nAcknowledged writes were lost in %d of the %d runs that could tell, ghosts were found in %d of the %d that counted them.\n", lossy, stated, ghostly, counted)
	if lossy == 0 && stated > 0 {
		fmt.Fprintf(b, "None lost in n runs bounds the probability of a loss by about 3/n with 95%% confidence: here n = %d.\n", stated)
	}
	for _, key := range slices.SortedFunc(maps.Keys(why), func(a, b string) int { return len(why[b]) - len(why[a]) }) {
		fmt.Fprintf(b, "%4d x %s (runs %v)\n", len(why[key]), key, why[key])
	}
	return b.String()
}

var numbers = regexp.MustCompile(`[0-9]+`)

// alike takes the numbers out of a reason, by which two of the same kind differ.
func alike(reason string) string { return numbers.ReplaceAllString(reason, "N") }
