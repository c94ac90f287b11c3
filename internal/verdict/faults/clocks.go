package faults

import (
	"fmt"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/verdict/evidence"
)

// mostOff is how far apart two clocks may be, in microseconds, for differences of their times to be taken at their word.
const mostOff = 5_000

// ClocksDiffer warns of times that come from different machines.
func ClocksDiffer(e evidence.Run, _ *v1alpha1.ReplicationExperimentStatus) []string {
	if e.Recorder == nil || len(e.Faults) == 0 {
		return nil
	}
	var found []string
	for _, c := range e.Recorder.Clocks {
		if off := max(c.MostAheadMicroseconds, -c.LeastAheadMicroseconds); off > mostOff {
			found = append(found, fmt.Sprintf("The clock of %s may differ from the recorder's by %d ms: its times are widened by that where they are compared.",
				c.Name, evidence.Milliseconds(off)))
		}
		if c.SteppedMicroseconds > mostOff {
			found = append(found, fmt.Sprintf("The clock of %s was set by %d ms during the measurement, or is another machine's since: nobody knows by which of the two a time was taken.",
				c.Name, evidence.Milliseconds(c.SteppedMicroseconds)))
		}
	}
	return found
}
