package evidence

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/topology"
	"replab.dev/internal/wire"
)

// Moment is when something happened by the recorder's clock: not before earliest and not after latest.
type Moment struct{ Earliest, Latest time.Time }

// Injected returns when a fault was injected; false when it was not, or when its clock was never measured, so that nobody
// knows when.
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
