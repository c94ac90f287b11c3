// Package table says in lines for people where an experiment stands and what came of it. It is pure.
package table

import (
	"fmt"
	"slices"
	"strconv"
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
	d, err := figures.Of(results.Results{Experiment: x.Name, Namespace: x.Namespace, Spec: x.Spec, Status: s})
	if err != nil { // not of what was read as JSON
		return err.Error() + "\n"
	}
	row(b, "Verdict", string(s.Verdict))
	for _, g := range s.Goals {
		row(b, "Goal", fmt.Sprintf("%s %s: %s", g.Metric, g.Limit, outcome(g)), goalMeasured(d, g))
	}
	if s.Load != nil {
		row(b, "Load", fmt.Sprintf("%d requests, %d failed", s.Load.Requests, s.Load.Failures), throughput(d))
		if l := s.Load.Latency; l != nil {
			row(b, "Latency", bound("p50", v1alpha1.P50, &l.P50Microseconds, l.LowerBounds), bound("p95", v1alpha1.P95, &l.P95Microseconds, l.LowerBounds),
				bound("p99", v1alpha1.P99, &l.P99Microseconds, l.LowerBounds), bound("max", v1alpha1.Max, &l.MaxMicroseconds, l.LowerBounds),
				d.Figure("status.load.latency.p99Microseconds").Doubt)
		}
	}
	if w := s.Writes; w != nil {
		row(b, "Writes", fmt.Sprintf("%d sent: %d acknowledged, %d rejected%s, %d indeterminate", w.Sent, w.Acknowledged, w.Rejected, ofConflicts(w), w.Indeterminate))
		row(b, "", figure("%d present", w.Present), known(d, "", "status.writes.lost", " lost"), figure("%d recovered", w.Recovered), figure("%d vanished", w.Vanished))
	}
	if s.Replication != nil {
		replication(b, d, s.Replication)
	}
	distance(b, s)
	for _, f := range s.Faults {
		row(b, "Fault", fmt.Sprintf("%s on %s, confirmed: %s", f.Name, f.Pod, f.Confirmed),
			known(d, "outage ", "status.faults["+f.Name+"].outageMilliseconds", " ms"), figure("loss window %d ms", f.LossWindowMilliseconds), figure("back in place after %d ms by "+string(f.RejoinedBy), f.RejoinMilliseconds), transfer(f.Transfer))
	}
	if s.OutageMilliseconds != nil {
		row(b, "Outage", known(d, "", "status.outageMilliseconds", " ms"))
	}
	if f := s.Failover; f != nil && f.OutageMilliseconds != nil {
		row(b, "Failover", fmt.Sprintf("from %s to %s", f.OldPrimary, f.NewPrimary), known(d, "", "status.failover.outageMilliseconds", " ms"))
	}
	for _, n := range s.Nodes {
		row(b, "Node", n.Name+" "+string(n.Role), figure("%d rows", n.Rows), figure("%d missing", n.Missing), figure("%d ghost writes", n.GhostWrites))
	}
	for _, reason := range s.Reasons {
		row(b, "Reason", reason)
	}
	if s.Results != "" {
		row(b, "Results", "ConfigMap "+s.Results)
	}
	return b.String()
}

func replication(b *strings.Builder, d *figures.Document, r *v1alpha1.ReplicationStatus) {
	if l := r.Lag; l != nil {
		row(b, "Lag", fmt.Sprintf("%d samples", l.Samples),
			bound("p50", v1alpha1.P50, l.P50Microseconds, l.LowerBounds), bound("p99", v1alpha1.P99, l.P99Microseconds, l.LowerBounds),
			bound("max", v1alpha1.Max, l.MaxMicroseconds, l.LowerBounds))
	}
	if r.Group != nil {
		group(b, d, r.Group)
	}
	if r.DegradedCommits != nil {
		name := "Semi-sync"
		if r.DegradedMilliseconds != nil {
			name = "Standbys"
		}
		row(b, name, fmt.Sprintf("%s commits went on without a replica's acknowledgement", unacknowledged(r)), figure("none was waited for during %d ms at least", r.DegradedMilliseconds))
	}
}

