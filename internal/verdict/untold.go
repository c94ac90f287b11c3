package verdict

import (
	"fmt"

	"replab.dev/api/v1alpha1"
)

// aloneUntold says why lost writes are not told apart by whether a standby was waited for, of servers that may go on without one: where no commit
// waits, and where the recorder does not tell when commits waited for none. Of other servers it is no question.
func aloneUntold(e Evidence, _ *v1alpha1.ReplicationExperimentStatus) []string {
	if !e.LossesAlone || tellsAlone(e.Recorder) || e.Audit == nil || e.Audit.Writes == nil || e.Audit.Writes.Lost == 0 {
		return nil
	}
	if e.Unawaited != "" {
		return []string{fmt.Sprintf("No commit waited for a standby, as %s has it: all of the %d lost writes are such that asynchronous replication may lose.", e.Unawaited, e.Audit.Writes.Lost)}
	}
	return []string{"Whether the lost writes were acknowledged while the primary waited for no standby is not known: the recorder has no whole account of the commits."}
}
