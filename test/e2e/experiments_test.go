//go:build e2e

package e2e

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
)

// The experiments that people apply, each with what must be found. What the status claims is checked by SQL.
func TestSingle(t *testing.T) {
	carryOut(t, "single", v1alpha1.VerdictPassed, func(t *testing.T, s v1alpha1.ReplicationExperimentStatus) {
		if s.Failover != nil || len(s.Faults) != 0 || s.OutageMilliseconds == nil {
			t.Errorf("a run without a fault has failover %+v, faults %+v, longest silence %v", s.Failover, s.Faults, s.OutageMilliseconds)
		}
		if s.Replication != nil && s.Replication.Lag != nil {
			t.Errorf("a single node has lag %+v", s.Replication.Lag)
		}
		for _, stage := range s.Load.Stages {
			if checked := stage.ClosedLoopPermille != nil; checked != (stage.Name != "open") {
				t.Errorf("stage %s: is checked as a closed loop: %t", stage.Name, checked)
			}
		}
		lostNothing(t, s)
	})
}

func TestAsync(t *testing.T) {
	carryOut(t, "async", v1alpha1.VerdictPassed, failedOverWithLag)
}

func TestSemiSync(t *testing.T) {
	carryOut(t, "semisync", v1alpha1.VerdictPassed, failedOverWithoutLoss)
}

func TestAsyncLoss(t *testing.T) {
	carryOut(t, "async-loss", v1alpha1.VerdictPassed, lostSome)
}

// failedOverWithLag is what asynchronous replication must show.
func failedOverWithLag(t *testing.T, s v1alpha1.ReplicationExperimentStatus) {
	t.Helper()
	failedOver(t, s)
	if s.Replication == nil || s.Replication.Lag == nil || s.Replication.Lag.P50Microseconds == nil {
		t.Errorf("there is no lag: %+v", s.Replication)
	}
}

// failedOverWithoutLoss is what semi-synchronous replication must show.
func failedOverWithoutLoss(t *testing.T, s v1alpha1.ReplicationExperimentStatus) {
	t.Helper()
	failedOver(t, s)
	lostNothing(t, s)
	if s.Replication == nil || s.Replication.DegradedCommits == nil {
		t.Errorf("unacknowledged commits were not counted: %+v", s.Replication)
	}
}

// lostSome is what a positive control must find.
func lostSome(t *testing.T, s v1alpha1.ReplicationExperimentStatus) {
	t.Helper()
	failedOver(t, s)
	if s.Writes == nil || s.Writes.Lost == nil || *s.Writes.Lost == 0 {
		t.Fatalf("the positive control lost nothing: %+v", s.Writes)
	}
	// What was lost had been committed: the old primary has it, and perhaps writes that were never acknowledged.
	if s.GhostWrites == nil || *s.GhostWrites < *s.Writes.Lost {
		t.Errorf("%d writes were lost, but the old primary holds %v that nobody else has", *s.Writes.Lost, s.GhostWrites)
	}
	for _, f := range s.Faults {
		if f.Name == "crash" && (f.LossWindowMilliseconds == nil || *f.LossWindowMilliseconds == 0) {
			t.Errorf("there is no loss window: %+v", f)
		}
	}
}

func TestMariaDBAsync(t *testing.T) {
	inFull(t)
	carryOut(t, "mariadb-async", v1alpha1.VerdictPassed, failedOverWithLag)
}

func TestMariaDBSemiSync(t *testing.T) {
	carryOut(t, "mariadb-semisync", v1alpha1.VerdictPassed, failedOverWithoutLoss)
}

func TestMariaDBAsyncLoss(t *testing.T) {
	inFull(t)
	carryOut(t, "mariadb-async-loss", v1alpha1.VerdictPassed, lostSome)
}

