// Package table says in lines for people where an experiment stands and what came of it. It is pure.
package table

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/report/figures"
	"replab.dev/internal/report/wording"
	"replab.dev/internal/results"
)

// Progress is where an experiment stands, in one line.
func Progress(x *v1alpha1.ReplicationExperiment) string {
	if x.Status.Phase == "" {
		return "Waiting for the operator"
	}
	for _, c := range x.Status.Conditions {
		if c.Status == metav1.ConditionFalse && c.Type != v1alpha1.ConditionPassed && c.Message != "" {
			return x.Status.Phase + ": " + Plain(c.Message)
		}
	}
	return x.Status.Phase
}

// Result shows what came of an experiment, a line each. What was not measured is left out.
func Result(x *v1alpha1.ReplicationExperiment) string {
	b := &strings.Builder{}
	s := x.Status
	d := figures.Of(results.Results{Experiment: x.Name, Namespace: x.Namespace, Spec: x.Spec, Status: s})
	row(b, "Verdict", string(s.Verdict))
	for _, g := range s.Goals {
		row(b, "Goal", fmt.Sprintf("%s %s: %s", g.Metric, g.Limit, outcome(g)), goalMeasured(d, g))
	}
	if s.Load != nil {
		row(b, "Load", fmt.Sprintf("%d requests, %d failed", s.Load.Requests, s.Load.Failures), throughput(d))
		percentiles(b, d, "Latency", "status.load.latency.", "p50", "p95", "p99", "max")
	}
	if w := s.Writes; w != nil {
		row(b, "Writes", fmt.Sprintf("%d sent: %d acknowledged, %d rejected%s, %d indeterminate", w.Sent, w.Acknowledged, w.Rejected, ofConflicts(w), w.Indeterminate))
		row(b, "", optional("%d present", w.Present), known(d, "", "status.writes.lost", " lost"), optional("%d recovered", w.Recovered), optional("%d vanished", w.Vanished))
	}
	if s.Replication != nil {
		replication(b, d, s.Replication)
	}
	distance(b, s)
	for _, f := range s.Faults {
		row(b, "Fault", fmt.Sprintf("%s on %s, confirmed: %s", f.Name, f.Pod, f.Confirmed),
			known(d, "outage ", "status.faults["+f.Name+"].outageMilliseconds", ""), optional("loss window %d ms", f.LossWindowMilliseconds), optional("back in place after %d ms", f.RejoinMilliseconds)+resync(f.Resync))
	}
	if s.OutageMilliseconds != nil {
		row(b, "Outage", known(d, "", "status.outageMilliseconds", ""))
	}
	if f := s.Failover; f != nil && f.OutageMilliseconds != nil {
		row(b, "Failover", fmt.Sprintf("from %s to %s", f.OldPrimary, f.NewPrimary), known(d, "", "status.failover.outageMilliseconds", ""))
	}
	for _, n := range s.Nodes {
		row(b, "Node", n.Name+" "+string(n.Role), optional("%d rows", n.Rows), optional("%d missing", n.Missing), optional("%d ghost writes", n.GhostWrites))
	}
	for _, reason := range s.Reasons {
		row(b, "Reason", reason)
	}
	for _, note := range s.Notes {
		row(b, "Note", note)
	}
	if s.Results != "" {
		row(b, "Results", "ConfigMap "+s.Results)
	}
	return b.String()
}

func replication(b *strings.Builder, d *figures.Document, r *v1alpha1.ReplicationStatus) {
	if l := r.Lag; l != nil {
		row(b, "Lag", fmt.Sprintf("%d samples", l.Samples))
		percentiles(b, d, "", "status.replication.lag.", "p50", "p99", "max")
	}
	if r.Group != nil {
		group(b, d)
	}
	if r.DegradedCommits != nil {
		name := "Semi-sync"
		if r.DegradedMilliseconds != nil {
			name = "Standbys"
		}
		row(b, name, known(d, "", "status.replication.degradedCommits", " commits went on without a replica's acknowledgement"),
			known(d, "none was waited for during ", "status.replication.degradedMilliseconds", ""))
	}
}

