//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/e2e-framework/pkg/envconf"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/wire"
)

func TestGalera(t *testing.T) {
	carryOut(t, "galera", v1alpha1.VerdictPassed, func(t *testing.T, s v1alpha1.ReplicationExperimentStatus) {
		lostNothing(t, s)
		backByTransfer(t, s)
		if s.Replication == nil || s.Replication.Lag == nil || s.Replication.Lag.P50Microseconds == nil {
			t.Errorf("there is no lag: %+v", s.Replication)
		}
		membersCounted(t, s)
	})
}

// TestGaleraAllWriters: every member takes writes, by its own account, and none takes over when one is killed.
func TestGaleraAllWriters(t *testing.T) {
	x := loaded(t, "galera-all-writers")
	replicated := map[string]int64{}
	t.Parallel()
	runOnce(t, x, room(x), v1alpha1.VerdictPassed, applied(x), func(ctx context.Context, t *testing.T, cfg *envconf.Config, x *v1alpha1.ReplicationExperiment) {
		for _, n := range x.Status.Nodes {
			replicated[n.Name] = number(ctx, t, open(ctx, t, cfg, x, n.Name),
				"SELECT CAST(VARIABLE_VALUE AS SIGNED) FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'WSREP_REPLICATED'")
		}
	}, func(t *testing.T, s v1alpha1.ReplicationExperimentStatus) {
		lostNothing(t, s)
		backByTransfer(t, s)
		membersCounted(t, s)
		if s.Failover != nil || s.Faults[0].OutageMilliseconds == nil || s.Faults[0].Role != v1alpha1.NodePrimary {
			t.Errorf("failover %+v, fault %+v: nobody takes over, and the outage is known all the same", s.Failover, s.Faults[0])
		}
		watched := 0
		for _, n := range s.Nodes {
			if n.Lag != nil {
				watched++
			}
			if n.Role != v1alpha1.NodePrimary || n.Name != s.Faults[0].Pod && replicated[n.Name] < s.Writes.Acknowledged/10 {
				t.Errorf("member %s is %s, and sent %d writes to the others; %d were acknowledged", n.Name, n.Role, replicated[n.Name], s.Writes.Acknowledged)
			}
		}
		if watched < len(s.Nodes)-1 { // one may have taken all of the probe's writes: it has no lag behind itself
			t.Errorf("the lag of %d members is known", watched)
		}
	})
}

// TestGaleraPartition cuts off one member, and then the other two: none of it may lose a write. The first cut is between places: the
// other two are in one, and are cut off from the member with the writes, but not from each other.
func TestGaleraPartition(t *testing.T) {
	const later = 15
	x := loaded(t, "galera-partition")
	run(t, x, v1alpha1.VerdictPassed, func(ctx context.Context, t *testing.T, cfg *envconf.Config) *v1alpha1.ReplicationExperiment {
		s := &x.Spec
		s.Topology.Zones = []v1alpha1.Zone{{Name: "here", Nodes: []int32{0}}, {Name: "there", Nodes: []int32{1, 2}}}
		s.Faults[0].Node, s.Faults[0].PartitionFrom = ptr.To[int32](1), v1alpha1.PartitionZone
		s.Faults[0].HoldSeconds += later // until it was seen
		for i := range s.Faults[1:] {
			s.Faults[i+1].AtSeconds += later
		}
		s.Load.Stages[len(s.Load.Stages)-1].DurationSeconds += later
		x = create(ctx, t, cfg, x)
		await(ctx, t, cfg, x, completeTimeout, "cut between places", func() bool {
			return x.Status.Verdict != "" || len(x.Status.Faults) >= 2 && x.Status.Faults[1].Confirmed == metav1.ConditionTrue
		})
		if x.Status.Verdict == "" {
			together(ctx, t, cfg, x, x.Status.Faults[:2])
		}
		return x
	}, func(t *testing.T, s v1alpha1.ReplicationExperimentStatus) {
		lostNothing(t, s)
		var hit []string
		for _, f := range s.Faults {
			hit = append(hit, f.Fault+" "+f.Pod)
		}
		if want := []string{"one " + x.Name + "-db-1", "one " + x.Name + "-db-2", "second " + x.Name + "-db-1", "third " + x.Name + "-db-2"}; !slices.Equal(hit, want) {
			t.Errorf("faults hit %q, want %q", hit, want)
		}
	})
}

