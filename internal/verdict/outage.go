package verdict

import (
	"fmt"
	"math"
	"strings"
	"time"

	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
)

// interruption is the longest time without an acknowledged write after an event.
type interruption struct {
	event
	silence
}

// outages of the events, and the longest silence after the first of them, which is the longest of theirs; without an event,
// the longest under load. It is false when silences were not measured.
func outages(e Evidence) (each []interruption, all silence, known bool) {
	q, known := silences(e)
	if !known {
		return nil, silence{}, false
	}
	load := moment{q.From.Time, e.Recorder.LoadEndedAt.Time}
	found := events(e.Faults, load)
	if len(found) == 0 {
		whole := span{from: -1, to: q.loadEnd}
		return nil, q.longest(whole, whole), true
	}
	var first moment
	for i, ev := range found {
		each = append(each, interruption{ev, q.after(ev.moment, following(found, i))})
		first.earliest, first.latest = earlier(first.earliest, ev.earliest), earlier(first.latest, ev.latest)
	}
	return each, q.after(first, moment{}), true
}

// after returns the longest silence between an event and the next. Silences follow each other, so one at least ends after the
// event: it may have begun before it.
func (q quiet) after(m, next moment) silence {
	end := max(q.loadEnd, q.offset(m.latest)) // one that came as the load ended has what was under way
	until := func(from, next time.Time) span {
		if next.IsZero() {
			return span{from: q.offset(from), to: end}
		}
		return span{from: q.offset(from), to: q.offset(next), cut: true}
	}
	return q.longest(until(m.earliest, next.latest), until(m.latest, next.earliest))
}

// worthTelling is from which length on, in microseconds, something about an outage is a remark.
const worthTelling = 10_000

// milliseconds are rounded up: a limit of 500 ms is not met by 500.4.
func milliseconds(microseconds int64) int64 { return (microseconds + 999) / 1000 }

// bounds of the silence in milliseconds.
func (s silence) bounds() (low, high int64) {
	if s.endless {
		return milliseconds(max(s.low, 0)), math.MaxInt64
	}
	return milliseconds(max(s.low, 0)), milliseconds(s.high)
}

// stated is its length in milliseconds: the most that it may have been, or where nobody knows that the least.
func (s silence) stated() int64 {
	if s.endless {
		return milliseconds(max(s.low, 0))
	}
	return milliseconds(s.high)
}

// uncertainty in milliseconds by which it may have been shorter than is stated, nil when it is not worth telling.
func (s silence) uncertainty() *int64 {
	if s.endless {
		return nil
	}
	u := milliseconds(s.high) - milliseconds(max(s.low, 0))
	if u <= milliseconds(s.high)/20 {
		return nil
	}
	return &u
}

// stateOutages writes the outage of each fault and of the run into the status.
func stateOutages(e Evidence, s *v1alpha1.ReplicationExperimentStatus) {
	s.OutageMilliseconds = nil
	for i := range s.Faults {
		s.Faults[i].OutageMilliseconds = nil
	}
	each, all, known := outages(e)
	if !known {
		return
	}
	for _, o := range each {
		for _, i := range o.faults {
			s.Faults[i].OutageMilliseconds = ptr.To(o.stated())
		}
	}
	s.OutageMilliseconds = ptr.To(all.stated())
}

// outageRemarks say how far the outages may be trusted, and what is none of theirs.
func outageRemarks(e Evidence, _ *v1alpha1.ReplicationExperimentStatus) []string {
	each, all, known := outages(e)
	if !known {
		return nil
	}
	var found []string
	for _, o := range each {
		name := o.names(e.Faults)
		if !o.known {
			found = append(found, fmt.Sprintf("When fault %s was injected by the recorder's clock is not known, since its own was never measured: any silence of the load may be its outage.", name))
		}
		if o.endless {
			found = append(found, fmt.Sprintf("No write was acknowledged any more after fault %s: its outage of %d ms is a lower bound.", name, o.stated()))
		}
		if o.cut && o.low > worthTelling {
			found = append(found, fmt.Sprintf("The outage of fault %s was not over when the next fault came: its %d ms are until then, the rest is that one's.", name, milliseconds(o.high)))
		}
		if u := o.uncertainty(); u != nil && *u*1000 > worthTelling {
			found = append(found, fmt.Sprintf("The outage of fault %s may have been up to %d of its %d ms shorter: for so long the recorder itself did not run, or clocks differ too much to tell what was before a fault and what after.",
				name, *u, milliseconds(o.high)))
		}
	}
	if len(each) == 0 && all.endless {
		found = append(found, fmt.Sprintf("No write was acknowledged any more at the end: the longest silence of %d ms is a lower bound.", all.stated()))
	}
	if len(each) == 0 && all.uncertainty() != nil {
		found = append(found, fmt.Sprintf("Of the longest silence of %d ms the recorder itself did not run for up to %d ms.", milliseconds(all.high), *all.uncertainty()))
	}
	return append(found, beforeFaults(e, each, all)...)
}

// beforeFaults tells of a silence before the first fault that was longer than any after one: something else is wrong here.
func beforeFaults(e Evidence, each []interruption, all silence) []string {
	q, _ := silences(e)
	if len(each) == 0 || !each[0].known {
		return nil
	}
	before := span{from: -1, to: q.offset(each[0].earliest), cut: true}
	if s := q.longest(before, before); s.low > all.high {
		return []string{fmt.Sprintf("Before the first fault no write was acknowledged for %d ms, longer than after any: that is no fault's outage.", milliseconds(s.high))}
	}
	return nil
}

// names of the faults of an event, for people.
func (v event) names(faults []v1alpha1.FaultStatus) string {
	var names []string
	for _, i := range v.faults {
		names = append(names, faults[i].Name)
	}
	return strings.Join(names, " and ")
}
