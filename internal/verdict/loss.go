package verdict

import (
	"fmt"
	"time"

	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/timespan"
	"replab.dev/internal/wire"
)

// answerUnderWay is how long after the death of a server its last answer may reach the client.
const answerUnderWay = time.Second

// lossWindow is how long before a fault the first of the lost writes was acknowledged that belong to it, in microseconds.
type lossWindow struct{ low, high int64 }

// clear tells that the window is known well enough to be stated.
func (l lossWindow) clear() bool { return l.high-l.low <= max(l.high/10, 10_000) }

// stateLossWindows writes the loss window of each fault into the status.
func stateLossWindows(e Evidence, s *v1alpha1.ReplicationExperimentStatus) {
	for i := range s.Faults {
		s.Faults[i].LossWindowMilliseconds = nil
	}
	all := lossEvents(e)
	for i, ev := range all {
		if l := lossOf(e, all, i); l != nil && l.clear() {
			for _, f := range ev.faults {
				s.Faults[f].LossWindowMilliseconds = ptr.To(milliseconds(l.high))
			}
		}
	}
}

// lossUnclear says of which faults nobody can tell from when on writes were lost.
func lossUnclear(e Evidence, _ *v1alpha1.ReplicationExperimentStatus) []string {
	var found []string
	if e.Audit != nil && e.Audit.Writes != nil {
		if w := e.Audit.Writes; w.Lost > 0 && w.Balanced && w.Why != "" {
			found = append(found, "No loss window is stated: "+w.Why+".")
		}
	}
	all := lossEvents(e)
	for i, ev := range all {
		if l := lossOf(e, all, i); l != nil && !l.clear() {
			found = append(found, fmt.Sprintf("The loss window of fault %s is not stated: the times of the lost writes and of the faults do not tell which are its own.", ev.names(e.Faults)))
		}
	}
	return found
}

func lossEvents(e Evidence) []event {
	if e.Recorder == nil || e.Recorder.LoadStartedAt == nil || e.Recorder.LoadEndedAt == nil || e.Audit == nil || e.Audit.Writes == nil || len(e.Audit.Writes.LostSpans) == 0 {
		return nil
	}
	return events(e.Faults, moment{e.Recorder.LoadStartedAt.Time, e.Recorder.LoadEndedAt.Time})
}

// lossOf returns the loss window of an event, nil when no lost write is its own.
func lossOf(e Evidence, all []event, i int) *lossWindow {
	now, before := all[i].moment, preceding(all, i)
	var own []wire.LostSpan
	late := 0 // answers that were under way when the fault before this one came
	for _, s := range e.Audit.Writes.LostSpans {
		if !s.To.After(before.earliest) || s.From.After(now.latest) || lostEarlier(e, s, now) {
			continue
		}
		own = append(own, s)
		if stoppedWriter(e, all, i) && !s.To.After(before.latest.Add(answerUnderWay)) {
			late++
		}
	}
	if len(own) == late {
		return nil
	}
	within := time.Duration(e.Audit.Writes.LostSpanMicroseconds) * time.Microsecond
	l := &lossWindow{high: now.latest.Sub(timespan.Later(own[0].From.Time, before.earliest)).Microseconds()}
	for _, s := range own[late:] {
		from := s.From.Time
		if !from.After(before.latest) {
			from = before.latest.Add(within)
		}
		if !from.After(s.To.Time) && !from.After(now.earliest) { // the first that is certainly its own
			l.low = now.earliest.Sub(from).Microseconds()
			break
		}
	}
	return l
}

// preceding is when the last event before one of them came: not before earliest, which is zero when there need not be one, and
// not after latest, which is zero when there cannot be one.
func preceding(all []event, i int) (last moment) {
	for j, e := range all {
		if j == i {
			continue
		}
		if !e.latest.After(all[i].earliest) {
			last.earliest = timespan.Later(last.earliest, e.earliest)
		}
		if e.earliest.Before(all[i].latest) {
			last.latest = timespan.Later(last.latest, earlier(e.latest, all[i].latest))
		}
	}
	return last
}

// lostEarlier tells that another node took over between the acknowledgement of lost writes and a fault: they were lost then.
func lostEarlier(e Evidence, s wire.LostSpan, now moment) bool {
	if e.Recorder.Availability == nil {
		return false
	}
	for _, g := range e.Recorder.Availability.Gaps {
		if g.Moved() && s.To.Before(g.NextAcknowledgedAt) && g.NextAcknowledgedAt.Time.Before(now.earliest) {
			return true
		}
	}
	return false
}

// stoppedWriter tells that an event that may have come before one of them ended the server that took the writes.
func stoppedWriter(e Evidence, all []event, i int) bool {
	for j, ev := range all {
		if j == i || !ev.earliest.Before(all[i].latest) {
			continue
		}
		for _, f := range ev.faults {
			if e.Faults[f].Role == v1alpha1.NodePrimary && actionOf(e.Spec, e.Faults[f]).EndsServer() {
				return true
			}
		}
	}
	return false
}
