package main

import (
	"fmt"
	"strings"

	"replab.dev/internal/report/seeds"
	"replab.dev/internal/results"
	"replab.dev/internal/runs"
)

// run is what came of an experiment.
type run struct {
	verdict string
	figures []seeds.Figure
	ofBound map[int64]float64 // by connections, as the run's status has it: its bound rests on a stage of the run without distance
}

// figuresOf are the stages of a run that count, with the users that they had. A stage in which nothing succeeded has none.
func figuresOf(r results.Results) run {
	out := run{verdict: string(r.Status.Verdict), ofBound: map[int64]float64{}}
	for _, s := range runs.Stages(r) {
		if s.OfBound > 0 {
			out.ofBound[s.Users] = s.OfBound
		}
		out.figures = append(out.figures, seeds.Figure{Connections: s.Users, PerSecond: s.PerSecond, Failed: s.Failed, P95: s.P95, Mean: s.Mean})
	}
	return out
}

func experimentsOf001() (names []string) {
	for _, p := range seeds.Seed001 {
		names = append(names, p.Experiment)
	}
	return names
}

func text001(made map[string]results.Results) string {
	all := map[string]run{}
	for name, run := range made {
		all[name] = figuresOf(run)
	}
	return text(seeds.Seed001, all)
}

// text prints each table of the seed beside the runs that reproduce it, by the experiments' names.
func text(parts []seeds.Part, made map[string]run) string {
	var b strings.Builder
	for _, p := range parts {
		r, ran := made[p.Experiment]
		beside := p.Experiment + ": not run"
		if ran {
			beside = p.Experiment + ": 1 run, " + r.verdict
		}
		fmt.Fprintf(&b, "%-55s | %s\n", p.Title, beside)
		fmt.Fprintf(&b, "%5s %8s %8s %8s %8s %8s    | %8s %8s %8s %8s %8s\n",
			"conns", "trx/sec", "dlk/sec", "lat(95)", "lat(avg)", "of bound", "trx/sec", "fail/sec", "lat(95)", "lat(avg)", "of bound")
		for _, f := range p.Seed {
			line := fmt.Sprintf("%5d %s    |", f.Connections, columns(f, ofBound(f, p.RoundTrip, local(parts))))
			if mine, ok := at(r.figures, f.Connections); ok {
				line += " " + columns(mine, r.ofBound[f.Connections])
			}
			b.WriteString(strings.TrimRight(line, " ") + "\n")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// local are the seed's figures without distance.
func local(parts []seeds.Part) []seeds.Figure {
	for _, p := range parts {
		if p.Experiment == seeds.WithoutDistance {
			return p.Seed
		}
	}
	return nil
}

// ofBound is the seed's own figure against what its round trip allows. A synchronous commit waits one, so no more than
// connections / (round trip + latency without it) can be done in a second. What the seed has without it is of as many connections, with
// what these wait for each other in it. 0 where there is no such figure.
func ofBound(f seeds.Figure, roundTrip float64, local []seeds.Figure) float64 {
	l, ok := at(local, f.Connections)
	if !ok || roundTrip == 0 {
		return 0
	}
	return f.PerSecond * (roundTrip + l.Mean) / float64(f.Connections)
}

// columns of a figure; one that is not known stays empty.
func columns(f seeds.Figure, ofBound float64) string {
	bound := ""
	if ofBound > 0 {
		bound = fmt.Sprintf("%.2f", ofBound)
	}
	return fmt.Sprintf("%8.2f %8.2f %8.4f %8.4f %8s", f.PerSecond, f.Failed, f.P95, f.Mean, bound)
}

func at(figures []seeds.Figure, connections int64) (seeds.Figure, bool) {
	for _, f := range figures {
		if f.Connections == connections {
			return f, true
		}
	}
	return seeds.Figure{}, false
}
