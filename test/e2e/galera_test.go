//go:build e2e

package e2e

import (
	"slices"
	"testing"

	"replab.dev/api/v1alpha1"
)

func TestGalera(t *testing.T) {
	carryOut(t, "galera", v1alpha1.VerdictPassed, func(t *testing.T, s v1alpha1.ReplicationExperimentStatus) {
		lostNothing(t, s)
		backByTransfer(t, s)
		if s.Replication == nil || s.Replication.Lag == nil || s.Replication.Lag.P50Microseconds == nil {
			t.Errorf("there is no lag: %+v", s.Replication)
		}
	})
}

// TestGaleraPartition cuts off one member, and then the other two: none of it may lose a write.
func TestGaleraPartition(t *testing.T) {
	carryOut(t, "galera-partition", v1alpha1.VerdictPassed, lostNothing)
}

// TestGaleraAllDead kills all members at once: one cluster comes back. That it is one, carryOut's comparison of all rows tells.
func TestGaleraAllDead(t *testing.T) {
	carryOut(t, "galera-all-dead", v1alpha1.VerdictPassed, func(t *testing.T, s v1alpha1.ReplicationExperimentStatus) {
		lostNothing(t, s)
		if len(s.Faults) != 3 {
			t.Errorf("%d members were hit, want 3", len(s.Faults))
		}
		for _, f := range s.Faults {
			if f.OutageMilliseconds == nil || *f.OutageMilliseconds == 0 {
				t.Errorf("fault %s has no outage: %+v", f.Name, f)
			}
		}
	})
}

// TestGaleraVolatile loses acknowledged writes that three servers had in their memory.
func TestGaleraVolatile(t *testing.T) {
	carryOut(t, "findings/galera-volatile", v1alpha1.VerdictPassed, func(t *testing.T, s v1alpha1.ReplicationExperimentStatus) {
		if s.Writes == nil || s.Writes.Lost == nil || *s.Writes.Lost == 0 {
			t.Errorf("nothing was lost: %+v", s.Writes)
		}
	})
}

// backByTransfer tells that the members that were killed got what they had missed from the others.
func backByTransfer(t *testing.T, s v1alpha1.ReplicationExperimentStatus) {
	t.Helper()
	for _, f := range s.Faults {
		ways := []v1alpha1.RejoinWay{v1alpha1.RejoinedByIST, v1alpha1.RejoinedBySST}
		if f.RejoinMilliseconds == nil || !slices.Contains(ways, f.RejoinedBy) {
			t.Errorf("fault %s: back after %v by %q", f.Name, f.RejoinMilliseconds, f.RejoinedBy)
		}
	}
}
