//go:build e2e

package e2e

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/e2e-framework/pkg/envconf"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/figure"
	"replab.dev/internal/results"
	"replab.dev/internal/wire"
	"replab.dev/test/experiment"
)

// whole is an experiment that is not made shorter: its moments are what it is about.
func whole(t *testing.T, name string) *v1alpha1.ReplicationExperiment {
	t.Helper()
	x := experiment.Load(t, name)
	x.Spec.Keep = v1alpha1.KeepAlways
	return x
}

// lockSeconds is for how long a node must be held until others have taken over for certain, since a leader's lock outlives it.
func lockSeconds(t v1alpha1.TopologySpec) int64 {
	ttl, loop := int64(30), int64(10) // Patroni's own
	if t.Patroni != nil {
		ttl, loop = t.Patroni.TTLSeconds, t.Patroni.LoopWaitSeconds
	}
	return ttl + loop + 5
}

// degradedSince tells that the recorder saw commits wait for no standby, and that the longest such time began once a fault had hit, and before what
// another one held was back.
func degradedSince(hit, held string) asked {
	return func(ctx context.Context, t *testing.T, cfg *envconf.Config, x *v1alpha1.ReplicationExperiment) {
		t.Helper()
		var m corev1.ConfigMap
		check(t, cfg.Client().Resources().Get(ctx, x.Status.Results, x.Namespace, &m))
		r, err := results.Read(&m)
		check(t, err)
		if r.Recorder == nil || r.Recorder.Commits == nil {
			t.Fatalf("the results in ConfigMap %s have no commits", m.Name)
		}
		var spans []wire.DegradedSpan
		for _, n := range r.Recorder.Commits.Nodes {
			spans = append(spans, n.DegradedSpans...)
		}
		// The longest first. Each change of Patroni's settings makes a short one: between two samples it is not seen what was waited for.
		slices.SortFunc(spans, func(a, b wire.DegradedSpan) int { return cmp.Compare(length(b), length(a)) })
		var from, until time.Time // by the clocks of the nodes' agents
		for _, f := range x.Status.Faults {
			if f.Fault == hit && f.InjectedTime != nil && (from.IsZero() || f.InjectedTime.Time.Before(from)) {
				from = f.InjectedTime.Time
			}
			if f.Fault == held && f.ReleasedTime != nil && f.ReleasedTime.After(until) {
				until = f.ReleasedTime.Time
			}
		}
		const about = 2 * time.Second // a span is drawn a sample wider, and clocks differ
		switch {
		case from.IsZero() || until.IsZero():
			t.Errorf("faults %s and %s have no times: %+v", hit, held, x.Status.Faults)
		case len(spans) == 0 || spans[0].From.Time.Before(from.Add(-about)) || spans[0].From.After(until):
			t.Errorf("commits waited for no standby in %v, want the longest to begin between %s and %s", spans, from, until)
		}
	}
}

func length(s wire.DegradedSpan) time.Duration { return s.To.Sub(s.From.Time) }

// TestPatroniAsyncLoss is the positive control. In the short tier the faults hold as long as a lock needs to be over, and no longer.
func TestPatroniAsyncLoss(t *testing.T) {
	x := whole(t, "patroni-async-loss")
	if !full {
		cut, crash := &x.Spec.Faults[0], &x.Spec.Faults[1]
		cut.AtSeconds, crash.AtSeconds = 6, 9
		crash.HoldSeconds = lockSeconds(x.Spec.Topology)
		cut.HoldSeconds = crash.AtSeconds + crash.HoldSeconds + 2 - cut.AtSeconds
		x.Spec.Load.Stages[1].DurationSeconds = 40
	}
	carryOutPatroni(t, x, standbysAre(nobody), nil, func(t *testing.T, s v1alpha1.ReplicationExperimentStatus) {
		promoted(t, s)
		if s.Writes == nil || ptr.Deref(s.Writes.Lost, 0) == 0 {
			t.Fatalf("the positive control lost nothing: %+v", s.Writes)
		}
		if ptr.Deref(s.GhostWrites, 0) < *s.Writes.Lost {
			t.Errorf("%d writes were lost, and the old primary held %v that nobody else has", *s.Writes.Lost, s.GhostWrites)
		}
		const why = "No commit waited for a standby (topology.patroni.synchronousMode Off)"
		if !slices.ContainsFunc(s.Notes, func(r string) bool { return strings.HasPrefix(r, why) }) {
			t.Errorf("nothing is said of why writes were lost: %q", s.Notes)
		}
	})
}

