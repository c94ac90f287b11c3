package verdict

import (
	"replab.dev/api/v1alpha1"
	"replab.dev/internal/verdict/evidence"
)

// Salvage writes the figures of a run that was ended before its time into status, beside the verdict that it has. Goals are not
// judged: what was measured is a part.
func Salvage(e evidence.Run, status *v1alpha1.ReplicationExperimentStatus) {
	e.Faults = evidence.Timed(e)
	e.Baseline, e.Spec.Baseline = nil, nil
	status.Comparison, status.Goals = nil, nil
	failed := e.Recorder != nil && e.Recorder.Failed != ""
	if failed {
		e.Recorder = nil // it does not vouch for what it saw
	}
	fill(e, status)
	note := "What is stated of the load is the part until the run was ended; its writes were not compared with the tables."
	switch {
	case failed:
		note = "Nothing is stated of the load, since the recorder failed; the results document has what it saw."
	case e.Recorder == nil:
		note = "Nothing is known of the load: the recorder left no results before the run was ended."
	}
	status.Reasons = append(status.Reasons, note)
}
