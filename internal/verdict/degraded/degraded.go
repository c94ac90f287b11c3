// Package degraded judges commits that went on without the standby that they were to wait for. It is pure.
package degraded

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/finding"
	"replab.dev/internal/wire"
)

// degraded says how many commits went on without a replica, and when, as far as servers tell.
func degraded(w *wire.RecorderResults, least int64) []finding.Finding {
	c := w.Commits
	most := max(least, c.DegradedCommitsAtMost)
	var found []finding.Finding
	switch {
	case most == 0:
	case !c.OfTransactions && least == 0:
		found = append(found, finding.Of(finding.PerhapsDegraded, most))
	case !c.OfTransactions:
		found = append(found, finding.Of(finding.Degraded, fromTo(least, most)))
	case least == 0:
		found = append(found, finding.Of(finding.PerhapsDegradedTransactions, most))
	default:
		found = append(found, finding.Of(finding.DegradedTransactions, fromTo(least, most)))
	}
	for _, n := range c.Nodes {
		if spans := degradedSpans(w, n); len(spans) > 0 {
			found = append(found, finding.Of(finding.DegradedTimes, n.Name, times(spans), n.DegradedMicroseconds/1000))
		}
	}
	return found
}

// degradedMilliseconds is nil where servers count waits.
func degradedMilliseconds(c *wire.CommitsResult) *int64 {
	if !c.OfTransactions {
		return nil
	}
	var sum int64
	for _, n := range c.Nodes {
		sum += n.DegradedMicroseconds
	}
	return ptr.To(sum / 1000) // a lower bound
}

// fromTo is a figure between two bounds.
func fromTo(least, most int64) string {
	if most > least {
		return fmt.Sprintf("%d to %d", least, most)
	}
	return strconv.FormatInt(least, 10)
}

// degradedSpans are when what a node acknowledged may have been on no standby. While another one had the writes, and after its last
// acknowledgement, nothing was: a span may last over both, since no sample shows its end while the server is down.
func degradedSpans(w *wire.RecorderResults, n wire.NodeCommits) []wire.DegradedSpan {
	if n.LastWriteAt == nil {
		return nil
	}
	var found []wire.DegradedSpan
	for _, s := range n.DegradedSpans {
		for _, t := range turnsOf(w.Availability, n) {
			part := s
			if part.From.Before(&t.from) {
				part.From = t.from
			}
			if t.to.Before(&part.To) {
				part.To = t.to
			}
			if !part.To.Before(&part.From) {
				found = append(found, part)
			}
		}
	}
	return found
}

// turn has the first and the last acknowledgement of a node between those of other ones. The first turn of all has no beginning.
type turn struct{ from, to metav1.MicroTime }

// turnsOf a node that acknowledged writes, in their order. They are one where not all changes are known.
func turnsOf(a *wire.AvailabilityResult, n wire.NodeCommits) []turn {
	var found []turn
	var now turn
	has := true // until a change is from another node
	if a.ChangesKnown() {
		for _, g := range a.Gaps {
			if !g.Moved() {
				continue
			}
			if has && g.LastNode == n.Name {
				now.to = g.LastAcknowledgedAt
				found = append(found, now)
			}
			if has = g.NextNode == n.Name; has {
				now.from = *g.NextAcknowledgedAt
			}
		}
	}
	if has {
		now.to = *n.LastWriteAt
		found = append(found, now)
	}
	return found
}

// MostTimes is how many times a sentence tells.
const MostTimes = 3

func times(spans []wire.DegradedSpan) string {
	const clock = "15:04:05.000"
	var texts []string
	for i, s := range spans {
		if i == MostTimes {
			texts = append(texts, fmt.Sprintf("%d times more", len(spans)-i))
			break
		}
		texts = append(texts, fmt.Sprintf("from %s to %s", s.From.UTC().Format(clock), s.To.UTC().Format(clock)))
	}
	return strings.Join(texts, ", ")
}

// lostWhileDegraded says how many of the lost writes were acknowledged when they may have been on no standby, where servers tell when that was. Such
// a loss is what asynchronous replication allows; any other is not.
func lostWhileDegraded(e evidence.Run) []finding.Finding {
	least, most, why := Losses(e)
	switch {
	case most == nil && !why.None():
		return []finding.Finding{finding.Of(finding.LostWhileDegradedUnknown, why)}
	case most == nil:
		return nil
	case *most == 0:
		return []finding.Finding{finding.Of(finding.NoneLostWhileDegraded, e.Audit.Writes.Lost)}
	}
	return []finding.Finding{finding.Of(finding.LostWhileDegraded, fromTo(*least, *most), e.Audit.Writes.Lost)}
}