// together waits until the members that faults cut off agree that they alone are the cluster, while the faults stand.
func together(ctx context.Context, t *testing.T, cfg *envconf.Config, x *v1alpha1.ReplicationExperiment, faults []v1alpha1.FaultStatus) {
	t.Helper()
	for _, f := range faults {
		db := open(ctx, t, cfg, x, f.Pod)
		agent := fmt.Sprintf("http://127.0.0.1:%d%s%s", forward(t, cfg, x.Namespace, f.Pod, wire.PortAgent), wire.AgentPathFaults, f.Name)
		size := func() int64 {
			return number(ctx, t, db, `SELECT COALESCE(MAX(CAST(s.VARIABLE_VALUE AS SIGNED)), 0) FROM information_schema.GLOBAL_STATUS s, information_schema.GLOBAL_STATUS p
WHERE s.VARIABLE_NAME = 'WSREP_CLUSTER_SIZE' AND p.VARIABLE_NAME = 'WSREP_CLUSTER_STATUS' AND p.VARIABLE_VALUE = 'Primary'`)
		}
		for size() != int64(len(faults)) {
			if released(t, agent) {
				t.Fatalf("%s was not in a cluster of %d when the partition ended", f.Pod, len(faults))
			}
			time.Sleep(50 * time.Millisecond) // between two looks
		}
	}
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

// TestGaleraSwitchover has the writes given to another member as planned, and then to the third: nothing is lost, no member is the worse for it,
// and who had them goes on as a reader.
func TestGaleraSwitchover(t *testing.T) {
	inFull(t)
	x := variant(t, "galera", "galera-switchover", 30, func(s *v1alpha1.ReplicationExperimentSpec) {
		s.Faults = []v1alpha1.Fault{
			{Name: "planned", AtSeconds: 8, Target: v1alpha1.TargetPrimary, Action: v1alpha1.ActionSwitchover},
			{Name: "again", AtSeconds: 18, Target: v1alpha1.TargetPrimary, Action: v1alpha1.ActionSwitchover},
		}
	})
	carryOutVariant(t, x, func(t *testing.T, s v1alpha1.ReplicationExperimentStatus) {
		lostNothing(t, s)
		if s.GhostWrites == nil || *s.GhostWrites != 0 {
			t.Errorf("ghosts are %v, want 0", s.GhostWrites)
		}
		for i, want := range []string{"galera-switchover-db-0", "galera-switchover-db-1"} {
			if f := s.Faults[i]; f.State != v1alpha1.FaultConfirmed || f.Pod != want || f.OutageMilliseconds == nil || f.InjectedTime == nil {
				t.Errorf("fault %+v, want one of %s, confirmed", f, want)
			}
		}
		if f := s.Failover; f == nil || !f.Planned || f.PromotionMilliseconds == nil || f.OldPrimary == f.NewPrimary {
			t.Errorf("failover is %+v", f)
		}
		for i, n := range s.Nodes {
			if want := i == 2; want != (n.Role == v1alpha1.NodePrimary) {
				t.Errorf("node %+v after both", n)
			}
		}
	})
}

// TestGaleraVolatile loses acknowledged writes that three servers had in their memory. Each writes its log once a second, by a clock of its
// own: now and then one has done so just before it is killed, and such a run loses nothing.
func TestGaleraVolatile(t *testing.T) {
	inFull(t)
	t.Parallel()
	const runs = 3
	var lost int64
	for n := 0; n < runs && lost == 0 && !t.Failed(); n++ {
		x := loaded(t, "findings/galera-volatile")
		runOnce(t, x, room(x), v1alpha1.VerdictPassed, applied(x), nil,
			func(t *testing.T, s v1alpha1.ReplicationExperimentStatus) {
				if s.Writes == nil {
					t.Fatal("the status tells nothing of the writes")
				}
				lost = ptr.Deref(s.Writes.Lost, 0)
			})
	}
	if lost == 0 && !t.Failed() {
		t.Errorf("%d runs lost nothing", runs)
	}
}

// backByTransfer tells that the members that were killed got what they had missed from the others.
func backByTransfer(t *testing.T, s v1alpha1.ReplicationExperimentStatus) {
	t.Helper()
	for _, f := range s.Faults {
		r := f.Resync
		if f.RejoinMilliseconds == nil || r == nil || r.Method != v1alpha1.ResyncIST && r.Method != v1alpha1.ResyncSST {
			t.Errorf("fault %s: back after %v by %+v", f.Name, f.RejoinMilliseconds, r)
			continue
		}
		if ptr.Deref(r.DurationMilliseconds, 0) == 0 || ptr.Deref(r.NetworkReceivedBytes, 0) == 0 {
			t.Errorf("fault %s: its node's data came by %+v", f.Name, r)
		}
	}
}

// membersCounted tells that what the members counted is stated, of each and of all.
func membersCounted(t *testing.T, s v1alpha1.ReplicationExperimentStatus) {
	t.Helper()
	if s.Replication == nil || s.Replication.Group == nil {
		t.Fatalf("nothing is stated of the group: %+v", s.Replication)
	}
	g := s.Replication.Group
	if g.CertificationFailures == nil || g.ForcedAborts == nil || g.FlowControlPausedPermille == nil || g.ReceiveQueueMax == nil || s.Writes.Conflicting == nil {
		t.Errorf("of the group %+v, of the writes %+v", g, s.Writes)
	}
	for _, n := range s.Nodes {
		if n.Group == nil {
			t.Errorf("nothing is stated of %s as a member", n.Name)
		}
	}
}
