package verdict

import (
	"fmt"
	"slices"

	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/wire"
)

func replicationStatus(w *wire.WitnessResults) *v1alpha1.ReplicationStatus {
	if w == nil || w.Incomplete != "" {
		return nil
	}
	var r v1alpha1.ReplicationStatus
	if w.Lag != nil {
		r.Lag = lagStatus(w.Lag.LagDistribution)
	}
	if w.Commits != nil && notSampled(w) == "" {
		r.UnacknowledgedCommits = ptr.To(w.Commits.UnacknowledgedCommits)
		if len(unsampled(w)) == 0 {
			r.UnacknowledgedCommitsAtMost = ptr.To(w.Commits.UnacknowledgedCommitsAtMost)
		}
		r.AloneMilliseconds = aloneMilliseconds(w.Commits)
	}
	r.Group = groupStatus(w)
	if r == (v1alpha1.ReplicationStatus{}) {
		return nil
	}
	return &r
}

// lagStatus is nil when no write was awaited.
func lagStatus(d wire.LagDistribution) *v1alpha1.LagStatus {
	if d.Samples+d.Unseen == 0 {
		return nil
	}
	return &v1alpha1.LagStatus{
		Samples: d.Samples, Censored: d.Censored, Unseen: d.Unseen, Lost: d.Lost, P50Microseconds: d.P50Microseconds,
		P99Microseconds: d.P99Microseconds, MaxMicroseconds: d.MaxMicroseconds, BracketP50Microseconds: d.BracketP50Microseconds,
		OldestUnseenMicroseconds: d.OldestUnseenMicroseconds, LowerBounds: slices.Clone(d.LowerBounds),
	}
}

// behind are the nodes that had not shown writes which they should have: their lag is longer than is known.
func behind(w *wire.WitnessResults) []wire.NodeLag {
	if w == nil || w.Lag == nil {
		return nil
	}
	var found []wire.NodeLag
	for _, n := range w.Lag.Nodes {
		if !n.FormerPrimary && n.Unseen > n.Lost {
			found = append(found, n)
		}
	}
	return found
}

// unsampled are the nodes that may have had more commits than their samples tell.
func unsampled(w *wire.WitnessResults) []wire.NodeCommits {
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
func notSampled(w *wire.WitnessResults) string {
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
	if e.Witness == nil || e.Witness.Incomplete != "" {
		return nil
	}
	var r v1alpha1.ReplicationStatus
	if status.Replication != nil {
		r = *status.Replication
	}
	found := append(lagRemarks(e.Witness, r.Lag), commitRemarks(e.Witness, r.UnacknowledgedCommits)...)
	return append(found, lostAlone(e)...)
}

func lagRemarks(w *wire.WitnessResults, stated *v1alpha1.LagStatus) []string {
	if w.Lag == nil {
		return nil
	}
	if stated == nil {
		return []string{fmt.Sprintf("The lag is not stated: no replica was to show an acknowledged row of the probe that was written in a stage that counts. %d were written then, %d at other times.",
			w.Lag.Acknowledged, w.Lag.Uncounted)}
	}
	var found []string
	for _, n := range behind(w) {
		found = append(found, fmt.Sprintf("Node %s had not shown %d acknowledged rows of the probe when the measurement ended, the oldest after %d ms: their lags are longer than that.",
			n.Name, n.Unseen-n.Lost, ptr.Deref(n.OldestUnseenMicroseconds, 0)/1000))
	}
	if w.Lag.Lost > 0 {
		found = append(found, fmt.Sprintf("%d times a replica never showed an acknowledged row of the probe, which was lost with its primary: there is no lag of these.", w.Lag.Lost))
	}
	return found
}

func commitRemarks(w *wire.WitnessResults, stated *int64) []string {
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
