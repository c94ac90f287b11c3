package load

import (
	"replab.dev/internal/figure"
	"replab.dev/internal/kube"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/finding"
)

// pathRestarted finds an app or a proxy that ended or began in the midst of the load. No fault hits them, and what fails meanwhile looks like an
// outage of the databases.
func pathRestarted(e evidence.Run) []finding.Finding {
	var found []finding.Finding
	for _, c := range e.Provenance.Containers {
		how, _ := evidence.Interrupted(e, c)
		if how != "" && (c.Component == kube.ComponentSocial || c.Component == kube.ComponentProxy) {
			found = append(found, finding.Of(finding.PathRestarted, c.Name, c.Pod, how))
		}
	}
	return found
}

// BoundPath takes from figures that an app or a proxy made worse the bound on their better side. It comes after all other bounds.
func BoundPath(b *figure.Bounds, e evidence.Run, s *evidence.Status) {
	if len(pathRestarted(e)) == 0 {
		return
	}
	for _, entry := range figure.All() {
		if !entry.ThroughApp {
			continue
		}
		b.Worsened(s, entry.Path, entry.Better, finding.Of(finding.PathWasAway).String())
		if entry.InStages && s.Load != nil {
			for _, stage := range s.Load.Stages {
				b.Worsened(s, entry.OfStage(stage.Name), entry.Better, finding.Of(finding.PathWasAway).String())
			}
		}
	}
}
