// Package outage judges how long no write was acknowledged, and what a failover took of that. It is pure.
package outage

import (
	"math"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/internal/figure"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/finding"
)

// interruption is the longest time without an acknowledged write after an event.
type interruption struct {
	evidence.Event
	silence
}

// outages of the events, and the longest silence after the first of them, which is the longest of theirs; without an event,
// the longest under load. It is false when silences were not measured.
func outages(e evidence.Run) (each []interruption, all silence, known bool) {
	q, known := silences(e)
	if !known {
		return nil, silence{}, false
	}
	load := evidence.Moment{Earliest: q.From.Time, Latest: e.Recorder.LoadEndedAt.Time}
	found := evidence.Events(e.Faults, load)
	if len(found) == 0 {
		whole := span{from: -1, to: q.loadEnd}
		return nil, q.longest(whole, whole), true
	}
	var first evidence.Moment
	for i, ev := range found {
		each = append(each, interruption{ev, q.after(ev.Moment, evidence.Following(found, i))})
		first.Earliest, first.Latest = evidence.Earlier(first.Earliest, ev.Earliest), evidence.Earlier(first.Latest, ev.Latest)
	}
	return each, q.after(first, evidence.Moment{}), true
}

// after returns the longest silence between an event and the next. Silences follow each other, so one at least ends after the
// event: it may have begun before it.
func (q quiet) after(m, next evidence.Moment) silence {
	end := max(q.loadEnd, q.offset(m.Latest)) // one that came as the load ended has what was under way
	until := func(from, next time.Time) span {
		if next.IsZero() {
			return span{from: q.offset(from), to: end}
		}
		return span{from: q.offset(from), to: q.offset(next), cut: true}
	}
	return q.longest(until(m.Earliest, next.Latest), until(m.Latest, next.Earliest))
}

// worthTelling is from which length on, in microseconds, something about an outage is a remark.
const worthTelling = 10_000

// bounds of the silence in milliseconds.
func (s silence) bounds() (low, high int64) {
	if s.endless {
		return evidence.Milliseconds(max(s.low, 0)), math.MaxInt64
	}
	return evidence.Milliseconds(max(s.low, 0)), evidence.Milliseconds(s.high)
}

// stated is its length in milliseconds: the most that it may have been, or the least where that is unknown.
func (s silence) stated() int64 {
	if s.endless {
		return evidence.Milliseconds(max(s.low, 0))
	}
	return evidence.Milliseconds(s.high)
}

// uncertain tells that it may have been shorter than is stated, by so much that it is worth telling.
func (s silence) uncertain() bool {
	low, high := s.bounds()
	return !s.endless && high-low > high/20
}

// Fill states the outages, the failover that took longest, and the restarts in place.
func Fill(e evidence.Run, s *evidence.Status) {
	state(e, s)
	s.Failover = failover(e)
	s.RestartsInPlace = restartsInPlace(e)
}

// Findings of the outages.
func Findings(e evidence.Run, s *evidence.Status) []finding.Finding {
	return slices.Concat(outageRemarks(e), phasesUnknown(e, s), unapplied(e), restartedInPlace(e, s))
}

// state writes the outage of each fault and of the run into the status.
func state(e evidence.Run, s *evidence.Status) {
	s.OutageMilliseconds = nil
	for i := range s.Faults {
		s.Faults[i].OutageMilliseconds, s.Faults[i].OutageStartTime = nil, nil
	}
	each, all, known := outages(e)
	if !known {
		return
	}
	q, _ := silences(e)
	for _, o := range each {
		for _, i := range o.Faults {
			s.Faults[i].OutageMilliseconds = ptr.To(o.stated())
			if o.began != nil {
				s.Faults[i].OutageStartTime = ptr.To(metav1.NewMicroTime(q.From.Add(time.Duration(*o.began) * time.Microsecond)))
			}
		}
	}
	s.OutageMilliseconds = ptr.To(all.stated())
}

// outageRemarks say how far the outages may be trusted, and what is none of theirs.
func outageRemarks(e evidence.Run) []finding.Finding {
	each, all, known := outages(e)
	if !known {
		return nil
	}
	var found []finding.Finding
	for _, o := range each {
		name := o.Names(e.Faults)
		if !o.Known {
			found = append(found, finding.Of(finding.FaultTimeUnknown, name))
		}
		if o.endless {
			found = append(found, finding.Of(finding.OutageEndless, name, o.stated()))
		}
		if o.cut && o.low > worthTelling {
			found = append(found, finding.Of(finding.OutageCut, name, evidence.Milliseconds(o.high)))
		}
		if low, high := o.bounds(); o.uncertain() && (high-low)*1000 > worthTelling {
			found = append(found, finding.Of(finding.OutageUncertain, name, low, high))
		}
	}
	if len(each) == 0 && all.endless {
		found = append(found, finding.Of(finding.SilenceEndless, all.stated()))
	}
	if low, high := all.bounds(); len(each) == 0 && all.uncertain() {
		found = append(found, finding.Of(finding.SilenceUncertain, low, high))
	}
	return append(found, beforeFaults(e, each, all)...)
}

// beforeFaults tells of a silence before the first fault that was longer than any after one: something else is wrong here.
func beforeFaults(e evidence.Run, each []interruption, all silence) []finding.Finding {
	q, _ := silences(e)
	if len(each) == 0 || !each[0].Known {
		return nil
	}
	before := span{from: -1, to: q.offset(each[0].Earliest), cut: true}
	if s := q.longest(before, before); s.low > all.high {
		return []finding.Finding{finding.Of(finding.SilenceBeforeFaults, evidence.Milliseconds(s.high))}
	}
	return nil
}

// Bound says which outages are not exact.
func Bound(b *figure.Bounds, e evidence.Run, s *evidence.Status) {
	each, all, known := outages(e)
	if !known {
		return
	}
	for _, o := range each {
		for _, i := range o.Faults {
			boundSilence(b, "faults["+s.Faults[i].Name+"].outageMilliseconds", o.silence)
		}
	}
	boundSilence(b, "outageMilliseconds", all)
	if why := failoverUnknown(e, s.Failover); !why.None() {
		b.Unknown("failover.outageMilliseconds", why.String())
	}
	if s.Failover == nil || s.Failover.OutageMilliseconds == nil {
		return
	}
	gap, _, _ := takeover(e)
	boundSilence(b, "failover.outageMilliseconds", slept(gap))
	if m := managed(e, gap); m != nil {
		boundPhases(b, e, s, *m, gap)
	}
}

func boundSilence(b *figure.Bounds, path string, s silence) {
	low, high := s.bounds()
	if s.endless {
		b.AtLeast(path, low, finding.Of(finding.NotEnded).String())
		return
	}
	b.Between(path, low, high, finding.Of(finding.PausedOrClocks).String())
}
