//go:build e2e

package e2e

import (
	"testing"

	"replab.dev/api/v1alpha1"
)

// TestSemiSyncGhosts is the positive control for ghosts: commits that wait for a replica when their server dies.
func TestSemiSyncGhosts(t *testing.T) {
	carryOut(t, "findings/semisync-ghosts", v1alpha1.VerdictPassed, func(t *testing.T, s v1alpha1.ReplicationExperimentStatus) {
		failedOver(t, s)
		lostNothing(t, s)
		if s.GhostWrites == nil || *s.GhostWrites == 0 {
			t.Fatalf("the positive control left no ghosts: %v", s.GhostWrites)
		}
		for _, n := range s.Nodes {
			// The probes' writes are transactions too.
			if n.Name == s.Failover.OldPrimary && (n.GhostTransactions == nil || n.GhostWrites == nil || *n.GhostTransactions < *n.GhostWrites) {
				t.Errorf("the old primary is %+v", n)
			}
		}
	})
}

// TestSemiSyncDegradedLoss loses what a primary acknowledged alone, and had told before that it did.
func TestSemiSyncDegradedLoss(t *testing.T) {
	carryOut(t, "findings/semisync-degraded-loss", v1alpha1.VerdictPassed, func(t *testing.T, s v1alpha1.ReplicationExperimentStatus) {
		failedOver(t, s)
		if s.Writes == nil || s.Writes.Lost == nil || *s.Writes.Lost == 0 {
			t.Errorf("nothing was lost: %+v", s.Writes)
		}
		if s.Replication == nil || s.Replication.UnacknowledgedCommits == nil || *s.Replication.UnacknowledgedCommits == 0 {
			t.Errorf("it is not reported as degraded: %+v", s.Replication)
		}
	})
}
