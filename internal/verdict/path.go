package verdict

import (
	"fmt"
	"time"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/kube"
	"replab.dev/internal/provenance"
)

// pathRestarted finds an app or a proxy that began in the midst of the load. No fault of an experiment hits them, and what failed until they
// were back looks like an outage of the databases.
func pathRestarted(e Evidence, _ *v1alpha1.ReplicationExperimentStatus) []string {
	if e.Witness == nil || e.Witness.LoadStartedAt == nil || e.Witness.LoadEndedAt == nil {
		return nil
	}
	start, end := e.Witness.LoadStartedAt.Time, e.Witness.LoadEndedAt.Time
	var found []string
	for _, c := range e.Provenance.Containers {
		inPath := c.Component == kube.ComponentSocial || c.Component == kube.ComponentProxy
		if !inPath || c.StartedAt == nil || !c.StartedAt.After(start) || c.StartedAt.After(end) {
			continue
		}
		found = append(found, fmt.Sprintf("Container %s of pod %s began at %s, in the midst of the load, by no fault of the experiment%s: what failed until then may not be the databases' doing.",
			c.Name, c.Pod, c.StartedAt.UTC().Format(time.RFC3339), endedBefore(c)))
	}
	return found
}

func endedBefore(c provenance.Container) string {
	if c.ExitCode == nil {
		return ""
	}
	return fmt.Sprintf(", after it had ended with exit code %d", *c.ExitCode)
}
