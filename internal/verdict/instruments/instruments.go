// Package instruments judges whether recorder, audit and topology left what the figures rest on. It is pure.
package instruments

import (
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/finding"
)

// Findings of what is missing, and of clocks that differ.
func Findings(e evidence.Run, _ *evidence.Status) []finding.Finding {
	return append(missing(e), clocksDiffer(e)...)
}

func missing(e evidence.Run) []finding.Finding {
	var found []finding.Finding
	for _, sentence := range e.Missing {
		found = append(found, finding.Of(finding.EvidenceMissing, sentence))
	}
	if !e.State.Known {
		found = append(found, finding.Of(finding.TopologySilent, e.State.Why))
	}
	if e.Recorder != nil && e.Recorder.Failed != "" {
		found = append(found, finding.Of(finding.RecorderFailed, e.Recorder.Failed))
	}
	if e.Recorder != nil && e.Recorder.Incomplete != "" {
		found = append(found, finding.Of(finding.RecorderIncomplete, e.Recorder.Incomplete))
	}
	if e.Audit != nil && e.Audit.Failed != "" {
		found = append(found, finding.Of(finding.AuditFailed, e.Audit.Failed))
	}
	return found
}

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