// transfer is how a node got the others' data.
func transfer(t *v1alpha1.TransferStatus) string {
	if t == nil {
		return ""
	}
	return fmt.Sprintf("its data took %d ms%s", t.Milliseconds, figure(", %d bytes", t.ReceivedBytes)+figure(", its pod received %d bytes meanwhile", t.NetworkReceivedBytes))
}

// ofConflicts says how many of the rejected writes were in conflict, where some were.
func ofConflicts(w *v1alpha1.WritesStatus) string {
	if w.Conflicting == nil || *w.Conflicting == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d for conflicts)", *w.Conflicting)
}

// group shows what the servers of a group counted.
func group(b *strings.Builder, d *figures.Document, g *v1alpha1.GroupFigures) {
	paused := ""
	if p := g.FlowControlPausedPermille; p != nil {
		paused = fmt.Sprintf("flow control %s%% of the time", percent(*p))
		if most := g.FlowControlPausedPermilleAtMost; most != nil && *most > *p {
			paused = fmt.Sprintf("flow control %s%% to %s%% of the time", percent(*p), percent(*most))
		}
	}
	at := "status.replication.group."
	row(b, "Group", known(d, "", at+"certificationFailures", " certification failures"), known(d, "", at+"forcedAborts", " forced aborts"), known(d, "", at+"deadlocks", " deadlocks"),
		paused, queue(g))
}

func percent(permille int64) string { return fmt.Sprintf("%d.%d", permille/10, permille%10) }

// queue is the longest, or the bounds that are known of it.
func queue(g *v1alpha1.GroupFigures) string {
	if g.ReceiveQueueMaxAtMost == nil {
		return figure("longest receive queue at least %d", g.ReceiveQueueMax)
	}
	if most := g.ReceiveQueueMaxAtMost; most != nil && g.ReceiveQueueMax != nil && *most > *g.ReceiveQueueMax {
		return fmt.Sprintf("longest receive queue %d to %d", *g.ReceiveQueueMax, *most)
	}
	return figure("longest receive queue %d", g.ReceiveQueueMax)
}

// unacknowledged is a figure, or the bounds that are known of it.
func unacknowledged(r *v1alpha1.ReplicationStatus) string {
	least, most := *r.DegradedCommits, r.DegradedCommitsAtMost
	switch {
	case most == nil:
		return fmt.Sprintf("≥ %d", least)
	case *most > least:
		return fmt.Sprintf("%d to %d", least, *most)
	}
	return strconv.FormatInt(least, 10)
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

// figure formats a figure that may be absent.
func figure(format string, value *int64) string {
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
	if g.MeasuredMilli != nil {
		return "measured " + d.Goal(g.Metric).Text()
	}
	return known(d, "measured ", "status.goals["+string(g.Metric)+"].measured", "")
}

// known formats a figure with what is known of it: the bound that it is, or by how much less it may have been.
func known(d *figures.Document, before, path, after string) string {
	f := d.Figure(path)
	if f.Doubt != "" {
		after += " (" + f.Doubt + ")"
	}
	switch {
	case f.Value == nil:
		return ""
	case f.AtMost != nil:
		return fmt.Sprintf("%s%d to %d%s", before, *f.Value, *f.AtMost, after)
	case f.AtLeast != nil:
		return fmt.Sprintf("%s%d%s, or up to %d%s less", before, *f.Value, after, *f.Value-*f.AtLeast, after)
	case f.Open:
		before += "≥ "
	}
	return fmt.Sprintf("%s%d%s", before, *f.Value, after)
}

// bound formats a percentile in microseconds: one that is a lower bound as "at least".
func bound(name string, p v1alpha1.Percentile, value *int64, lower []v1alpha1.Percentile) string {
	if slices.Contains(lower, p) {
		name += " ≥"
	}
	return figure(name+" %d µs", value)
}

// row adds a line of what there is; without anything, none.
func row(b *strings.Builder, name string, parts ...string) {
	parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
	if len(parts) > 0 {
		fmt.Fprintf(b, "%-10s %s\n", name, Plain(strings.Join(parts, ", ")))
	}
}