// TestPatroniRestartWindow crashes a primary again while it acknowledges alone: what it acknowledged is gone, or nobody takes the writes for long.
func TestPatroniRestartWindow(t *testing.T) {
	inFull(t)
	carryOutPatroni(t, whole(t, "findings/patroni-restart-window"), standbysAre(anyOfTwo), nil, func(t *testing.T, s v1alpha1.ReplicationExperimentStatus) {
		lost, outage := ptr.Deref(s.Writes.Lost, 0), ptr.Deref(s.OutageMilliseconds, 0)
		if lost == 0 && outage < 30_000 {
			t.Errorf("nothing was lost, and nobody took writes for %d ms alone", outage)
		}
		if alone := ptr.Deref(figure.Read(&s, "writes.lostWhileDegraded").AtMost, 0); (alone > 0) != (lost > 0) {
			t.Errorf("%d were lost, and up to %d of them while the primary may have waited for no standby: %q", lost, alone, s.Notes)
		}
	})
}

// TestPatroniStrictRestartWindow says nothing of what is acknowledged alone: the second crash leaves a primary that TestPatroniStrictAlone is about.
func TestPatroniStrictRestartWindow(t *testing.T) {
	inFull(t)
	carryOutPatroni(t, whole(t, "findings/patroni-strict-restart-window"), standbysAre(anyOfTwo), nil, func(t *testing.T, s v1alpha1.ReplicationExperimentStatus) {
		lostNothing(t, s)
	})
}

// TestPatroniStrictAlone crashes a primary whose Patroni names no standby any more: back in its place, it waits for none, strict or not.
func TestPatroniStrictAlone(t *testing.T) {
	inFull(t)
	carryOutPatroni(t, whole(t, "findings/patroni-strict-alone"), standbysAre(anyOfTwo), degradedSince("primary", "one"), func(t *testing.T, s v1alpha1.ReplicationExperimentStatus) {
		if s.Failover != nil || s.Writes == nil || ptr.Deref(s.Writes.Lost, 0) != 0 {
			t.Errorf("failover %+v, writes %+v", s.Failover, s.Writes)
		}
		if r := s.Replication; r == nil || ptr.Deref(r.DegradedCommits, 0) == 0 || ptr.Deref(r.DegradedMilliseconds, 0) == 0 {
			t.Errorf("replication is %+v", r)
		}
	})
}

// TestPatroniCancelledWait has clients give up while commits wait: none of it is an acknowledged write.
func TestPatroniCancelledWait(t *testing.T) {
	inFull(t)
	carryOutPatroni(t, whole(t, "findings/patroni-cancelled-wait"), nil, nil, func(t *testing.T, s v1alpha1.ReplicationExperimentStatus) {
		promoted(t, s)
		lostNothing(t, s)
	})
}

// TestPatroniBothDie kills the primary and a standby at once. Which one the writes waited for nobody chose, so nothing is said of who takes over.
func TestPatroniBothDie(t *testing.T) {
	inFull(t)
	carryOutPatroni(t, loaded(t, "findings/patroni-both-die"), standbysAre(oneByName), nil, func(t *testing.T, s v1alpha1.ReplicationExperimentStatus) {
		if len(s.Faults) != 2 || s.Writes.Lost == nil {
			t.Errorf("faults %+v, writes %+v", s.Faults, s.Writes)
		}
	})
}

func TestPatroniStore(t *testing.T) {
	inFull(t)
	carryOutPatroni(t, loaded(t, "findings/patroni-store"), standbysAre(anyOfTwo), nil, func(t *testing.T, s v1alpha1.ReplicationExperimentStatus) {
		lostNothing(t, s)
		if s.Failover == nil || s.Failover.OldPrimary != s.Faults[0].Pod {
			t.Errorf("failover is %+v", s.Failover)
		}
	})
}

func TestPatroniStoreFailsafe(t *testing.T) {
	inFull(t)
	carryOutPatroni(t, loaded(t, "findings/patroni-store-failsafe"), standbysAre(anyOfTwo), nil, func(t *testing.T, s v1alpha1.ReplicationExperimentStatus) {
		lostNothing(t, s)
		if s.Failover != nil {
			t.Errorf("failover is %+v", s.Failover)
		}
	})
}
