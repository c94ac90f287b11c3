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
)

// carryOutPatroni carries an experiment out, asks once it is deployed and once it is complete, holds the ledger against the tables and ghosts
// against logs, and asks each node whom it follows.
func carryOutPatroni(t *testing.T, x *v1alpha1.ReplicationExperiment, before, after asked, assess func(*testing.T, v1alpha1.ReplicationExperimentStatus)) {
	t.Parallel()
	runOnce(t, x, room(x), v1alpha1.VerdictPassed, func(ctx context.Context, t *testing.T, cfg *envconf.Config) *v1alpha1.ReplicationExperiment {
		x = create(ctx, t, cfg, x)
		if before != nil {
			await(ctx, t, cfg, x, completeTimeout, "deployed", func() bool {
				return x.Status.Verdict != "" || condition(x, v1alpha1.ConditionDeployed).Status == metav1.ConditionTrue
			})
			before(ctx, t, cfg, x)
		}
		return x
	}, func(ctx context.Context, t *testing.T, cfg *envconf.Config, x *v1alpha1.ReplicationExperiment) {
		lossesByLedger(ctx, t, cfg, x)
		ghostsByLog(ctx, t, cfg, x)
		followOne(ctx, t, cfg, x)
		if after != nil {
			after(ctx, t, cfg, x)
		}
	}, assess)
}

// timeline of the server that takes the writes.
const timeline = "SELECT ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int"

// followOne tells that one node takes the writes, which the status calls the primary, and that all others follow its timeline and hold the
// probes' rows that it holds.
func followOne(ctx context.Context, t *testing.T, cfg *envconf.Config, x *v1alpha1.ReplicationExperiment) {
	t.Helper()
	probes := func(node string) string {
		db := open(ctx, t, cfg, x, node)
		return fmt.Sprint(number(ctx, t, db, "SELECT count(*) FROM probe_writes"), " up to ", number(ctx, t, db, "SELECT coalesce(max(id), 0) FROM probe_writes"))
	}
	i := slices.IndexFunc(x.Status.Nodes, func(n v1alpha1.NodeStatus) bool { return n.Role == v1alpha1.NodePrimary })
	if i < 0 {
		t.Fatalf("no node is the primary: %+v", x.Status.Nodes)
	}
	primary := x.Status.Nodes[i].Name
	line, rows := number(ctx, t, open(ctx, t, cfg, x, primary), timeline), probes(primary)
	for _, n := range x.Status.Nodes {
		db := open(ctx, t, cfg, x, n.Name)
		if writes := number(ctx, t, db, postgresDialect.primary) == 1; writes != (n.Name == primary) {
			t.Errorf("%s takes writes: %t; the status says %s", n.Name, writes, n.Role)
		} else if writes {
			continue
		}
		if own := number(ctx, t, db, "SELECT received_tli FROM pg_stat_wal_receiver"); own != line {
			t.Errorf("%s follows timeline %d, %s is on %d", n.Name, own, primary, line)
		}
		if own := probes(n.Name); own != rows {
			t.Errorf("%s holds %s rows of the probes, %s %s", n.Name, own, primary, rows)
		}
	}
}

// standbysAre waits until commits wait for those standbys, by the primary's own setting: Patroni names them one after the other.
func standbysAre(want func(x *v1alpha1.ReplicationExperiment) []string) asked {
	return func(ctx context.Context, t *testing.T, cfg *envconf.Config, x *v1alpha1.ReplicationExperiment) {
		t.Helper()
		db := open(ctx, t, cfg, x, x.Name+"-db-0")
		var got string
		var failed error
		for end := time.Now().Add(terminalTimeout); time.Now().Before(end); time.Sleep(time.Second) { // between two looks
			failed = db.QueryRowContext(ctx, "SHOW synchronous_standby_names").Scan(&got)
			if failed == nil && slices.Contains(want(x), got) {
				return
			}
		}
		t.Errorf("commits wait for %q, want one of %q (%v)", got, want(x), failed)
	}
}

