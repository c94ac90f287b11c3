package verdict

import (
	"replab.dev/api/v1alpha1"
	"replab.dev/internal/figure"
	"replab.dev/internal/verdict/distance"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/load"
	"replab.dev/internal/verdict/outage"
	"replab.dev/internal/verdict/rejoin"
	"replab.dev/internal/verdict/settings"
	"replab.dev/internal/verdict/writes"
)

// fill copies the evidence's figures into the status. What was not measured stays absent.
func fill(e evidence.Run, s *v1alpha1.ReplicationExperimentStatus) {
	s.Faults = e.Faults
	s.Load = load.Status(e)
	s.Writes = writes.Status(e)
	s.Replication = replicationStatus(e)
	s.Nodes, s.GhostWrites = nodes(e)
	outage.State(e, s)
	writes.StateLossWindows(e, s)
	rejoin.State(e, s)
	s.Failover = outage.Failover(e)
	s.RestartsInPlace = outage.RestartsInPlace(e)

	s.Versions = &v1alpha1.VersionsStatus{Operator: e.Provenance.Operator, Server: settings.ServerVersions(e), K6: settings.K6Version(e)}
	distance.StateLate(e, s)
	distance.StateBounds(e, s)
	distance.StateLinking(e, s)
	stateFigureBounds(e, s)
	s.Columns = columns(s)
}

// columns are the figures that lists of runs show, by their names in the catalogue.
func columns(s *v1alpha1.ReplicationExperimentStatus) map[string]string {
	shown := map[string]string{}
	for _, entry := range figure.All() {
		if f := figure.Read(s, entry.Path); entry.Column != "" && f.Value != nil {
			shown[entry.Name] = f.Short()
		}
	}
	return shown
}
