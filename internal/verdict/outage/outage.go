// Package outage judges how long no write was acknowledged, and what a failover took of that. It is pure.
package outage

import (
	"fmt"
	"math"
	"time"

	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/verdict/evidence"
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

// stated is its length in milliseconds: the most that it may have been, or where nobody knows that the least.
func (s silence) stated() int64 {
	if s.endless {
		return evidence.Milliseconds(max(s.low, 0))
	}
	return evidence.Milliseconds(s.high)
}

// uncertainty in milliseconds by which it may have been shorter than is stated, nil when it is not worth telling.
func (s silence) uncertainty() *int64 {
	if s.endless {
		return nil
	}
	u := evidence.Milliseconds(s.high) - evidence.Milliseconds(max(s.low, 0))
	if u <= evidence.Milliseconds(s.high)/20 {
		return nil
	}
	return &u
}

// State writes the outage of each fault and of the run into the status.
func State(e evidence.Run, s *v1alpha1.ReplicationExperimentStatus) {
	s.OutageMilliseconds = nil
	for i := range s.Faults {
		s.Faults[i].OutageMilliseconds = nil
	}
	each, all, known := outages(e)
	if !known {
		return
	}
	for _, o := range each {
		for _, i := range o.Faults {
			s.Faults[i].OutageMilliseconds = ptr.To(o.stated())
		}
	}
	s.OutageMilliseconds = ptr.To(all.stated())
}

// OutageRemarks say how far the outages may be trusted, and what is none of theirs.
func OutageRemarks(e evidence.Run, _ *v1alpha1.ReplicationExperimentStatus) []string {
	each, all, known := outages(e)
	if !known {
		return nil
	}
	var found []string
	for _, o := range each {
		name := o.Names(e.Faults)
		if !o.Known {
			found = append(found, fmt.Sprintf("When fault %s was injected by the recorder's clock is not known, since its own was never measured: any silence of the load may be its outage.", name))
		}
		if o.endless {
			found = append(found, fmt.Sprintf("No write was acknowledged any more after fault %s: its outage of %d ms is a lower bound.", name, o.stated()))
		}
		if o.cut && o.low > worthTelling {
			found = append(found, fmt.Sprintf("The outage of fault %s was not over when the next fault came: its %d ms are until then, the rest is that one's.", name, evidence.Milliseconds(o.high)))
		}
		if u := o.uncertainty(); u != nil && *u*1000 > worthTelling {
			found = append(found, fmt.Sprintf("The outage of fault %s may have been up to %d of its %d ms shorter: for so long the recorder itself did not run, or clocks differ too much to tell what was before a fault and what after.",
				name, *u, evidence.Milliseconds(o.high)))
		}
	}
	if len(each) == 0 && all.endless {
		found = append(found, fmt.Sprintf("No write was acknowledged any more at the end: the longest silence of %d ms is a lower bound.", all.stated()))
	}
	if len(each) == 0 && all.uncertainty() != nil {
		found = append(found, fmt.Sprintf("Of the longest silence of %d ms the recorder itself did not run for up to %d ms.", evidence.Milliseconds(all.high), *all.uncertainty()))
	}
	return append(found, beforeFaults(e, each, all)...)
}

// beforeFaults tells of a silence before the first fault that was longer than any after one: something else is wrong here.
func beforeFaults(e evidence.Run, each []interruption, all silence) []string {
	q, _ := silences(e)
	if len(each) == 0 || !each[0].Known {
		return nil
	}
	before := span{from: -1, to: q.offset(each[0].Earliest), cut: true}
	if s := q.longest(before, before); s.low > all.high {
		return []string{fmt.Sprintf("Before the first fault no write was acknowledged for %d ms, longer than after any: that is no fault's outage.", evidence.Milliseconds(s.high))}
	}
	return nil
}