func anyOfTwo(x *v1alpha1.ReplicationExperiment) []string {
	one, two := x.Name+"-db-1", x.Name+"-db-2"
	return []string{fmt.Sprintf(`ANY 1 ("%s","%s")`, one, two), fmt.Sprintf(`ANY 1 ("%s","%s")`, two, one)}
}

func oneByName(x *v1alpha1.ReplicationExperiment) []string {
	return []string{fmt.Sprintf(`"%s-db-1"`, x.Name), fmt.Sprintf(`"%s-db-2"`, x.Name)}
}

func nobody(*v1alpha1.ReplicationExperiment) []string { return []string{""} }

// promoted is what a failover by Patroni must show: parts that add up, and an old primary that follows, once what only it had was taken back.
func promoted(t *testing.T, s v1alpha1.ReplicationExperimentStatus) {
	t.Helper()
	f := s.Failover
	if f == nil || f.OutageMilliseconds == nil || f.NewPrimary == "" || f.NewPrimary == f.OldPrimary {
		t.Fatalf("failover is %+v", f)
	}
	phasesAddUp(t, s)
	for _, hit := range s.Faults {
		if hit.Name == f.Fault && (hit.Resync == nil || hit.Resync.Method != v1alpha1.ResyncRewind && hit.Resync.Method != v1alpha1.ResyncBackup) {
			t.Errorf("fault %s does not tell how the old primary came back: %+v", hit.Name, hit)
		}
	}
	for _, n := range s.Nodes {
		if n.Name == f.OldPrimary && (n.Role != v1alpha1.NodeReplica || n.GhostWrites == nil) {
			t.Errorf("the old primary is %+v", n)
		}
	}
}

// restartedInPlace tells whether a writer has taken its place again.
func restartedInPlace(s v1alpha1.ReplicationExperimentStatus) bool { return len(s.RestartsInPlace) > 0 }

// startedAfter tells that the server of a fault's node is another than before it.
func startedAfter(fault string) asked {
	return func(ctx context.Context, t *testing.T, cfg *envconf.Config, x *v1alpha1.ReplicationExperiment) {
		t.Helper()
		i := slices.IndexFunc(x.Status.Faults, func(f v1alpha1.FaultStatus) bool { return f.Fault == fault })
		if i < 0 || x.Status.Faults[i].InjectedTime == nil {
			t.Fatalf("fault %s was not injected: %+v", fault, x.Status.Faults)
		}
		f := x.Status.Faults[i]
		query := fmt.Sprintf("SELECT (pg_postmaster_start_time() > '%s')::int", f.InjectedTime.UTC().Format(time.RFC3339Nano))
		if number(ctx, t, open(ctx, t, cfg, x, f.Pod), query) != 1 {
			t.Errorf("the server of %s is the one that it was before fault %s", f.Pod, fault)
		}
	}
}

func TestPostgresSingle(t *testing.T) {
	inFull(t)
	carryOutPatroni(t, loaded(t, "postgres-single"), nil, nil, func(t *testing.T, s v1alpha1.ReplicationExperimentStatus) {
		lostNothing(t, s)
		if s.Failover != nil || s.Replication != nil && s.Replication.Lag != nil {
			t.Errorf("one server has failover %+v, replication %+v", s.Failover, s.Replication)
		}
	})
}

func TestPostgresAsync(t *testing.T) {
	inFull(t)
	carryOutPatroni(t, loaded(t, "postgres-async"), standbysAre(nobody), nil, func(t *testing.T, s v1alpha1.ReplicationExperimentStatus) {
		promoted(t, s)
		if s.Replication == nil || s.Replication.Lag == nil || s.Replication.Lag.P50Microseconds == nil || s.Replication.DegradedCommits != nil {
			t.Errorf("replication is %+v", s.Replication)
		}
	})
}

