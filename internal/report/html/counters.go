package html

import (
	"fmt"

	"replab.dev/internal/report/figures"
)

// counters are what servers counted of commits that waited for nobody, and as members of a group.
func counters(d *figures.Document) Table {
	r := d.Status.Replication
	if r == nil {
		return Table{}
	}
	var all []column
	if r.DegradedCommits != nil || (d.Recorder != nil && d.Recorder.Commits != nil) {
		all = append(all, column{"commits that went on without another node's acknowledgement", "status.replication.degradedCommits"})
	}
	if r.DegradedMilliseconds != nil {
		all = append(all, column{"time in which none was waited for", "status.replication.degradedMilliseconds"})
	}
	if r.Group != nil {
		g := "status.replication.group."
		all = append(all, column{"certification failures", g + "certificationFailures"}, column{"forced aborts", g + "forcedAborts"}, column{"deadlocks", g + "deadlocks"},
			column{"flow control, of the time", g + "flowControlPausedPermille"}, column{"receive queue, mean", g + "receiveQueueMeanThousandths"}, column{"receive queue, longest", g + "receiveQueueMax"})
	}
	if len(all) == 0 {
		return Table{}
	}
	return list(d, "What the servers counted", all)
}

// distance is that of the links as it was measured, and what it made of the throughput.
func distance(d *figures.Document) []Table {
	if d.Status.Distance == nil {
		return nil
	}
	var trips, stages []row
	for i, r := range d.Status.Distance.RoundTrips {
		trips = append(trips, row{r.From + " to " + r.To, fmt.Sprintf("status.distance.roundTrips[%d]", i), nil})
	}
	if d.Status.Load != nil {
		for _, s := range d.Status.Load.Stages {
			if s.Distance != nil {
				stages = append(stages, row{s.Name, "status.load.stages[" + s.Name + "].distance", []string{string(s.Distance.BaseFrom)}})
			}
		}
	}
	tables := []Table{tableOf(d, "Round trips", []string{"between"}, []column{
		{"asked for", "requestedMicroseconds"},
		{"before the load, p50", "before.p50Microseconds"},
		{"p99", "before.p99Microseconds"},
		{"without distance, p50", "withoutDistance.p50Microseconds"},
		{"after the load, p50", "after.p50Microseconds"},
		{"p99", "after.p99Microseconds"},
	}, trips)}
	if len(stages) > 0 {
		tables = append(tables, tableOf(d, "Throughput against what the distance allows", []string{"stage", "latency without it, from"}, []column{
			{"round trip", "roundTripMicroseconds"}, {"writes", "writesPermille"}, {"latency without it", "baseMicroseconds"}, {"bound", "boundMilliRequestsPerSecond"}, {"of the bound", "ofBoundPermille"},
		}, stages))
	}
	return tables
}

func compared(d *figures.Document) Table {
	c := d.Status.Comparison
	if c == nil {
		return Table{}
	}
	t := list(d, "Against "+c.Baseline, []column{
		{"succeeded a second", "status.comparison.requestsPerSecondPercent"}, {"latency p99", "status.comparison.p99Percent"},
	})
	if c.Note != "" {
		t.Notes = []string{c.Note}
	}
	return t
}
