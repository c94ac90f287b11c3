package verdict

import (
	"fmt"

	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/wire"
)

func replicationStatus(e Evidence) *v1alpha1.ReplicationStatus {
	w := e.Recorder
	if w == nil || w.Incomplete != "" {
		return nil
	}
	var r v1alpha1.ReplicationStatus
	if w.Lag != nil {
		r.Lag = lagStatus(w.Lag.LagDistribution)
	}
	if w.Commits != nil && notSampled(w) == "" {
		r.DegradedCommits = ptr.To(w.Commits.DegradedCommits)
		r.DegradedMilliseconds = degradedMilliseconds(w.Commits)
	}
	r.Group = groupStatus(w).status()
	if r == (v1alpha1.ReplicationStatus{}) {
		return nil
	}
	return &r
}

// unsampled are the nodes that may have had more commits than their samples tell.
func unsampled(w *wire.RecorderResults) []wire.NodeCommits {
	if w == nil || w.Commits == nil {
		return nil
	}
	var found []wire.NodeCommits
	for _, n := range w.Commits.Nodes {
		if n.UncountedMicroseconds > 0 {
			found = append(found, n)
		}
	}
	return found
}

// notSampled says why the counters of commits are not those of all primaries, "" when they are.
func notSampled(w *wire.RecorderResults) string {
	wrote := false
	for _, n := range w.Commits.Nodes {
		switch {
		case n.Samples > 0:
		case n.LastWriteAt != nil:
			return fmt.Sprintf("node %s acknowledged writes, and its counters could not be read once since the load began", n.Name)
		case w.UnnamedWrites > 0:
			return fmt.Sprintf("node %s may have acknowledged writes, and its counters could not be read once since the load began", n.Name)
		}
		wrote = wrote || n.LastWriteAt != nil
	}
	if !wrote {
		return "no node is known to have acknowledged a write"
	}
	return ""
}

func replicationRemarks(e Evidence, status *v1alpha1.ReplicationExperimentStatus) []string {
	if e.Recorder == nil || e.Recorder.Incomplete != "" {
		return nil
	}
	var r v1alpha1.ReplicationStatus
	if status.Replication != nil {
		r = *status.Replication
	}
	found := append(lagRemarks(e, r.Lag), commitRemarks(e.Recorder, r.DegradedCommits)...)
	return append(found, lostWhileDegraded(e)...)
}

func commitRemarks(w *wire.RecorderResults, stated *int64) []string {
	if w.Commits == nil {
		return nil
	}
	if stated == nil {
		return []string{"Unacknowledged commits are not stated: " + notSampled(w) + "."}
	}
	found := degraded(w, *stated)
	for _, n := range unsampled(w) {
		found = append(found, fmt.Sprintf("Unacknowledged commits are a lower bound: what node %s committed in up to %d ms before it died, before its counters could be read, or before its clock was set back, may not be counted.",
			n.Name, milliseconds(n.UncountedMicroseconds)))
	}
	return found
}