// Losses are how many of the lost writes were acknowledged in a time without a standby, at least and at most. Both are nil with
// why where that is unknown, and without where it is no question. In a time without a sample, any lost write may have been acknowledged.
func Losses(e evidence.Run) (least, most *int64, why finding.Finding) {
	w := e.Recorder
	if !tellsWhenDegraded(w) || e.Audit == nil || e.Audit.Writes == nil || e.Audit.Writes.Lost == 0 {
		return nil, nil, why
	}
	lost := e.Audit.Writes
	why = NotSampled(w)
	if len(lost.LostSpans) == 0 {
		why = finding.Of(finding.LossTimesUnknown)
	}
	if !why.None() {
		return nil, nil, why
	}
	certain, possible := whileDegraded(w, lost.LostSpans)
	if unsure := Unsampled(w); len(unsure) > 0 {
		why = finding.Of(finding.UnsampledTime, unsure[0].Name, evidence.Milliseconds(unsure[0].UncountedMicroseconds))
		if possible == 0 {
			return nil, nil, why
		}
		return &certain, ptr.To(lost.Lost), why
	}
	return &certain, &possible, finding.Of(finding.LossTimesRounded)
}

// tellsWhenDegraded tells whether servers are of a kind that tells when they wait for no standby, and were asked all the time.
func tellsWhenDegraded(w *wire.RecorderResults) bool {
	return w != nil && w.Incomplete == "" && w.Commits != nil && w.Commits.OfTransactions
}

// whileDegraded is how many writes of some times were acknowledged when a node may have waited for no standby, at least and at most. A time is
// certain where it is known who acknowledged then, and where it is a span of its own.
func whileDegraded(w *wire.RecorderResults, times []wire.LostSpan) (least, most int64) {
	var certain, possible []wire.DegradedSpan
	for _, n := range w.Commits.Nodes {
		possible = append(possible, degradedSpans(w, n)...)
		if len(n.DegradedSpans) == wire.MaxDegradedSpans { // the last one goes on over the times between
			n.DegradedSpans = n.DegradedSpans[:wire.MaxDegradedSpans-1]
		}
		if w.Availability.ChangesKnown() {
			certain = append(certain, degradedSpans(w, n)...)
		}
	}
	for _, s := range times {
		s.From, s.To = takenAt(w, s.From), takenAt(w, s.To)
		if slices.ContainsFunc(certain, func(a wire.DegradedSpan) bool { return !s.From.Before(&a.From) && !a.To.Before(&s.To) }) {
			least += s.Writes
		}
		if slices.ContainsFunc(possible, func(a wire.DegradedSpan) bool { return !s.To.Before(&a.From) && !a.To.Before(&s.From) }) {
			most += s.Writes
		}
	}
	return least, most
}

// takenAt is when a write was acknowledged by the account of who acknowledges. The ledger's time of it is a little later, after all others have
// taken note: while another node takes over, or after the last acknowledgement of all, it is that of the last write before.
func takenAt(w *wire.RecorderResults, at metav1.MicroTime) metav1.MicroTime {
	if w.Availability != nil {
		for _, g := range w.Availability.Gaps {
			if g.Moved() && g.LastAcknowledgedAt.Before(&at) && at.Before(g.NextAcknowledgedAt) {
				return g.LastAcknowledgedAt
			}
		}
	}
	var last metav1.MicroTime
	for _, n := range w.Commits.Nodes {
		if n.LastWriteAt != nil && last.Before(n.LastWriteAt) {
			last = *n.LastWriteAt
		}
	}
	if !last.IsZero() && last.Before(&at) {
		return last
	}
	return at
}

// degradedUnknown says why lost writes are not told apart by whether a standby was waited for, of servers that may go on without one: where no commit
// waits, and where the recorder does not tell when commits waited for none. Of other servers it is no question.
func degradedUnknown(e evidence.Run) []finding.Finding {
	if !e.LossesWhileDegraded || tellsWhenDegraded(e.Recorder) || e.Audit == nil || e.Audit.Writes == nil || e.Audit.Writes.Lost == 0 {
		return nil
	}
	if e.DegradedBy != "" {
		return []finding.Finding{finding.Of(finding.NeverAwaited, e.DegradedBy, e.Audit.Writes.Lost)}
	}
	return []finding.Finding{finding.Of(finding.LostWhileDegradedUnknown, finding.Of(finding.CommitsUnaccounted))}
}
