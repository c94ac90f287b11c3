package verdict

import (
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/verdict/degraded"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/group"
	"replab.dev/internal/verdict/lag"
)

func replicationStatus(e evidence.Run) *v1alpha1.ReplicationStatus {
	w := e.Recorder
	if w == nil || w.Incomplete != "" {
		return nil
	}
	var r v1alpha1.ReplicationStatus
	if w.Lag != nil {
		r.Lag = lag.Status(w.Lag.LagDistribution)
	}
	if w.Commits != nil && degraded.NotSampled(w) == "" {
		r.DegradedCommits = ptr.To(w.Commits.DegradedCommits)
		r.DegradedMilliseconds = degraded.DegradedMilliseconds(w.Commits)
	}
	r.Group = group.Status(w).Status()
	if r == (v1alpha1.ReplicationStatus{}) {
		return nil
	}
	return &r
}

func replicationRemarks(e evidence.Run, status *v1alpha1.ReplicationExperimentStatus) []string {
	if e.Recorder == nil || e.Recorder.Incomplete != "" {
		return nil
	}
	var r v1alpha1.ReplicationStatus
	if status.Replication != nil {
		r = *status.Replication
	}
	found := append(lag.LagRemarks(e, r.Lag), degraded.CommitRemarks(e.Recorder, r.DegradedCommits)...)
	return append(found, degraded.LostWhileDegraded(e)...)
}
