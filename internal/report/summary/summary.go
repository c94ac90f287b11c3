// Package summary sums up a run in lines for people. It is pure.
package summary

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/figure"
	"replab.dev/internal/report/figures"
	"replab.dev/internal/report/terminal"
	"replab.dev/internal/report/wording"
	"replab.dev/internal/results"
)

// part of a row: a figure with its word.
type part struct{ word, path string }

// ofRun are the rows of figures of the whole run.
var ofRun = []struct {
	name  string
	parts []part
}{
	{"Writes", []part{
		{"lost", "writes.lost"},
		{"lost while degraded", "writes.lostWhileDegraded"},
		{"ghosts", "ghostWrites"},
		{"indeterminate", "writes.indeterminate"},
		{"rejected", "writes.rejected"},
		{"sent", "writes.sent"},
		{"divergent rows", "writes.divergentRows"},
	}},
	{"Outage", []part{{"", "outageMilliseconds"}}},
	{"Failover", ofFailover()},
	{"Load", append(ofLoad("load."), part{"requests", "load.requests"}, part{"stale reads", "load.staleReads"})},
	{"Lag", []part{{"p50", "replication.lag.p50Microseconds"}, {"p99", "replication.lag.p99Microseconds"}, {"max", "replication.lag.maxMicroseconds"}}},
	{"Degraded", []part{{"commits", "replication.degradedCommits"}, {"for", "replication.degradedMilliseconds"}}},
	{"Group", []part{
		{"certification failures", "replication.group.certificationFailures"},
		{"forced aborts", "replication.group.forcedAborts"},
		{"paused by flow control", "replication.group.flowControlPausedPermille"},
		{"longest receive queue", "replication.group.receiveQueueMax"},
	}},
	{"Baseline", []part{{"requests/s", "comparison.requestsPerSecondPercent"}, {"p99", "comparison.p99Percent"}}},
}

func ofFailover() []part {
	all := []part{{"", "failover.outageMilliseconds"}}
	for _, phase := range figure.Phases() {
		all = append(all, part{phase.Entry().Title, phase.Path()})
	}
	return all
}

func ofLoad(path string) []part {
	return []part{
		{"", path + "requestsPerSecondMilli"}, {"p50", path + "latency.p50Microseconds"}, {"p99", path + "latency.p99Microseconds"}, {"failed", path + "failures"},
	}
}

var ofFault = []part{
	{"outage", "outageMilliseconds"}, {"loss window", "lossWindowMilliseconds"}, {"rejoined after", "rejoinMilliseconds"},
}

var ofNode = []part{
	{"rows", "rows"}, {"missing", "missing"}, {"rows after rejoining", "rejoinedRows"}, {"lost", "lost"}, {"ghosts", "ghostWrites"}, {"lag p99", "lag.p99Microseconds"},
}

// Write sums a run up: what matters first, the limits of the figures last. A report has all figures. What was not measured is left out, but for
// lost writes.
func Write(w io.Writer, x *v1alpha1.ReplicationExperiment) {
	s := x.Status
	d := figures.Of(results.Results{Experiment: x.Name, Namespace: x.Namespace, Spec: x.Spec, Status: s})
	terminal.Row(w, "Verdict", string(s.Verdict))
	for _, reason := range s.Reasons {
		terminal.Row(w, "Reason", reason)
	}
	goals(w, d)
	for _, r := range ofRun {
		parts := known(d, "status.", r.parts)
		switch {
		case r.name == "Writes" && s.Writes != nil && s.Writes.Lost == nil:
			parts = append([]string{"lost not measured"}, parts...)
		case r.name == "Failover" && s.Failover != nil && s.Failover.NewPrimary != "":
			parts = append(parts, fmt.Sprintf("from %s to %s", s.Failover.OldPrimary, s.Failover.NewPrimary))
		case r.name == "Baseline" && s.Comparison != nil:
			parts = append(parts, "against "+s.Comparison.Baseline)
		}
		terminal.Row(w, r.name, parts...)
	}
	stages(w, d)
	for _, f := range s.Faults {
		terminal.Row(w, "Fault", append([]string{fault(x.Spec, f)}, known(d, "status.faults["+f.Name+"].", ofFault)...)...)
	}
	for _, n := range s.Nodes {
		terminal.Row(w, "Node", append([]string{strings.TrimSuffix(n.Name+": "+string(n.Role), ": ")}, known(d, "status.nodes["+n.Name+"].", ofNode)...)...)
	}
	for _, note := range s.Notes {
		terminal.Row(w, "Note", note)
	}
	left(w, s)
}

// left behind by the run.
func left(w io.Writer, s v1alpha1.ReplicationExperimentStatus) {
	if s.Results != "" {
		terminal.Row(w, "Results", "ConfigMap "+s.Results)
	}
	if c := meta.FindStatusCondition(s.Conditions, v1alpha1.ConditionCleanedUp); c != nil && c.Reason == v1alpha1.ReasonKept {
		terminal.Row(w, "Kept", "pods and volumes, until the experiment is deleted or spec.keep is changed")
	}
}

// goals with their outcomes below one another.
func goals(w io.Writer, d *figures.Document) {
	wide := 0
	for _, g := range d.Status.Goals {
		wide = max(wide, len(wording.Met(g)))
	}
	for _, g := range d.Status.Goals {
		measured, outcome := d.Measured(g).Text(), wording.Met(g)
		if measured == outcome { // both say that it was not measured
			measured = ""
		}
		terminal.Row(w, "Goal", fmt.Sprintf("%-*s  %s", wide, outcome, strings.TrimSpace(string(g.Metric)+" "+measured)+" ("+figures.Limit(g)+")"))
	}
}

// stages prints a row for each counted stage, if there is more than one.
func stages(w io.Writer, d *figures.Document) {
	var names []string
	for _, s := range d.Spec.Load.Stages {
		if !s.Discard {
			names = append(names, s.Name)
		}
	}
	for _, name := range names {
		if parts := known(d, "status.", ofLoad("load.stages["+name+"].")); len(names) > 1 && len(parts) > 0 {
			terminal.Row(w, "Stage", name+": "+strings.Join(parts, ", "))
		}
	}
}

// fault says what was done to which pod, and what came of that; evidence only where it is not confirmed.
func fault(spec v1alpha1.ReplicationExperimentSpec, f v1alpha1.FaultStatus) string {
	text := fmt.Sprintf("%s: %s on %s, %s", f.Name, cmp.Or(wording.HeldFault(spec, f.Fault), "fault"), f.Pod, cmp.Or(string(f.State), "not begun"))
	if f.Confirmed != metav1.ConditionTrue && f.Evidence != "" {
		text += " (" + f.Evidence + ")"
	}
	if f.Resync != nil {
		text += ", resync by " + string(f.Resync.Method)
	}
	return text
}

// known are the figures that were measured, with their words; a question mark follows one that another contradicts.
func known(d *figures.Document, below string, parts []part) (all []string) {
	for _, p := range parts {
		f := d.Figure(below + p.path)
		if f.Value == nil || *f.Value == 0 && f.Bound() == "at least" && p.word != "lost" { // "at least 0" says nothing; of losses it is a warning
			continue
		}
		text := f.Text()
		if f.Doubtful() { // the notes say why
			text = figure.Exact(f.Path, *f.Value).Text() + "?"
		}
		all = append(all, terminal.Together(strings.TrimSpace(p.word+" "+text)))
	}
	return all
}
