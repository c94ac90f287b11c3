package evidence

import (
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/timespan"
	"replab.dev/internal/topology"
	"replab.dev/internal/wire"
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

// Moment is when something happened by the recorder's clock: not before earliest and not after latest.
type Moment struct{ Earliest, Latest time.Time }

// Injected returns when a fault was injected; false when it was not, or when its clock was never
// measured.
func Injected(f v1alpha1.FaultStatus) (Moment, bool) {
	if f.InjectedTime == nil || f.Clock == nil {
		return Moment{}, false
	}
	return Told(f.InjectedTime.Time, *f.Clock), true
}

// Told converts a time of another clock to the recorder's.
func Told(at time.Time, by v1alpha1.ClockStatus) Moment {
	return Moment{
		Earliest: at.Add(-time.Duration(by.MostAheadMicroseconds) * time.Microsecond),
		Latest:   at.Add(-time.Duration(by.LeastAheadMicroseconds) * time.Microsecond),
	}
}

// Timed returns the faults with their clocks, as far as the recorder measured them. The operator measures its own.
func Timed(e Run) []v1alpha1.FaultStatus {
	faults := make([]v1alpha1.FaultStatus, 0, len(e.Faults))
	for _, f := range e.Faults {
		if by := clockOfFault(e, f); f.Clock == nil && f.InjectedTime != nil && by != "" {
			f.Clock = ClockOf(e.Recorder, by)
		}
		faults = append(faults, f)
	}
	return faults
}

// clockOfFault names the clock that a fault's time is by, "" for the operator's.
func clockOfFault(e Run, f v1alpha1.FaultStatus) string {
	switch ActionOf(e.Spec, f) {
	case v1alpha1.ActionDeletePod:
		return ""
	case v1alpha1.ActionSwitchover:
		if w := e.State.Switchover(f.Name); w != nil {
			return w.Clock
		}
		if !Unanswered(e, f.Pod).None() { // nodes that are asked for themselves tell of those that they were asked for, by their own clocks
			return f.Pod
		}
		return ""
	}
	return f.Pod
}

// ClockOf is what the recorder knows of another clock, nil when that is nothing.
func ClockOf(w *wire.RecorderResults, name string) *v1alpha1.ClockStatus {
	if w == nil {
		return nil
	}
	for _, c := range w.Clocks {
		if c.Name == name {
			return &v1alpha1.ClockStatus{LeastAheadMicroseconds: c.LeastAheadMicroseconds, MostAheadMicroseconds: c.MostAheadMicroseconds}
		}
	}
	return nil
}

// InLoad tells that a failover came in the load or after it, or may have.
func InLoad(e Run, f topology.Failover) bool { return !BeforeTheLoad(e, f.Clock, f.PromotedAt) }

// BeforeTheLoad tells that something on a node was certainly before the load began: what the node held then are no writes. By a clock that
// was not measured nothing is certain.
func BeforeTheLoad(e Run, node string, at *metav1.MicroTime) bool {
	if at == nil || e.Recorder == nil || e.Recorder.LoadStartedAt == nil {
		return false
	}
	clock := ClockOf(e.Recorder, node)
	return clock != nil && Told(at.Time, *clock).Latest.Before(e.Recorder.LoadStartedAt.Time)
}

// AfterTheLoad tells that something on a node was certainly once the last request of the load had its answer.
func AfterTheLoad(e Run, node string, at metav1.MicroTime) bool {
	if e.Recorder == nil || e.Recorder.LoadEndedAt == nil {
		return false
	}
	clock := ClockOf(e.Recorder, node)
	return clock != nil && Told(at.Time, *clock).Earliest.After(e.Recorder.LoadEndedAt.Time)
}

// ReleasedMoment is when a hold ended. Where the operator did the fault the agent ended its hold all the same.
func ReleasedMoment(e Run, f v1alpha1.FaultStatus) Moment {
	clock := f.Clock
	if ActionOf(e.Spec, f) == v1alpha1.ActionDeletePod {
		clock = ClockOf(e.Recorder, f.Pod)
	}
	if clock == nil {
		return Moment{}
	}
	return Told(f.ReleasedTime.Time, *clock)
}
