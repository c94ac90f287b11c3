package main

import (
	"fmt"
	"slices"
	"strings"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/figure"
	"replab.dev/internal/report/seeds"
	"replab.dev/internal/results"
)

func experimentsOf004() (names []string) {
	for _, c := range seeds.Seed004 {
		names = append(names, c.Experiment)
	}
	return names
}

// totals are a run's figures over all stages that count.
type totals struct {
	perSecond, p99, requests, errors float64 // answers a second, seconds, of which errors are a percentage
	atLeast                          bool    // p99 is a lower bound
}

// totalsOf a run, false where nothing was answered.
func totalsOf(r results.Results) (totals, bool) {
	if r.Recorder == nil || r.Recorder.Load.DurationMicroseconds == 0 || r.Recorder.Load.Requests == 0 || r.Recorder.Load.Latency == nil {
		return totals{}, false
	}
	l := r.Recorder.Load
	return totals{
		perSecond: float64(l.Answered) * 1e6 / float64(l.DurationMicroseconds), p99: float64(l.Latency.P99Microseconds) / 1e6,
		requests: float64(l.Requests), errors: 100 * float64(l.Failures) / float64(l.Requests),
		atLeast: slices.Contains(l.Latency.LowerBounds, v1alpha1.P99),
	}, true
}

// text004 prints the document's conclusions beside the runs. Differences of the runs are from the one of a single server.
func text004(made map[string]results.Results) string {
	const columns = "%-18s %-18s %-18s %-10s %s"
	var b strings.Builder
	fmt.Fprintf(&b, "%-27s %-12s %-10s %-13s %-9s %-20s | "+columns+"\n", "configuration", "RPS", "99 %", "requests", "errors %", "lag", "RPS", "99 %", "requests", "errors %", "lag")
	base, hasBase := totalsOf(made[seeds.Seed004[0].Experiment])
	for _, c := range seeds.Seed004 {
		line := fmt.Sprintf("%-27s %-12s %-10s %-13s %-9s %-20s | ", c.Title, c.PerSecond, c.P99, c.Requests, c.Errors, c.Lag)
		r, ran := made[c.Experiment]
		mine, measured := totalsOf(r)
		switch {
		case !ran:
			line += "not run"
		case !measured:
			line += "nothing was answered"
		default:
			from := func(now, of float64) string { return difference(now, of, hasBase && c != seeds.Seed004[0]) }
			bound := ""
			if mine.atLeast {
				bound = "≥ "
			}
			line += fmt.Sprintf(columns, fmt.Sprintf("%.1f%s", mine.perSecond, from(mine.perSecond, base.perSecond)),
				fmt.Sprintf("%s%.3f s%s", bound, mine.p99, from(mine.p99, base.p99)), fmt.Sprintf("%.0f%s", mine.requests, from(mine.requests, base.requests)),
				fmt.Sprintf("%.2f", mine.errors), lagOf(r))
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	for _, c := range seeds.Seed004 {
		if r, ran := made[c.Experiment]; ran {
			fmt.Fprintf(&b, "\n%s: 1 run, %s%s", c.Experiment, r.Status.Verdict, rowsOf(r))
		}
	}
	return b.String() + "\n"
}

// difference in percent, "" where there is nothing to compare with.
func difference(now, base float64, known bool) string {
	if !known || base == 0 {
		return ""
	}
	return fmt.Sprintf(" (%+.0f%%)", (now/base-1)*100)
}

// lagOf a run is the longest lag, "-" where there is none.
func lagOf(r results.Results) string {
	return figure.Read(&r.Status, "replication.lag.maxMicroseconds").Short()
}

// rowsOf the nodes, which the document counts at the end; of one that came back after the audit, what it then had.
func rowsOf(r results.Results) string {
	var texts []string
	for _, n := range r.Status.Nodes {
		rows := n.Rows
		if n.RejoinedRows != nil {
			rows = n.RejoinedRows
		}
		if rows != nil {
			texts = append(texts, fmt.Sprintf("%s %d", n.Name, *rows))
		}
	}
	if len(texts) == 0 {
		return ""
	}
	return "; rows: " + strings.Join(texts, ", ")
}
