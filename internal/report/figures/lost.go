package figures

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"replab.dev/internal/figure"
	"replab.dev/internal/wire"
)

// mostSpans bounds what LostSpans says.
const mostSpans = 20

// LostSpans tell when lost writes were acknowledged.
func (d *Document) LostSpans() (all []string) {
	if d.Audit == nil || d.Audit.Writes == nil {
		return nil
	}
	spans := d.Audit.Writes.LostSpans
	for _, s := range spans[:min(mostSpans, len(spans))] {
		what, when := figure.Grouped(s.Writes)+" lost writes were", d.After(s.From.Time)
		if s.Writes == 1 {
			what = "1 lost write was"
		}
		if to := d.After(s.To.Time); to != when {
			when = "between " + when + " and " + to
		} else {
			when = "at " + when
		}
		all = append(all, what+" acknowledged "+when+" of the load, by the recorder's clock")
	}
	if more := len(spans) - mostSpans; more > 0 {
		all = append(all, fmt.Sprintf("%d more times are in the results document.", more))
	}
	return all
}

// LostWrites has a line for each of the first ones.
func (d *Document) LostWrites() Table {
	t := Table{Title: "Lost writes", Head: []string{"write id", "acknowledged", "by", "where it was at the audit"}}
	if d.Audit == nil || d.Audit.Writes == nil {
		return t
	}
	w := d.Audit.Writes
	for _, l := range w.LostWrites {
		at, by := "not known", "not known"
		if l.AcknowledgedAt != nil {
			at, by = d.After(l.AcknowledgedAt.Time), cmp.Or(d.acknowledger(l.AcknowledgedAt.Time), by)
		}
		t.Rows = append(t.Rows, []Cell{Words(strconv.FormatUint(l.ID, 10)), Words(at), Words(by), Words(whereabouts(l, d.Audit.Nodes))})
	}
	if more := w.Lost - int64(len(w.LostWrites)); more > 0 && len(t.Rows) > 0 {
		t.Notes = []string{"Lost besides: " + figure.Grouped(more) + "."}
	}
	return t
}

// whereabouts of a lost write when it was audited: a node may have been rebuilt since.
func whereabouts(l wire.LostWrite, nodes []wire.AuditedNode) string {
	var parts []string
	if len(l.On) > 0 {
		parts = append(parts, "on "+strings.Join(l.On, " and "))
	}
	if len(l.Was) > 0 {
		parts = append(parts, "gone from "+strings.Join(l.Was, " and ")+", which had it when it was started again")
	}
	if len(parts) > 0 {
		return strings.Join(parts, "; ")
	}
	for _, n := range nodes {
		if n.Rows == nil {
			return "on no node that could be read"
		}
	}
	return "on no node"
}

// lateLedger is how much later than the recorder's gaps the ledger may note a write.
const lateLedger = time.Second

// acknowledger is the node that acknowledged a write of that time in the ledger: either one right after a takeover, "" where it is not known.
func (d *Document) acknowledger(at time.Time) string {
	r := d.Recorder
	switch {
	case r == nil || r.Incomplete != "" || r.Failed != "" || r.UnnamedWrites > 0:
		return ""
	case len(r.Writers) == 1:
		return r.Writers[0]
	case !r.Availability.ChangesKnown():
		return ""
	}
	var nodes []string
	now := "" // the node since the last change before
	for _, g := range r.Availability.Gaps {
		if !g.Moved() {
			continue
		}
		if at.Before(g.NextAcknowledgedAt.Add(lateLedger)) {
			nodes = append(nodes, g.LastNode)
		}
		if now = g.NextNode; at.Before(g.NextAcknowledgedAt.Time) {
			now = ""
			break
		}
	}
	if now != "" {
		nodes = append(nodes, now)
	}
	slices.Sort(nodes)
	return strings.Join(slices.Compact(nodes), " or ")
}
