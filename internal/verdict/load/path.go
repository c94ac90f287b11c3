package load

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/kube"
	"replab.dev/internal/provenance"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/finding"
)

// pathRestarted finds an app or a proxy that ended or began in the midst of the load. No fault of an experiment hits them, and what fails
// meanwhile looks like an outage of the databases: goals of figures with Entry.ThroughApp are unknown then.
func pathRestarted(e evidence.Run) []finding.Finding {
	var found []finding.Finding
	for _, c := range e.Provenance.Containers {
		if (c.Component != kube.ComponentSocial && c.Component != kube.ComponentProxy) || !midst(e, c.StartedAt) && !midst(e, c.EndedAt) {
			continue
		}
		found = append(found, finding.Of(finding.PathRestarted, c.Name, c.Pod, endAndBeginning(e, c)))
	}
	return found
}

// midst tells whether a moment lies within the load.
func midst(e evidence.Run, at *metav1.Time) bool {
	w := e.Recorder
	return at != nil && w != nil && w.LoadStartedAt != nil && w.LoadEndedAt != nil && at.After(w.LoadStartedAt.Time) && !at.After(w.LoadEndedAt.Time)
}

func endAndBeginning(e evidence.Run, c provenance.Container) string {
	ended := ""
	if c.ExitCode != nil && midst(e, c.EndedAt) {
		ended = fmt.Sprintf("ended with exit code %d at %s", *c.ExitCode, second(c.EndedAt))
	}
	switch {
	case !midst(e, c.StartedAt):
		return ended
	case ended == "":
		return "began at " + second(c.StartedAt)
	}
	return ended + " and began again at " + second(c.StartedAt)
}

func second(at *metav1.Time) string { return at.UTC().Format(time.RFC3339) }
