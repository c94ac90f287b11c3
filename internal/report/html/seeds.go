package html

import (
	"fmt"
	"strconv"

	"replab.dev/internal/report/figures"
	"replab.dev/internal/report/seeds"
)

// seed is the table of the document that a run reproduces, with the run's figures beside it. There is none of other runs.
func seed(d *figures.Document) Table {
	for _, p := range seeds.Seed001 {
		if p.Experiment == d.Experiment {
			return seed001(d, p)
		}
	}
	for _, c := range seeds.Seed004 {
		if c.Experiment == d.Experiment {
			return seed004(d, c)
		}
	}
	return Table{}
}

// seed001 has a line for each number of connections, which are the users of a stage.
func seed001(d *figures.Document, p seeds.Part) Table {
	t := Table{Title: "Seed 001, " + p.Title, Head: []string{
		"connections", "the document: transactions a second", "latency p95", "mean", "this run: successful requests/s", "latency p95", "mean", "of the bound",
	}}
	for _, f := range p.Seed {
		row := []Cell{words(strconv.FormatInt(f.Connections, 10)), words(fmt.Sprint(f.PerSecond)), words(fmt.Sprintf("%.4f s", f.P95)), words(fmt.Sprintf("%.4f s", f.Mean))}
		for _, field := range []string{"requestsPerSecondMilli", "latency.p95Microseconds", "latency.meanMicroseconds", "distance.ofBoundPermille"} {
			if stage := stageOf(d, f.Connections); stage != "" {
				figure := d.Figure("status.load.stages[" + stage + "]." + field)
				row = append(row, Cell{Figure: &figure})
				continue
			}
			row = append(row, words("no such stage"))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// stageOf is the stage that counts and has so many users, "" where there is none.
func stageOf(d *figures.Document, users int64) string {
	for _, s := range d.Spec.Load.Stages {
		if s.ClosedUsers() == users && !s.Discard {
			return s.Name
		}
	}
	return ""
}

func seed004(d *figures.Document, c seeds.Conclusion) Table {
	t := Table{Title: "Seed 004, " + c.Title, Head: []string{"", "a second", "99 %", "requests", "failed", "lag"}, Notes: []string{
		"The document's figures are as it has them, with its own differences. Its requests a second are all answers, here those that succeeded; it gives no unit of the latency, and its errors are a percentage.",
	}}
	run := []Cell{words("this run")}
	for _, path := range []string{
		"status.load.requestsPerSecondMilli", "status.load.latency.p99Microseconds", "status.load.requests", "status.load.failures", "status.replication.lag.maxMicroseconds",
	} {
		f := d.Figure(path)
		run = append(run, Cell{Figure: &f})
	}
	t.Rows = [][]Cell{{words("the document"), words(c.PerSecond), words(c.P99), words(c.Requests), words(c.Errors + " %"), words(c.Lag)}, run}
	return t
}