// resync is how a node caught up with the others.
func resync(r *v1alpha1.ResyncStatus) string {
	if r == nil {
		return ""
	}
	return fmt.Sprintf(" by %s", r.Method) + optional(", its data took %d ms", r.DurationMilliseconds) + optional(", %d bytes", r.ReceivedBytes) +
		optional(", its pod received %d bytes meanwhile", r.NetworkReceivedBytes)
}

// ofConflicts says how many of the rejected writes were in conflict, where some were.
func ofConflicts(w *v1alpha1.WritesStatus) string {
	if w.Conflicting == nil || *w.Conflicting == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d for conflicts)", *w.Conflicting)
}

// group shows what the servers of a group counted.
func group(b *strings.Builder, d *figures.Document) {
	at := "status.replication.group."
	row(b, "Group", known(d, "", at+"certificationFailures", " certification failures"), known(d, "", at+"forcedAborts", " forced aborts"), known(d, "", at+"deadlocks", " deadlocks"),
		known(d, "flow control ", at+"flowControlPausedPermille", " of the time"), known(d, "longest receive queue ", at+"receiveQueueMax", ""))
}

// percentiles of a distribution.
func percentiles(b *strings.Builder, d *figures.Document, title, at string, names ...string) {
	var all []string
	for _, name := range names {
		all = append(all, known(d, name+" ", at+name+"Microseconds", ""))
	}
	row(b, title, all...)
}

// baseWords say whose the latency without distance is.
var baseWords = map[v1alpha1.DistanceBase]string{
	v1alpha1.BaseFromStage: "a stage without distance", v1alpha1.BaseFromBaseline: "the baseline", v1alpha1.BaseFromReads: "the reads, which take less than writes",
}

// distance shows the round trips, and what each stage made of them.
func distance(b *strings.Builder, s v1alpha1.ReplicationExperimentStatus) {
	if s.Distance == nil {
		return
	}
	p50 := func(when string, f *v1alpha1.RoundTripFigures) string {
		if f == nil {
			return ""
		}
		return fmt.Sprintf("%d µs %s the load", f.P50Microseconds, when)
	}
	for _, r := range s.Distance.RoundTrips {
		row(b, "Round trip", fmt.Sprintf("%s to %s: %d µs asked for", r.From, r.To, r.RequestedMicroseconds), p50("before", r.Before), p50("without distance", r.WithoutDistance), p50("after", r.After))
	}
	if s.Load == nil {
		return
	}
	for _, stage := range s.Load.Stages {
		if d := stage.Distance; d != nil {
			row(b, "Bound", fmt.Sprintf("stage %s: %d.%03d of what the distance allows", stage.Name, d.OfBoundPermille/1000, d.OfBoundPermille%1000),
				fmt.Sprintf("%d µs without it, by %s", d.BaseMicroseconds, baseWords[d.BaseFrom]))
		}
	}
}

func outcome(g v1alpha1.GoalStatus) string {
	if g.Met == metav1.ConditionUnknown && g.Measured == nil {
		return "not measured"
	}
	return wording.Met(g.Met) // unknown of a lower bound
}

// optional formats a figure that may be absent.
func optional(format string, value *int64) string {
	if value == nil {
		return ""
	}
	return fmt.Sprintf(format, *value)
}

// throughput with its bounds.
func throughput(d *figures.Document) string {
	f := d.Figure("status.load.requestsPerSecondMilli")
	if f.Value == nil {
		return ""
	}
	return f.Text() + " succeeded"
}

func goalMeasured(d *figures.Document, g v1alpha1.GoalStatus) string {
	if f := d.Goal(g.Metric); g.Measured != nil && f.Value != nil {
		return "measured " + f.Text()
	}
	return ""
}

// known is a figure as it is known; "" of one that is absent.
func known(d *figures.Document, before, path, after string) string {
	f := d.Figure(path)
	if f.Value == nil {
		return ""
	}
	return before + f.Text() + after
}

// row adds a line of what there is; without anything, none.
func row(b *strings.Builder, name string, parts ...string) {
	parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
	if len(parts) > 0 {
		fmt.Fprintf(b, "%-10s %s\n", name, Plain(strings.Join(parts, ", ")))
	}
}
