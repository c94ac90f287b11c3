package evidence

import (
	"slices"
	"strings"
	"time"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/timespan"
)

// Middle of a moment: the best guess where one time is needed.
func (m Moment) Middle() time.Time { return m.Earliest.Add(m.Latest.Sub(m.Earliest) / 2) }

const (
	// sameMoment is how far apart faults may come to share what happens after them.
	sameMoment = 500 * time.Millisecond
	// samePlan is how far apart faults may come that were planned for the same moment: one that deletes a pod comes later than
	// one that an agent carries out.
	samePlan = 5 * time.Second
)

// Event are the faults of one moment.
type Event struct {
	Faults []int // indexes into the faults
	Moment       // when the first of them came
	Known  bool  // whether it is: if not, the moment is the whole load
	Plan   time.Time
}

// Events of the faults that were injected, in the order of when they may have come. One whose clock is not known may have
// come at any time of the load.
func Events(faults []v1alpha1.FaultStatus, load Moment) []Event {
	var each []Event
	for i, f := range faults {
		if f.InjectedTime == nil {
			continue
		}
		m, known := Injected(f)
		if !known {
			m = load
		}
		each = append(each, Event{Faults: []int{i}, Moment: m, Known: known, Plan: f.PlannedTime.Time})
	}
	slices.SortStableFunc(each, func(a, b Event) int { return a.Earliest.Compare(b.Earliest) })
	var found []Event
	for _, next := range each {
		i := slices.IndexFunc(found, func(e Event) bool { return Together(e, next) })
		if i < 0 {
			found = append(found, next)
			continue
		}
		e := &found[i]
		e.Faults, e.Known = append(e.Faults, next.Faults...), e.Known && next.Known
		e.Earliest = Earlier(e.Earliest, next.Earliest)
		e.Latest = Earlier(e.Latest, next.Latest)
	}
	return found
}

// Together tells that two events share what happens after them: they came at one moment, or were planned for one.
func Together(a, b Event) bool {
	planned := !a.Plan.IsZero() && a.Plan.Equal(b.Plan)
	if !a.Known || !b.Known {
		return planned
	}
	apart := b.Middle().Sub(a.Middle()).Abs()
	return apart < sameMoment || planned && apart < samePlan
}

// Following is when the first event after one of them came: not before earliest, which is zero when there may be none, and not
// after latest, which is zero when there need not be one.
func Following(all []Event, i int) (next Moment) {
	for j, e := range all {
		if j == i {
			continue
		}
		if e.Latest.After(all[i].Earliest) {
			next.Earliest = Earlier(next.Earliest, timespan.Later(e.Earliest, all[i].Earliest))
		}
		if !e.Earliest.Before(all[i].Latest) {
			next.Latest = Earlier(next.Latest, e.Latest)
		}
	}
	return next
}

// Earlier returns the earlier of two times; a zero time is none.
func Earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// Names of the faults of an event, for people.
func (v Event) Names(faults []v1alpha1.FaultStatus) string {
	var names []string
	for _, i := range v.Faults {
		names = append(names, faults[i].Name)
	}
	return strings.Join(names, " and ")
}
