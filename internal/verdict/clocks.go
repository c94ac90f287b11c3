package verdict

import (
	"fmt"

	"replab.dev/api/v1alpha1"
)

// mostOff is how far apart two clocks may be for differences of their times to be taken at their word.
const mostOff = 5_000 // microseconds

// clocksDiffer warns of times that come from different machines. The manager's own clock is not measured.
func clocksDiffer(e Evidence, _ *v1alpha1.ReplicationExperimentStatus) []string {
	if e.Witness == nil || len(e.Faults) == 0 {
		return nil
	}
	var found []string
	for _, c := range e.Witness.Clocks {
		if off := max(c.MostAheadMicroseconds, -c.LeastAheadMicroseconds); off > mostOff {
			found = append(found, fmt.Sprintf("The clock of node %s may differ from the witness's by %d ms: so may the times of faults on it, the loss window, and the phases of the outage.",
				c.Name, (off+999)/1000))
		}
	}
	return found
}
