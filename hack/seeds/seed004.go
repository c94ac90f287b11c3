package main

import (
	"fmt"
	"slices"
	"strings"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/report"
)

// conclusion is a line of seed 004's last table, as it stands there with its own differences, and the experiment that reproduces it.
type conclusion struct {
	title, experiment                     string
	perSecond, p99, requests, errors, lag string
}

// seed004 are the lines of the document, in its order. It gives no unit of the latency.
var seed004 = []conclusion{
	{"Single Instance", "seed-004-single", "24", "11", "5721", "11", "-"},
	{"Async 1 Master - 2 Slaves", "seed-004-async", "11 (-55%)", "11 (+0%)", "2553 (-56%)", "4 (-74%)", "300 - 400 ms"},
	{"Quorum 1 Master - 2 Slaves", "seed-004-quorum", "26 (+136%)", "11 (+0%)", "7264 (+27%)", "1 (-90%)", "150 - 200 ms (-50%)"},
	{"Promote 1 Master - 1 Slave", "seed-004-promote", "16 (-33%)", "11 (+0%)", "3932 (-32%)", "11 (+0%)", "0 ms (-100%)"},
}

func experimentsOf004() (names []string) {
	for _, c := range seed004 {
		names = append(names, c.experiment)
	}
	return names
}

// totals are a run's figures over all stages that count.
type totals struct {
	perSecond, p99, requests, errors float64 // answers a second, seconds, of which errors are a percentage
	atLeast                          bool    // p99 is a lower bound
}

// totalsOf a run, false where nothing was answered.
func totalsOf(r report.Results) (totals, bool) {
	if r.Witness == nil || r.Witness.Load.DurationMicroseconds == 0 || r.Witness.Load.Requests == 0 || r.Witness.Load.Latency == nil {
		return totals{}, false
	}
	l := r.Witness.Load
	return totals{
		perSecond: float64(l.Answered) * 1e6 / float64(l.DurationMicroseconds), p99: float64(l.Latency.P99Microseconds) / 1e6,
		requests: float64(l.Requests), errors: 100 * float64(l.Failures) / float64(l.Requests),
		atLeast: slices.Contains(l.Latency.LowerBounds, v1alpha1.P99),
	}, true
}

// text004 prints the document's conclusions beside the runs. Differences of the runs are from the one of a single server.
func text004(made map[string]report.Results) string {
	const columns = "%-18s %-18s %-18s %-10s %s"
	var b strings.Builder
	fmt.Fprintf(&b, "%-27s %-12s %-10s %-13s %-9s %-20s | "+columns+"\n", "configuration", "RPS", "99 %", "requests", "errors %", "lag", "RPS", "99 %", "requests", "errors %", "lag")
	base, hasBase := totalsOf(made[seed004[0].experiment])
	for _, c := range seed004 {
		line := fmt.Sprintf("%-27s %-12s %-10s %-13s %-9s %-20s | ", c.title, c.perSecond, c.p99, c.requests, c.errors, c.lag)
		r, ran := made[c.experiment]
		mine, measured := totalsOf(r)
		switch {
		case !ran:
			line += "not run"
		case !measured:
			line += "nothing was answered"
		default:
			from := func(now, of float64) string { return difference(now, of, hasBase && c != seed004[0]) }
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
	for _, c := range seed004 {
		if r, ran := made[c.experiment]; ran {
			fmt.Fprintf(&b, "\n%s: 1 run, %s%s", c.experiment, r.Status.Verdict, rowsOf(r))
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
func lagOf(r report.Results) string {
	if r.Status.Replication == nil || r.Status.Replication.Lag == nil || r.Status.Replication.Lag.MaxMicroseconds == nil {
		return "-"
	}
	l := r.Status.Replication.Lag
	bound := ""
	if slices.Contains(l.LowerBounds, v1alpha1.Max) {
		bound = "≥ "
	}
	return fmt.Sprintf("%s%.1f ms", bound, float64(*l.MaxMicroseconds)/1000)
}

// rowsOf the nodes, which the document counts at the end; of one that came back after the audit, what it then had.
func rowsOf(r report.Results) string {
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
