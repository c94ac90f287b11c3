package main

import (
	"fmt"
	"strings"

	"replab.dev/hack/internal/runs"
	"replab.dev/internal/report"
)

// run is what came of an experiment.
type run struct {
	verdict   string
	roundTrip float64 // seconds, that was asked for; 0 without distance
	figures   []figure
}

// figuresOf are the stages of a run that count, with the users that they had. A stage in which nothing succeeded has none.
func figuresOf(r report.Results) run {
	out := run{verdict: string(r.Status.Verdict)}
	for _, l := range r.Spec.Topology.Links { // one, or all alike
		out.roundTrip = float64(l.RoundTripMilliseconds) / 1000
	}
	for _, s := range runs.Stages(r) {
		out.figures = append(out.figures, figure{connections: s.Users, perSecond: s.PerSecond, failed: s.Failed, p95: s.P95, mean: s.Mean})
	}
	return out
}

// text prints each table of the seed beside the runs that reproduce it, by the experiments' names.
func text(parts []part, made map[string]run) string {
	var b strings.Builder
	for _, p := range parts {
		r, ran := made[p.experiment]
		beside := p.experiment + ": not run"
		if ran {
			beside = p.experiment + ": 1 run, " + r.verdict
		}
		fmt.Fprintf(&b, "%-55s | %s\n", p.title, beside)
		fmt.Fprintf(&b, "%5s %8s %8s %8s %8s %8s    | %8s %8s %8s %8s %8s\n",
			"conns", "trx/sec", "dlk/sec", "lat(95)", "lat(avg)", "of bound", "trx/sec", "fail/sec", "lat(95)", "lat(avg)", "of bound")
		for _, f := range p.seed {
			line := fmt.Sprintf("%5d %s    |", f.connections, columns(f, p.roundTrip, local(parts)))
			if mine, ok := at(r.figures, f.connections); ok {
				line += " " + columns(mine, r.roundTrip, made[withoutDistance].figures)
			}
			b.WriteString(strings.TrimRight(line, " ") + "\n")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// local are the seed's figures without distance.
func local(parts []part) []figure {
	for _, p := range parts {
		if p.experiment == withoutDistance {
			return p.seed
		}
	}
	return nil
}

// columns of a figure. A synchronous commit waits one round trip, so no more than connections / (round trip + latency without it)
// can be done in a second; where either is not known there is no bound.
func columns(f figure, roundTrip float64, local []figure) string {
	ofBound := ""
	if l, ok := at(local, f.connections); ok && roundTrip > 0 {
		ofBound = fmt.Sprintf("%.2f", f.perSecond*(roundTrip+l.mean)/float64(f.connections))
	}
	return fmt.Sprintf("%8.2f %8.2f %8.4f %8.4f %8s", f.perSecond, f.failed, f.p95, f.mean, ofBound)
}

func at(figures []figure, connections int64) (figure, bool) {
	for _, f := range figures {
		if f.connections == connections {
			return f, true
		}
	}
	return figure{}, false
}
