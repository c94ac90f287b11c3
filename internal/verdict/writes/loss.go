package writes

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

// lossUnclear names the faults whose first lost write is unknown.
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

// preceding bounds the time of the last event before all[i]. Zero Earliest: there may be none. Zero Latest: there is none.
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

// underWay is how long before a fault a write must have been acknowledged for the fault to have something to destroy.
const underWay = time.Second

// riskless says why it is not known that a loss could have shown, nothing when it could: every fault came while writes were being
// acknowledged, or, without faults, some were.
func riskless(e evidence.Run) finding.Finding {
	if e.Recorder == nil {
		return finding.Of(finding.NoRecorder)
	}
	if len(e.Faults) == 0 {
		if e.Recorder.Writes.Acknowledged == 0 {
			return finding.Of(finding.NothingAcknowledged)
		}
		return finding.Finding{}
	}
	var names []string
	for _, f := range e.Faults {
		if !couldDestroy(f, e.Recorder.Acknowledgements) && !alreadyAlone(e, f) {
			names = append(names, f.Name)
		}
	}
	if len(names) == 0 {
		return finding.Finding{}
	}
	return finding.Of(finding.NothingToLose, strings.Join(names, " and fault "))
}

// couldDestroy tells whether a write was acknowledged in the second before a fault, whenever in its bounds the fault came.
func couldDestroy(f v1alpha1.FaultStatus, a *wire.Acknowledgements) bool {
	m, known := evidence.Injected(f)
	if !known {
		return false
	}
	for at := m.Earliest; ; {
		last, some := a.LastBefore(at)
		covers := last.Add(underWay) // until then a fault had this one in the second before it
		switch {
		case !some || covers.Before(at):
			return false
		case !covers.Before(m.Latest):
			return true
		case !covers.After(at):
			return false
		}
		at = covers
	}
}

// fromPeers are the partitions that leave a node's writes with it.
var fromPeers = []v1alpha1.PartitionFrom{v1alpha1.PartitionPeers, v1alpha1.PartitionEveryone, v1alpha1.PartitionZone}

// alreadyAlone tells that a fault came to a node that another still cut off from its peers, and that one had something to destroy: what
// was acknowledged before it had not come elsewhere since. One by zone leaves a node the others of its zone: it is alone with them, so they
// must have died with it.
func alreadyAlone(e evidence.Run, f v1alpha1.FaultStatus) bool {
	at, known := evidence.Injected(f)
	return known && slices.ContainsFunc(e.Faults, func(cut v1alpha1.FaultStatus) bool {
		began, known := evidence.Injected(cut)
		asked := evidence.PlannedOf(e.Spec, cut)
		if !known || cut.Pod != f.Pod || cut.Confirmed != metav1.ConditionTrue || began.Latest.After(at.Earliest) ||
			asked.Action != v1alpha1.ActionPartition || !slices.Contains(fromPeers, asked.PartitionFrom) {
			return false
		}
		stands := asked.HoldSeconds < 0 || cut.ReleasedTime != nil && evidence.ReleasedMoment(e, cut).Earliest.After(at.Latest)
		return stands && couldDestroy(cut, e.Recorder.Acknowledgements) && (asked.PartitionFrom != v1alpha1.PartitionZone || !survived(e, cut, f))
	})
}

// survived tells whether a node that a partition hit together with another one was not killed in the moment of a fault of that one.
func survived(e evidence.Run, cut, f v1alpha1.FaultStatus) bool {
	at, _ := evidence.Injected(f)
	this := evidence.Event{Moment: at, Known: true, Plan: f.PlannedTime.Time}
	return slices.ContainsFunc(e.Faults, func(mate v1alpha1.FaultStatus) bool {
		return mate.Fault == cut.Fault && mate.Pod != cut.Pod && !slices.ContainsFunc(e.Faults, func(o v1alpha1.FaultStatus) bool {
			m, known := evidence.Injected(o)
			return o.Pod == mate.Pod && known && o.Confirmed == metav1.ConditionTrue && evidence.ActionOf(e.Spec, o).EndsServer() &&
				evidence.Together(this, evidence.Event{Moment: m, Known: true, Plan: o.PlannedTime.Time})
		})
	})
}

// statedLosses returns nil if no loss was found and none could have shown.
func statedLosses(e evidence.Run, lost *int64) *int64 {
	if *lost == 0 && !riskless(e).None() {
		return nil
	}
	return lost
}

// lossRemarks say why losses are not reported, or not exact.
func lossRemarks(e evidence.Run, s *evidence.Status) []finding.Finding {
	if s.Writes == nil || e.Audit == nil || e.Audit.Writes == nil {
		return nil
	}
	why, f := riskless(e), figure.Read(s, "writes.lost")
	switch {
	case s.Writes.Lost == nil:
		return []finding.Finding{finding.Of(finding.LossesUnknown, why)}
	case !why.None() && f.AtLeast != nil && f.AtMost == nil: // rows may make it less
		return []finding.Finding{finding.Of(finding.LossesMinimum, why)}
	}
	return nil
}

// lossUnlimited tells of a loss that no goal reads: the run may have passed.
func lossUnlimited(e evidence.Run, s *evidence.Status) []finding.Finding {
	f := figure.Read(s, "writes.lost")
	least, most := f.Interval()
	read := func(g v1alpha1.Goal) bool { return g.Metric == "lostWrites" }
	if f.Value == nil || least <= 0 || slices.ContainsFunc(e.Spec.Goals, read) {
		return nil
	}
	text := fmt.Sprint(least)
	if most > least {
		text = "At least " + text
	}
	return []finding.Finding{finding.Of(finding.LossesUnlimited, text, s.Writes.Acknowledged)}
}
