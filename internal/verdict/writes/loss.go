package writes

import (
	"time"

	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/figure"
	"replab.dev/internal/timespan"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/finding"
	"replab.dev/internal/wire"
)

// answerUnderWay is how long after the death of a server its last answer may reach the client.
const answerUnderWay = time.Second

// lossWindow is how long before a fault the first of the lost writes was acknowledged that belong to it, in microseconds.
type lossWindow struct{ low, high int64 }

// clear tells that the window is known well enough to be stated.
func (l lossWindow) clear() bool { return l.high-l.low <= max(l.high/10, 10_000) }

// stateLossWindows writes the loss window of each fault into the status.
func stateLossWindows(e evidence.Run, s *v1alpha1.ReplicationExperimentStatus) {
	for i := range s.Faults {
		s.Faults[i].LossWindowMilliseconds = nil
	}
	all := lossEvents(e)
	for i, ev := range all {
		if l := lossOf(e, all, i); l != nil && l.clear() {
			for _, f := range ev.Faults {
				s.Faults[f].LossWindowMilliseconds = ptr.To(evidence.Milliseconds(l.high))
			}
		}
	}
}

func boundLossWindows(b *figure.Bounds, e evidence.Run) {
	all := lossEvents(e)
	for i, ev := range all {
		if l := lossOf(e, all, i); l != nil && l.clear() {
			for _, f := range ev.Faults {
				path := "faults[" + e.Faults[f].Name + "].lossWindowMilliseconds"
				b.Between(path, evidence.Milliseconds(l.low), evidence.Milliseconds(l.high), finding.Of(finding.LossTimes).String())
			}
		}
	}
}

// lossUnclear says of which faults nobody can tell from when on writes were lost.
func lossUnclear(e evidence.Run) []finding.Finding {
	var found []finding.Finding
	if e.Audit != nil && e.Audit.Writes != nil {
		if w := e.Audit.Writes; w.Lost > 0 && w.Balanced && w.Why != "" {
			found = append(found, finding.Of(finding.NoLossWindow, w.Why))
		}
	}
	all := lossEvents(e)
	for i, ev := range all {
		if l := lossOf(e, all, i); l != nil && !l.clear() {
			found = append(found, finding.Of(finding.LossWindowUnclear, ev.Names(e.Faults)))
		}
	}
	return found
}

func lossEvents(e evidence.Run) []evidence.Event {
	if e.Recorder == nil || e.Recorder.LoadStartedAt == nil || e.Recorder.LoadEndedAt == nil || e.Audit == nil || e.Audit.Writes == nil || len(e.Audit.Writes.LostSpans) == 0 {
		return nil
	}
	return evidence.Events(e.Faults, evidence.Moment{Earliest: e.Recorder.LoadStartedAt.Time, Latest: e.Recorder.LoadEndedAt.Time})
}

// lossOf returns the loss window of an event, nil when no lost write is its own.
func lossOf(e evidence.Run, all []evidence.Event, i int) *lossWindow {
	now, before := all[i].Moment, preceding(all, i)
	var own []wire.LostSpan
	late := 0 // answers that were under way when the fault before this one came
	for _, s := range e.Audit.Writes.LostSpans {
		if !s.To.After(before.Earliest) || s.From.After(now.Latest) || lostEarlier(e, s, now) {
			continue
		}
		own = append(own, s)
		if stoppedWriter(e, all, i) && !s.To.After(before.Latest.Add(answerUnderWay)) {
			late++
		}
	}
	if len(own) == late {
		return nil
	}
	within := time.Duration(e.Audit.Writes.LostSpanMicroseconds) * time.Microsecond
	l := &lossWindow{high: now.Latest.Sub(timespan.Later(own[0].From.Time, before.Earliest)).Microseconds()}
	for _, s := range own[late:] {
		from := s.From.Time
		if !from.After(before.Latest) {
			from = before.Latest.Add(within)
		}
		if !from.After(s.To.Time) && !from.After(now.Earliest) { // the first that is certainly its own
			l.low = now.Earliest.Sub(from).Microseconds()
			break
		}
	}
	return l
}

// preceding is when the last event before one of them came: not before earliest, which is zero when there need not be one, and
// not after latest, which is zero when there cannot be one.
func preceding(all []evidence.Event, i int) (last evidence.Moment) {
	for j, e := range all {
		if j == i {
			continue
		}
		if !e.Latest.After(all[i].Earliest) {
			last.Earliest = timespan.Later(last.Earliest, e.Earliest)
		}
		if e.Earliest.Before(all[i].Latest) {
			last.Latest = timespan.Later(last.Latest, evidence.Earlier(e.Latest, all[i].Latest))
		}
	}
	return last
}

// lostEarlier tells that another node took over between the acknowledgement of lost writes and a fault: they were lost then.
func lostEarlier(e evidence.Run, s wire.LostSpan, now evidence.Moment) bool {
	if e.Recorder.Availability == nil {
		return false
	}
	for _, g := range e.Recorder.Availability.Gaps {
		if g.Moved() && s.To.Before(g.NextAcknowledgedAt) && g.NextAcknowledgedAt.Time.Before(now.Earliest) {
			return true
		}
	}
	return false
}

// stoppedWriter tells that an event that may have come before one of them ended the server that took the writes.
func stoppedWriter(e evidence.Run, all []evidence.Event, i int) bool {
	for j, ev := range all {
		if j == i || !ev.Earliest.Before(all[i].Latest) {
			continue
		}
		for _, f := range ev.Faults {
			if e.Faults[f].Role == v1alpha1.NodePrimary && evidence.ActionOf(e.Spec, e.Faults[f]).EndsServer() {
				return true
			}
		}
	}
	return false
}
