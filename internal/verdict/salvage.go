package verdict

import (
	"replab.dev/api/v1alpha1"
)

// Salvage writes the figures of a run that was ended before its time into status, beside the verdict that it has. Goals are not
// judged: what was measured is a part.
func Salvage(e Evidence, status *v1alpha1.ReplicationExperimentStatus) {
	e.Faults = timed(e)
	e.Baseline, e.Spec.Baseline = nil, nil
	fill(e, status)
	note := "What is stated of the load is the part until the run was ended; its writes were not compared with the tables."
	if e.Witness == nil {
		note = "Nothing is known of the load: the witness left no results before the run was ended."
	}
	status.Reasons = append(status.Reasons, note)
}
