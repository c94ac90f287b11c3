package verdict

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/figure"
)

// fill copies the evidence's figures into the status. What was not measured stays absent.
func fill(e Evidence, s *v1alpha1.ReplicationExperimentStatus) {
	s.Faults = e.Faults
	s.Load = loadStatus(e)
	s.Writes = writesStatus(e)
	s.Replication = replicationStatus(e)
	s.Nodes, s.GhostWrites = nodes(e)
	stateOutages(e, s)
	stateLossWindows(e, s)
	stateRejoins(e, s)
	s.Failover = failover(e)
	again := restartsInPlace(e)
	s.RestartsInPlace = again[:min(len(again), mostRestartsInPlace)]
	s.Versions = &v1alpha1.VersionsStatus{Operator: e.Provenance.Operator, Server: serverVersions(e), K6: k6Version(e)}
	stateLate(e, s)
	stateBounds(e, s)
	stateLinking(e, s)
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

func writesStatus(e Evidence) *v1alpha1.WritesStatus {
	if e.Audit == nil || e.Audit.Writes == nil {
		if e.Recorder == nil || e.Recorder.Failed != "" {
			return nil
		}
		w := e.Recorder.Writes
		return &v1alpha1.WritesStatus{Sent: w.Sent, Acknowledged: w.Acknowledged, Rejected: w.Rejected, Conflicting: conflicting(e.Recorder), Indeterminate: w.Indeterminate}
	}
	w := e.Audit.Writes
	s := &v1alpha1.WritesStatus{
		Sent: w.Sent, Acknowledged: w.Acknowledged, Rejected: w.Rejected, Conflicting: conflicting(e.Recorder), Indeterminate: w.Indeterminate,
		Present: &w.Present, Lost: statedLosses(e, &w.Lost), Recovered: &w.Recovered, Vanished: &w.Vanished, Duplicates: &w.Duplicates, Unexpected: &w.Unexpected,
		Balanced: metav1.ConditionFalse,
	}
	s.LostWhileDegraded, _, _ = lossesWhileDegraded(e)
	if w.Balanced {
		s.Balanced = metav1.ConditionTrue
	}
	return s
}