// TestPatroniQuorum kills the primary, and in the full tier later the server of the next one alone: that is told as an outage, on the same
// timeline.
func TestPatroniQuorum(t *testing.T) {
	x := whole(t, "patroni-quorum")
	again := full
	if !again {
		x.Spec.Faults = x.Spec.Faults[:1]
		x.Spec.Faults[0].AtSeconds, x.Spec.Faults[0].HoldSeconds = 7, lockSeconds(x.Spec.Topology)
		x.Spec.Load.Stages[1].DurationSeconds = 42 // its goal's outage must fit
	}
	carryOutPatroni(t, x, standbysAre(anyOfTwo), func(ctx context.Context, t *testing.T, cfg *envconf.Config, x *v1alpha1.ReplicationExperiment) {
		if again {
			startedAfter("server")(ctx, t, cfg, x)
		}
		if line := number(ctx, t, open(ctx, t, cfg, x, x.Status.Failover.NewPrimary), timeline); line != 2 {
			t.Errorf("the timeline is %d after one failover, and perhaps a server that was started in place", line)
		}
	}, func(t *testing.T, s v1alpha1.ReplicationExperimentStatus) {
		crashed(t, s)
		if restartedInPlace(s) != again {
			t.Errorf("a server that was killed alone: %t; it took its place again: %+v", again, s.RestartsInPlace)
		}
	})
}

func TestPatroniSync(t *testing.T) {
	inFull(t)
	carryOutPatroni(t, loaded(t, "patroni-sync"), standbysAre(oneByName), startedAfter("server"), func(t *testing.T, s v1alpha1.ReplicationExperimentStatus) {
		crashed(t, s)
		if !restartedInPlace(s) {
			t.Errorf("a server that was killed alone is not told of: %+v", s)
		}
	})
}

// crashed is what patroni-quorum and patroni-sync must show.
func crashed(t *testing.T, s v1alpha1.ReplicationExperimentStatus) {
	t.Helper()
	promoted(t, s)
	lostNothing(t, s)
	if s.Failover.Fault != "crash" {
		t.Errorf("failover is %+v", s.Failover)
	}
	if r := s.Replication; r == nil || r.DegradedCommits == nil || *r.DegradedCommits != 0 || ptr.Deref(r.DegradedMilliseconds, -1) != 0 {
		t.Errorf("without a standby nothing is acknowledged: %+v", r)
	}
}

// TestPatroniBackAtOnce: a primary that is back before its lock is over takes its place again, on a timeline of its own: no failover.
func TestPatroniBackAtOnce(t *testing.T) {
	inFull(t)
	x := variant(t, "patroni-quorum", "patroni-at-once", 50, func(s *v1alpha1.ReplicationExperimentSpec) {
		s.Faults = []v1alpha1.Fault{{Name: "crash", AtSeconds: 10, Target: v1alpha1.TargetPrimary, Action: v1alpha1.ActionKill}}
	})
	carryOutPatroni(t, x, nil, startedAfter("crash"), func(t *testing.T, s v1alpha1.ReplicationExperimentStatus) {
		lostNothing(t, s)
		if s.Failover != nil || !restartedInPlace(s) || s.Faults[0].OutageMilliseconds == nil {
			t.Errorf("failover %+v, fault %+v, places taken again %+v", s.Failover, s.Faults[0], s.RestartsInPlace)
		}
	})
}

// TestPatroniDegraded loses its standbys, and goes on alone: that is seen and said.
func TestPatroniDegraded(t *testing.T) {
	inFull(t)
	carryOutPatroni(t, loaded(t, "patroni-degraded"), standbysAre(oneByName), degradedSince("replicas", "replicas"), func(t *testing.T, s v1alpha1.ReplicationExperimentStatus) {
		lostNothing(t, s)
		if r := s.Replication; s.Failover != nil || r == nil || ptr.Deref(r.DegradedCommits, 0) == 0 || ptr.Deref(r.DegradedMilliseconds, 0) == 0 {
			t.Errorf("failover %+v, replication %+v", s.Failover, r)
		}
	})
}
