//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/e2e-framework/pkg/envconf"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/wire"
)

// TestDualPrimary kills the node that has the writes. They move to the other one, and the first comes back as it was.
func TestDualPrimary(t *testing.T) {
	carryOut(t, "dual-primary", v1alpha1.VerdictPassed, func(t *testing.T, s v1alpha1.ReplicationExperimentStatus) {
		lostNothing(t, s)
		exchangedAll(t, s, 0)
		if f := s.Faults[0]; s.Failover != nil || ptr.Deref(f.OutageMilliseconds, 0) == 0 || f.RejoinMilliseconds == nil {
			t.Errorf("fault %+v, failover %+v; want an outage, and the node back without a takeover", f, s.Failover)
		}
	})
}

// TestDualPrimarySecondKilled kills the node without writes: nothing is to be moved.
func TestDualPrimarySecondKilled(t *testing.T) {
	inFull(t)
	x := variant(t, "dual-primary", "dual-second", 25, func(s *v1alpha1.ReplicationExperimentSpec) {
		s.Topology.Engine, s.Topology.DualPrimary.SemiSync = v1alpha1.EngineMariaDB, ptr.To(false)
		s.Faults[0].Node, s.Faults[0].AtSeconds, s.Faults[0].HoldSeconds = ptr.To[int32](1), 8, 5
	})
	carryOutVariant(t, x, func(t *testing.T, s v1alpha1.ReplicationExperimentStatus) {
		lostNothing(t, s)
		exchangedAll(t, s, 0)
	})
}

// TestDualPrimaryBothKilled leaves no node for a while. Each has flushed what it acknowledged, and both exchange it once they are back.
func TestDualPrimaryBothKilled(t *testing.T) {
	inFull(t)
	x := variant(t, "dual-primary", "dual-both", 25, func(s *v1alpha1.ReplicationExperimentSpec) {
		s.Faults[0].AtSeconds, s.Faults[0].HoldSeconds = 8, 4
		second := s.Faults[0]
		second.Name, second.Node = "crash-second", ptr.To[int32](1)
		s.Faults = append(s.Faults, second)
	})
	carryOutVariant(t, x, func(t *testing.T, s v1alpha1.ReplicationExperimentStatus) {
		lostNothing(t, s)
		exchangedAll(t, s, 0)
		if ptr.Deref(s.OutageMilliseconds, 0) < 4000 {
			t.Errorf("outage %v: both nodes were away for 4 s", ptr.Deref(s.OutageMilliseconds, -1))
		}
	})
}

// TestDualPrimaryPartition has both nodes take writes while neither sees the other one's: nothing is lost, and no row differs.
func TestDualPrimaryPartition(t *testing.T) {
	carryOut(t, "dual-primary-partition", v1alpha1.VerdictPassed, func(t *testing.T, s v1alpha1.ReplicationExperimentStatus) {
		lostNothing(t, s)
		exchangedAll(t, s, 0)
	})
}

// TestDualPrimaryConflicts changes the same rows on both nodes while they are cut off from each other: exactly these rows diverge.
func TestDualPrimaryConflicts(t *testing.T) {
	const rows = 10
	x := variant(t, "dual-primary-partition", "dual-conflicts", 28, func(s *v1alpha1.ReplicationExperimentSpec) {
		s.Faults[0].AtSeconds, s.Faults[0].HoldSeconds = 5, cutOffSeconds
	})
	run(t, x, v1alpha1.VerdictPassed, func(ctx context.Context, t *testing.T, cfg *envconf.Config) *v1alpha1.ReplicationExperiment {
		x = create(ctx, t, cfg, x)
		await(ctx, t, cfg, x, completeTimeout, "cut off from each other", func() bool {
			return x.Status.Verdict != "" || len(x.Status.Faults) == 1 && x.Status.Faults[0].Confirmed == metav1.ConditionTrue
		})
		if x.Status.Verdict == "" {
			conflict(ctx, t, cfg, x, x.Status.Faults[0], rows)
		}
		return x
	}, func(t *testing.T, s v1alpha1.ReplicationExperimentStatus) {
		lostNothing(t, s)
		exchangedAll(t, s, rows)
		if notes := strings.Join(s.Notes, " "); !strings.Contains(notes, fmt.Sprintf("%d rows differ between the nodes", rows)) {
			t.Errorf("notes are %q, want that %d rows differ", s.Notes, rows)
		}
	})
}

// conflict gives the first rows of the dataset another value on each node, while the fault stands.
func conflict(ctx context.Context, t *testing.T, cfg *envconf.Config, x *v1alpha1.ReplicationExperiment, f v1alpha1.FaultStatus, rows int) {
	t.Helper()
	for i := range x.Spec.Topology.Nodes {
		node := fmt.Sprintf("%s-db-%d", x.Name, i)
		db := openAs(ctx, t, cfg, x, node, wire.AccountApp)
		result, err := db.ExecContext(ctx, "UPDATE users SET last_name = ? WHERE write_id IS NULL ORDER BY id LIMIT ?", node, rows)
		check(t, err)
		if n, err := result.RowsAffected(); err != nil || n != int64(rows) {
			t.Fatalf("changed %d rows on %s, want %d: %v", n, node, rows, err)
		}
	}
	agent := fmt.Sprintf("http://127.0.0.1:%d%s%s", forward(t, cfg, x.Namespace, f.Pod, wire.PortAgent), wire.AgentPathFaults, f.Name)
	if released(t, agent) {
		t.Fatal("the partition ended before the rows were changed on both nodes: the test was too slow")
	}
}

// exchangedAll tells that both nodes take writes and lack none, that so many rows differ, and that each sent the other one something.
func exchangedAll(t *testing.T, s v1alpha1.ReplicationExperimentStatus, divergent int64) {
	t.Helper()
	if s.Writes == nil || ptr.Deref(s.Writes.DivergentRows, -1) != divergent {
		t.Fatalf("writes are %+v, want %d divergent rows", s.Writes, divergent)
	}
	for _, n := range s.Nodes {
		if n.Role != v1alpha1.NodePrimary || ptr.Deref(n.Lost, -1) != 0 {
			t.Errorf("node %s is %s and lacks %d acknowledged writes", n.Name, n.Role, ptr.Deref(n.Lost, -1))
		}
	}
	if s.Replication == nil || len(s.Replication.Traffic) != 2 {
		t.Fatalf("the bytes of two directions are not in %+v", s.Replication)
	}
	for _, d := range s.Replication.Traffic {
		if d.SentBytes == 0 {
			t.Errorf("%s: no byte was sent", d.Name)
		}
	}
}
