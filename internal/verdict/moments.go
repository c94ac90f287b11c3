package verdict

import (
	"slices"
	"time"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/timespan"
)

const (
	// sameMoment is how far apart faults may come to share what happens after them.
	sameMoment = 500 * time.Millisecond
	// samePlan is how far apart faults may come that were planned for the same moment: one that deletes a pod comes later than
	// one that an agent carries out.
	samePlan = 5 * time.Second
)

// event are the faults of one moment.
type event struct {
	faults []int // indexes into the faults
	moment       // when the first of them came
	known  bool  // whether it is: if not, the moment is the whole load
	plan   time.Time
}

// events of the faults that were injected, in the order of when they may have come. One whose clock is not known may have
// come at any time of the load.
func events(faults []v1alpha1.FaultStatus, load moment) []event {
	var each []event
	for i, f := range faults {
		if f.InjectedTime == nil {
			continue
		}
		m, known := injected(f)
		if !known {
			m = load
		}
		each = append(each, event{faults: []int{i}, moment: m, known: known, plan: f.PlannedTime.Time})
	}
	slices.SortStableFunc(each, func(a, b event) int { return a.earliest.Compare(b.earliest) })
	var found []event
	for _, next := range each {
		i := slices.IndexFunc(found, func(e event) bool { return together(e, next) })
		if i < 0 {
			found = append(found, next)
			continue
		}
		e := &found[i]
		e.faults, e.known = append(e.faults, next.faults...), e.known && next.known
		e.earliest = earlier(e.earliest, next.earliest)
		e.latest = earlier(e.latest, next.latest)
	}
	return found
}

func together(a, b event) bool {
	planned := !a.plan.IsZero() && a.plan.Equal(b.plan)
	if !a.known || !b.known {
		return planned
	}
	apart := b.middle().Sub(a.middle()).Abs()
	return apart < sameMoment || planned && apart < samePlan
}

// following is when the first event after one of them came: not before earliest, which is zero when there may be none, and not
// after latest, which is zero when there need not be one.
func following(all []event, i int) (next moment) {
	for j, e := range all {
		if j == i {
			continue
		}
		if e.latest.After(all[i].earliest) {
			next.earliest = earlier(next.earliest, timespan.Later(e.earliest, all[i].earliest))
		}
		if !e.earliest.Before(all[i].latest) {
			next.latest = earlier(next.latest, e.latest)
		}
	}
	return next
}

// earlier of two times, of which a zero one is none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
