package instruments

import (
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/finding"
)

// mostOff is how far apart two clocks may be, in microseconds, for differences of their times to be taken at their word.
const mostOff = 5_000

// clocksDiffer warns of times that come from different machines.
func clocksDiffer(e evidence.Run) []finding.Finding {
	if e.Recorder == nil || len(e.Faults) == 0 {
		return nil
	}
	var found []finding.Finding
	for _, c := range e.Recorder.Clocks {
		if off := max(c.MostAheadMicroseconds, -c.LeastAheadMicroseconds); off > mostOff {
			found = append(found, finding.Of(finding.ClockDiffers, c.Name, evidence.Milliseconds(off)))
		}
		if c.SteppedMicroseconds > mostOff {
			found = append(found, finding.Of(finding.ClockStepped, c.Name, evidence.Milliseconds(c.SteppedMicroseconds)))
		}
	}
	return found
}
