package verdict

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/wire"
)

// fill copies the evidence's figures into the status. What was not measured stays absent.
func fill(e Evidence, s *v1alpha1.ReplicationExperimentStatus) {
	s.Faults = e.Faults
	s.Load = loadStatus(e)
	s.Writes = writesStatus(e)
	s.Replication = replicationStatus(e.Witness)
	s.Nodes, s.GhostWrites = nodes(e)
	s.Failover = failover(e)
	s.Comparison = comparison(e, s)
	s.Versions = &v1alpha1.VersionsStatus{Operator: e.Provenance.Operator}
}

func writesStatus(e Evidence) *v1alpha1.WritesStatus {
	if e.Audit == nil || e.Audit.Writes == nil {
		if e.Witness == nil || e.Witness.Failed != "" {
			return nil
		}
		w := e.Witness.Writes
		return &v1alpha1.WritesStatus{Sent: w.Sent, Acknowledged: w.Acknowledged, Rejected: w.Rejected, Indeterminate: w.Indeterminate}
	}
	w := e.Audit.Writes
	s := &v1alpha1.WritesStatus{
		Sent: w.Sent, Acknowledged: w.Acknowledged, Rejected: w.Rejected, Indeterminate: w.Indeterminate,
		Present: &w.Present, Lost: statedLosses(e, &w.Lost), Recovered: &w.Recovered, Vanished: &w.Vanished, Duplicates: &w.Duplicates, Unexpected: &w.Unexpected,
		Balanced: metav1.ConditionFalse,
	}
	if w.Balanced {
		s.Balanced = metav1.ConditionTrue
	}
	s.LossWindowMilliseconds = lossWindow(e.Faults, w)
	return s
}

// answerUnderWay is how long after the death of a server its last answer may reach the client.
const answerUnderWay = time.Second

// lossWindow is how long before the fault that cost them the earliest of the lost writes was acknowledged. That fault is the first one
// after the last lost acknowledgement, whose answer may have been under way when the server died.
func lossWindow(faults []v1alpha1.FaultStatus, w *wire.WriteSets) *int64 {
	if w.EarliestLostAt == nil || w.LatestLostAt == nil {
		return nil
	}
	var cause *metav1.MicroTime
	for i := range faults {
		at := faults[i].InjectedTime
		if at != nil && !at.Add(answerUnderWay).Before(w.LatestLostAt.Time) && (cause == nil || at.Before(cause)) {
			cause = at
		}
	}
	if cause == nil {
		return nil
	}
	return ptr.To(cause.Sub(w.EarliestLostAt.Time).Milliseconds())
}
