package verdict

import (
	"fmt"
	"time"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/wire"
)

// mostOff is how far apart two clocks may be for differences of their times to be taken at their word.
const mostOff = 5_000 // microseconds

// moment is when something happened by the recorder's clock: not before earliest and not after latest.
type moment struct{ earliest, latest time.Time }

// injected returns when a fault was injected; false when it was not, or when its clock was never measured, so that nobody
// knows when.
func injected(f v1alpha1.FaultStatus) (moment, bool) {
	if f.InjectedTime == nil || f.Clock == nil {
		return moment{}, false
	}
	return told(f.InjectedTime.Time, *f.Clock), true
}

// told is a time by another clock as a moment by the recorder's.
func told(at time.Time, by v1alpha1.ClockStatus) moment {
	return moment{
		earliest: at.Add(-time.Duration(by.MostAheadMicroseconds) * time.Microsecond),
		latest:   at.Add(-time.Duration(by.LeastAheadMicroseconds) * time.Microsecond),
	}
}

// timed returns the faults with their clocks, as far as the recorder measured them. The operator measures its own.
func timed(e Evidence) []v1alpha1.FaultStatus {
	faults := make([]v1alpha1.FaultStatus, 0, len(e.Faults))
	for _, f := range e.Faults {
		if by := clockOfFault(e, f); f.Clock == nil && f.InjectedTime != nil && by != "" {
			f.Clock = clockOf(e.Recorder, by)
		}
		faults = append(faults, f)
	}
	return faults
}

// clockOfFault names the clock that a fault's time is by, "" for the operator's.
func clockOfFault(e Evidence, f v1alpha1.FaultStatus) string {
	switch actionOf(e.Spec, f) {
	case v1alpha1.ActionDeletePod:
		return ""
	case v1alpha1.ActionSwitchover:
		if w := e.State.Switchover(f.Name); w != nil {
			return w.Clock
		}
		if unansweredAmong(e, f.Pod) != "" { // nodes that are asked for themselves tell of those that they were asked for, by their own clocks
			return f.Pod
		}
		return ""
	}
	return f.Pod
}

// actionOf is what a fault did.
func actionOf(spec v1alpha1.ReplicationExperimentSpec, status v1alpha1.FaultStatus) v1alpha1.FaultAction {
	return plannedOf(spec, status).Action
}

// clockOf is what the recorder knows of another clock, nil when that is nothing.
func clockOf(w *wire.RecorderResults, name string) *v1alpha1.ClockStatus {
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

// clocksDiffer warns of times that come from different machines.
func clocksDiffer(e Evidence, _ *v1alpha1.ReplicationExperimentStatus) []string {
	if e.Recorder == nil || len(e.Faults) == 0 {
		return nil
	}
	var found []string
	for _, c := range e.Recorder.Clocks {
		if off := max(c.MostAheadMicroseconds, -c.LeastAheadMicroseconds); off > mostOff {
			found = append(found, fmt.Sprintf("The clock of %s may differ from the recorder's by %d ms: its times are widened by that where they are compared.",
				c.Name, milliseconds(off)))
		}
		if c.SteppedMicroseconds > mostOff {
			found = append(found, fmt.Sprintf("The clock of %s was set by %d ms during the measurement, or is another machine's since: nobody knows by which of the two a time was taken.",
				c.Name, milliseconds(c.SteppedMicroseconds)))
		}
	}
	return found
}
