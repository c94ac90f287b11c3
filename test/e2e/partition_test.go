//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/e2e-framework/pkg/envconf"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/wire"
)

const cutOffSeconds = 14

func cutOff(from v1alpha1.PartitionFrom) func(*v1alpha1.ReplicationExperimentSpec) {
	return func(s *v1alpha1.ReplicationExperimentSpec) {
		s.Faults = []v1alpha1.Fault{{
			Name: "cut", AtSeconds: 5, Target: v1alpha1.TargetPrimary, Action: v1alpha1.ActionPartition, PartitionFrom: from, HoldSeconds: cutOffSeconds,
		}}
	}
}

// TestPrimaryCutOffFromItsClients leaves a primary that nobody replaces, since its director and its replicas reach it as before:
// the outage is as long as the partition.
func TestPrimaryCutOffFromItsClients(t *testing.T) {
	x := variant(t, "async", "no-clients", 28, cutOff(v1alpha1.PartitionClients))
	run(t, x, v1alpha1.VerdictPassed, func(ctx context.Context, t *testing.T, cfg *envconf.Config) *v1alpha1.ReplicationExperiment {
		x = create(ctx, t, cfg, x)
		await(ctx, t, cfg, x, completeTimeout, "cut off", func() bool {
			return x.Status.Verdict != "" || len(x.Status.Faults) == 1 && x.Status.Faults[0].Confirmed == metav1.ConditionTrue
		})
		if x.Status.Verdict == "" {
			replicates(ctx, t, cfg, x, x.Status.Faults[0])
		}
		return x
	}, func(t *testing.T, s v1alpha1.ReplicationExperimentStatus) {
		lostNothing(t, s)
		if f := s.Faults[0]; s.Failover != nil || f.OutageMilliseconds == nil || *f.OutageMilliseconds < cutOffSeconds*1000-1000 { // a busy machine reads late when the fault began
			t.Errorf("fault %+v, failover %+v; want the same primary back after the %d s that its clients could not reach it", f, s.Failover, cutOffSeconds)
		}
		for _, n := range s.Nodes {
			if (n.Role == v1alpha1.NodePrimary) != (n.Name == s.Faults[0].Pod) {
				t.Errorf("node %s is %s; the primary was %s", n.Name, n.Role, s.Faults[0].Pod)
			}
		}
	})
}

// replicates writes a row of its own on the primary and waits for it on each replica, while the fault stands.
func replicates(ctx context.Context, t *testing.T, cfg *envconf.Config, x *v1alpha1.ReplicationExperiment, f v1alpha1.FaultStatus) {
	t.Helper()
	const id = 1 << 50 // of no probe
	if _, err := open(ctx, t, cfg, x, f.Pod).ExecContext(ctx, "INSERT INTO probe_writes (id, payload) VALUES (?, 'e2e')", id); err != nil {
		t.Fatalf("write on %s, which is cut off from its clients: %v", f.Pod, err)
	}
	agent := fmt.Sprintf("http://127.0.0.1:%d%s%s", forward(t, cfg, x.Namespace, f.Pod, wire.PortAgent), wire.AgentPathFaults, f.Name)
	for i := range x.Spec.Topology.Nodes {
		node := fmt.Sprintf("%s-db-%d", x.Name, i)
		db := open(ctx, t, cfg, x, node)
		for number(ctx, t, db, fmt.Sprintf("SELECT COUNT(*) FROM probe_writes WHERE id = %d", id)) == 0 {
			if released(t, agent) {
				t.Fatalf("%s had not received the write of %s when the partition ended", node, f.Pod)
			}
			time.Sleep(50 * time.Millisecond) // between two looks
		}
	}
	if released(t, agent) {
		t.Error("the partition ended before replication was seen on every node: the test was too slow to tell")
	}
}

// released asks a node's agent whether a fault is over.
func released(t *testing.T, url string) bool {
	t.Helper()
	response, err := http.Get(url)
	check(t, err)
	defer response.Body.Close()
	var record wire.FaultRecord
	check(t, json.NewDecoder(response.Body).Decode(&record))
	return record.ReleasedAt != nil
}

// TestPrimaryCutOffFromEveryone has the director replace a primary that it cannot reach, once its lease has run out. The old one
// keeps what nobody acknowledged, and is rebuilt.
func TestPrimaryCutOffFromEveryone(t *testing.T) {
	x := variant(t, "semisync", "cut-off", 28, cutOff(v1alpha1.PartitionEveryone))
	carryOutVariant(t, x, func(t *testing.T, s v1alpha1.ReplicationExperimentStatus) {
		failedOver(t, s)
		lostNothing(t, s)
	})
}