func TestSemiSyncDegraded(t *testing.T) {
	inFull(t)
	carryOut(t, "semisync-degraded", v1alpha1.VerdictPassed, func(t *testing.T, s v1alpha1.ReplicationExperimentStatus) {
		lostNothing(t, s)
		if s.Replication == nil || s.Replication.DegradedCommits == nil || *s.Replication.DegradedCommits == 0 {
			t.Errorf("both replicas were paused beyond the timeout, but it is not reported as degraded: %+v", s.Replication)
		}
		if len(s.Faults) != 2 {
			t.Errorf("AllReplicas hit %d nodes, want 2", len(s.Faults))
		}
	})
}

// TestSwitchover changes the primary as planned: nothing is lost or left behind, and the old one is a replica that was not rebuilt.
func TestSwitchover(t *testing.T) {
	carryOut(t, "switchover", v1alpha1.VerdictPassed, func(t *testing.T, s v1alpha1.ReplicationExperimentStatus) {
		lostNothing(t, s)
		if s.GhostWrites == nil || *s.GhostWrites != 0 {
			t.Errorf("ghosts are %v, want 0", s.GhostWrites)
		}
		f := s.Faults[0]
		if s.Failover == nil || !s.Failover.Planned || s.Failover.OldPrimary != f.Pod || s.Failover.NewPrimary == f.Pod || s.Failover.PromotionMilliseconds == nil {
			t.Errorf("failover is %+v", s.Failover)
		}
		if f.RejoinMilliseconds == nil || f.Resync == nil || f.Resync.Method != v1alpha1.ResyncReattach || f.OutageMilliseconds == nil {
			t.Errorf("fault is %+v", f)
		}
		for _, n := range s.Nodes {
			if n.Name == f.Pod && (n.Role != v1alpha1.NodeReplica || n.Rejoined != "") {
				t.Errorf("the old primary is %+v", n)
			}
		}
	})
}

func failedOver(t *testing.T, s v1alpha1.ReplicationExperimentStatus) {
	t.Helper()
	f := s.Failover
	if f == nil || f.OutageMilliseconds == nil || f.NewPrimary == "" || f.NewPrimary == f.OldPrimary {
		t.Fatalf("failover is %+v", f)
	}
	for _, hit := range s.Faults {
		if hit.OutageMilliseconds == nil {
			t.Errorf("fault %s has no outage", hit.Name)
		}
		if hit.Name == f.Fault && hit.Pod != f.OldPrimary {
			t.Errorf("the old primary was %s, but the fault hit %s", f.OldPrimary, hit.Pod)
		}
	}
	phasesAddUp(t, s)
	for _, n := range s.Nodes {
		if n.Name == f.OldPrimary && n.Rejoined != metav1.ConditionTrue {
			t.Errorf("the old primary was not rebuilt: %+v", n)
		}
		if n.Name == f.OldPrimary && n.RejoinedRows == nil {
			t.Errorf("the old primary was not compared once it was back: %+v", n)
		}
	}
	for _, hit := range s.Faults {
		if hit.Name == f.Fault && (hit.Resync == nil || hit.Resync.Method != v1alpha1.ResyncClone && hit.Resync.Method != v1alpha1.ResyncBackup) {
			t.Errorf("fault %s does not tell how long the old primary was away: %+v", hit.Name, hit)
		}
	}
}

func phasesAddUp(t *testing.T, s v1alpha1.ReplicationExperimentStatus) {
	t.Helper()
	f := s.Failover
	if f.DetectionMilliseconds == nil || f.PromotionMilliseconds == nil || f.RoutingMilliseconds == nil {
		t.Errorf("the phases of the outage are not stated: %+v; the notes are %q", f, s.Notes)
	} else if sum := *f.DetectionMilliseconds + *f.PromotionMilliseconds + *f.RoutingMilliseconds; sum < *f.OutageMilliseconds-3 || sum > *f.OutageMilliseconds+3 {
		t.Errorf("the phases add up to %d ms, the outage is %d ms", sum, *f.OutageMilliseconds)
	}
}

func lostNothing(t *testing.T, s v1alpha1.ReplicationExperimentStatus) {
	t.Helper()
	if s.Writes == nil || s.Writes.Lost == nil || *s.Writes.Lost != 0 {
		t.Errorf("writes are %+v, want none lost", s.Writes)
	}
}
