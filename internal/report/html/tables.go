package html

import (
	"fmt"
	"strings"
	"time"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/report/figures"
	"replab.dev/internal/report/wording"
)

var latencyColumns = []column{
	{"requests", "requests"},
	{"failed", "failures"},
	{"mean", "latency.meanMicroseconds"},
	{"p50", "latency.p50Microseconds"},
	{"p95", "latency.p95Microseconds"},
	{"p99", "latency.p99Microseconds"},
	{"longest", "latency.maxMicroseconds"},
}

func stages(d *figures.Document) Table {
	if d.Status.Load == nil {
		return Table{}
	}
	rows := []row{{allStages, "status.load", []string{""}}}
	for _, s := range d.Status.Load.Stages {
		rows = append(rows, row{s.Name, "status.load.stages[" + s.Name + "]", []string{wording.Stage(d.Spec, s.Name)}})
	}
	columns := append([]column{{"succeeded a second", "requestsPerSecondMilli"}}, latencyColumns...)
	return tableOf(d, "Stages of the load", []string{"stage", "asked for"}, append(columns, column{"not sent", "droppedIterations"}, column{"closed loop", "/status.load.stages[%s].closedLoopPermille"}), rows)
}

func operations(d *figures.Document) Table {
	var rows []row
	if d.Recorder != nil {
		for _, s := range d.Recorder.Stages {
			for _, o := range s.Operations {
				rows = append(rows, row{s.Name + ": " + o.Name, fmt.Sprintf("recorder.stages[%s].operations[%s]", s.Name, o.Name), nil})
			}
		}
	}
	if len(rows) == 0 {
		return Table{}
	}
	return tableOf(d, "Requests by what they asked for", []string{"stage and operation"}, latencyColumns, rows)
}

func lags(d *figures.Document) Table {
	var rows []row
	if r := d.Status.Replication; r != nil && r.Lag != nil {
		rows = append(rows, row{allNodes, "status.replication.lag", nil})
	}
	for _, n := range d.Status.Nodes {
		if n.Lag != nil {
			rows = append(rows, row{n.Name, "status.nodes[" + n.Name + "].lag", nil})
		}
	}
	if len(rows) == 0 {
		return Table{}
	}
	return tableOf(d, "Replication lag: from a write's acknowledgement to its row on the node", []string{"node"}, []column{
		{"samples", "samples"},
		{"seen at the first look", "censored"},
		{"never seen", "unseen"},
		{"p50", "p50Microseconds"},
		{"p99", "p99Microseconds"},
		{"longest", "maxMicroseconds"},
		{"known to within (p50)", "resolutionP50Microseconds"},
		{"server's own: transport p50", "/recorder.lag.nodes[%s].engineTransportP50Microseconds"},
		{"server's own: apply p50", "/recorder.lag.nodes[%s].engineApplyP50Microseconds"},
	}, rows)
}

func faults(d *figures.Document) Table {
	var rows []row
	for _, f := range d.Status.Faults {
		rows = append(rows, row{f.Name, "status.faults[" + f.Name + "]", []string{wording.HeldFault(d.Spec, f.Fault), f.Pod, after(d, f.PlannedTime.Time), injected(d, f), confirmed(f), method(f.Resync)}})
	}
	if len(rows) == 0 {
		return Table{}
	}
	return tableOf(d, "Faults", []string{"fault", "action", "pod", "planned", "injected", "confirmed", "back by"}, []column{
		{"outage", "outageMilliseconds"}, {"loss window", "lossWindowMilliseconds"}, {"back in place after", "rejoinMilliseconds"}, {"its data took", "resync.durationMilliseconds"},
	}, rows)
}

func method(r *v1alpha1.ResyncStatus) string {
	if r == nil {
		return ""
	}
	return string(r.Method)
}

func injected(d *figures.Document, f v1alpha1.FaultStatus) string {
	if f.InjectedTime == nil {
		return "not injected"
	}
	return after(d, f.InjectedTime.Time)
}

func confirmed(f v1alpha1.FaultStatus) string {
	text := string(f.State)
	if f.Evidence != "" {
		text += ": " + f.Evidence
	}
	if f.Leak != "" {
		text += "; " + f.Leak
	}
	return text
}

var failoverPhases = []column{
	{"detection", "status.failover.detectionMilliseconds"}, {"promotion", "status.failover.promotionMilliseconds"}, {"routing", "status.failover.routingMilliseconds"},
}

func failover(d *figures.Document) Table {
	f := d.Status.Failover
	if f == nil {
		return Table{}
	}
	title := "Failover"
	if f.OldPrimary != "" || f.NewPrimary != "" {
		title += strings.TrimRight(fmt.Sprintf(" from %s to %s", f.OldPrimary, f.NewPrimary), " ")
	}
	if f.Planned {
		title += ", asked for"
	}
	return list(d, title, append([]column{{"outage", "status.failover.outageMilliseconds"}},
		failoverPhases...))
}

const mostGaps = 20

func gaps(d *figures.Document) Table {
	if d.Recorder == nil || d.Recorder.Availability == nil || len(d.Recorder.Availability.Gaps) == 0 {
		return Table{}
	}
	var rows []row
	for i, g := range d.Recorder.Availability.Gaps[:min(mostGaps, len(d.Recorder.Availability.Gaps))] {
		rows = append(rows, row{after(d, g.LastAcknowledgedAt.Time), fmt.Sprintf("recorder.availability.gaps[%d]", i), []string{g.LastNode, g.NextNode}})
	}
	t := tableOf(d, "Times without an acknowledged write", []string{"from", "last of", "next of"}, []column{
		{"took", "durationMicroseconds"}, {"writes that failed in it", "errors"}, {"of which the recorder did not run", "pausedMicroseconds"},
	}, rows)
	t.Notes = nil // the last one may not have ended
	if more := len(d.Recorder.Availability.Gaps) - mostGaps; more > 0 {
		t.Notes = []string{fmt.Sprintf("%d more are in the results document.", more)}
	}
	return t
}

func nodes(d *figures.Document) Table {
	var rows []row
	for _, n := range d.Status.Nodes {
		rows = append(rows, row{n.Name, "status.nodes[" + n.Name + "]", []string{string(n.Role)}})
	}
	if len(rows) == 0 {
		return Table{}
	}
	return tableOf(d, "Nodes after the load had settled", []string{"node", "role"}, []column{
		{"rows", "rows"},
		{"missing", "missing"},
		{"ghost writes", "ghostWrites"},
		{"ghost transactions", "ghostTransactions"},
		{"rows once it was back", "rejoinedRows"},
		{"CPU", "resources.cpuMillicores"},
		{"memory, peak", "resources.memoryPeakBytes"},
		{"read", "resources.blockReadBytes"},
		{"written", "resources.blockWrittenBytes"},
		{"received", "resources.networkReceivedBytes"},
		{"sent", "resources.networkSentBytes"},
	}, rows)
}

// after is a time as seconds since the load began, as the clock has it that it is by.
func after(d *figures.Document, t time.Time) string {
	if d.Status.LoadStartTime == nil {
		return t.UTC().Format(time.RFC3339)
	}
	return fmt.Sprintf("%+.3f s", t.Sub(d.Status.LoadStartTime.Time).Seconds())
}
