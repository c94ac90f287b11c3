//go:build e2e

package e2e

import (
	"strings"
	"testing"

	"replab.dev/api/v1alpha1"
	"replab.dev/test/experiment"
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
		if s.Replication == nil || s.Replication.DegradedCommits == nil || *s.Replication.DegradedCommits == 0 {
			t.Errorf("it is not reported as degraded: %+v", s.Replication)
		}
	})
}

// TestGaleraStaleReads reads users on other members as soon as they are registered.
func TestGaleraStaleReads(t *testing.T) {
	carryOut(t, "findings/galera-stale-reads", v1alpha1.VerdictPassed, func(t *testing.T, s v1alpha1.ReplicationExperimentStatus) {
		lostNothing(t, s)
		if s.Load.StaleReads == nil || *s.Load.StaleReads == 0 {
			t.Errorf("no read was stale: %v", s.Load.StaleReads)
		}
	})
}

// TestGaleraSyncWait has those reads wait: none is stale.
func TestGaleraSyncWait(t *testing.T) {
	inFull(t)
	carryOut(t, "findings/galera-sync-wait", v1alpha1.VerdictPassed, func(t *testing.T, s v1alpha1.ReplicationExperimentStatus) {
		if s.Load.StaleReads == nil || *s.Load.StaleReads != 0 {
			t.Errorf("stale reads are %v, want 0", s.Load.StaleReads)
		}
	})
}

// TestGaleraKillInPartition loses nothing in nearly every run: that it does in some is what a suite is for.
func TestGaleraKillInPartition(t *testing.T) {
	inFull(t)
	carryOut(t, "findings/galera-kill-in-partition", v1alpha1.VerdictPassed, lostNothing)
}

// TestProxySQLRetries has ProxySQL send writes again. Whether it did is told, and not in every run there is one.
func TestProxySQLRetries(t *testing.T) {
	x := experiment.Load(t, "findings/semisync-proxysql-retries")
	behindProxySQL(t, &x.Spec)
	if !full {
		halve(&x.Spec)
	}
	carryOutVariant(t, x, func(t *testing.T, s v1alpha1.ReplicationExperimentStatus) {
		lostNothing(t, s)
		twice := int64(0)
		for _, n := range s.Nodes {
			if n.GhostTransactions != nil && n.GhostWrites != nil {
				twice += *n.GhostTransactions - *n.GhostWrites
			}
		}
		said := strings.Contains(strings.Join(s.Notes, " "), "sent those writes twice")
		t.Logf("%d transactions beyond the ghosts' rows, the probes' ghosts among them; told to be sent twice: %t", twice, said)
		if said && twice == 0 {
			t.Errorf("writes are told to be sent twice, and the nodes are %+v", s.Nodes)
		}
	})
}
