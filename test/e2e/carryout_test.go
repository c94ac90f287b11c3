//go:build e2e

package e2e

import (
	"context"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/e2e-framework/pkg/envconf"
	"sigs.k8s.io/e2e-framework/pkg/features"

	"replab.dev/api/v1alpha1"
)

func carryOut(t *testing.T, name string, want v1alpha1.Verdict, assess func(*testing.T, v1alpha1.ReplicationExperimentStatus)) {
	x := loaded(t, name)
	run(t, x, want, applied(x), assess)
}

// starter creates an experiment and does what must happen before its load ends.
type starter func(context.Context, *testing.T, *envconf.Config) *v1alpha1.ReplicationExperiment

// applied starts an experiment as people apply it.
func applied(x *v1alpha1.ReplicationExperiment) starter {
	return func(ctx context.Context, t *testing.T, cfg *envconf.Config) *v1alpha1.ReplicationExperiment {
		return create(ctx, t, cfg, x)
	}
}

// run is one run in a test that goes on beside others of its kind.
func run(t *testing.T, x *v1alpha1.ReplicationExperiment, want v1alpha1.Verdict,
	start starter, assess func(*testing.T, v1alpha1.ReplicationExperimentStatus),
) {
	t.Parallel()
	runOnce(t, x, room(x), want, start, nil, assess)
}

// asked is what a test asks the nodes of a run itself.
type asked func(context.Context, *testing.T, *envconf.Config, *v1alpha1.ReplicationExperiment)

// runOnce carries an experiment out and checks what holds for every run, what assess wants of this one, and the databases. It calls ask, if
// there is one, once the run is complete.
func runOnce(t *testing.T, x *v1alpha1.ReplicationExperiment, need int64, want v1alpha1.Verdict, start starter,
	ask asked, assess func(*testing.T, v1alpha1.ReplicationExperimentStatus),
) {
	feature := features.New("experiment "+x.Name).
		Setup(func(ctx context.Context, t *testing.T, cfg *envconf.Config) context.Context {
			x = withRoom(ctx, t, cfg, need, start)
			await(ctx, t, cfg, x, completeTimeout, "complete", complete(x))
			if ask != nil {
				ask(ctx, t, cfg, x)
			}
			return ctx
		}).
		Assess("the verdict is "+string(want), func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			s := x.Status
			if s.Verdict != want || condition(x, v1alpha1.ConditionComplete).Reason != string(want) {
				t.Errorf("verdict %s: %q", s.Verdict, s.Reasons)
			}
			for _, f := range s.Faults {
				if f.Confirmed != metav1.ConditionTrue {
					t.Errorf("fault %s is not confirmed: %s", f.Name, f.Evidence)
				}
			}
			if s.Writes == nil || s.Writes.Balanced != metav1.ConditionTrue || s.Writes.Acknowledged == 0 {
				t.Errorf("writes are %+v", s.Writes)
			}
			if s.Load == nil || s.Load.Latency == nil || s.Load.Requests == 0 {
				t.Errorf("load is %+v", s.Load)
			}
			return ctx
		}).
		Assess("the status tells what must be found", func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			assess(t, x.Status)
			return ctx
		})
	testenv.Test(t, ended(feature, &x))
}

// ended is a feature that ends with a comparison of the databases with the status of an experiment, and the experiment's removal.
func ended(b *features.FeatureBuilder, x **v1alpha1.ReplicationExperiment) features.Feature {
	return b.Assess("the databases hold what the status claims", func(ctx context.Context, t *testing.T, cfg *envconf.Config) context.Context {
		compare(ctx, t, cfg, *x)
		return ctx
	}).Teardown(func(ctx context.Context, t *testing.T, cfg *envconf.Config) context.Context {
		remove(ctx, t, cfg, *x)
		return ctx
	}).Feature()
}

// compare asks every node itself. The nodes have come to rest, and an old primary was rebuilt: all hold the same, unless the status has divergent rows.
func compare(ctx context.Context, t *testing.T, cfg *envconf.Config, x *v1alpha1.ReplicationExperiment) {
	t.Helper()
	s := x.Status
	if len(s.Nodes) != int(x.Spec.Topology.Nodes) {
		t.Fatalf("the status has %d nodes", len(s.Nodes))
	}
	if s.Writes == nil || s.Writes.Present == nil {
		t.Fatalf("the writes were not compared: %+v", s.Writes)
	}
	var digests []int64
	for _, n := range s.Nodes {
		db := open(ctx, t, cfg, x, n.Name)
		rows := number(ctx, t, db, "SELECT COUNT(*) FROM users")
		if want := x.Spec.Dataset.Users + *s.Writes.Present; rows != want {
			t.Errorf("%s has %d rows; %d were seeded and %d writes are said to be present", n.Name, rows, x.Spec.Dataset.Users, *s.Writes.Present)
		}
		if present := number(ctx, t, db, "SELECT COUNT(DISTINCT write_id) FROM users"); present != *s.Writes.Present {
			t.Errorf("%s has %d writes, the status says %d", n.Name, present, *s.Writes.Present)
		}
		if n.Role == v1alpha1.NodePrimary && (n.Rows == nil || *n.Rows != rows) {
			t.Errorf("%s has %d rows, the status says %v", n.Name, rows, n.Rows)
		}
		digests = append(digests, number(ctx, t, db, sqlOf(x.Spec.Topology).content))
	}
	for i, d := range digests {
		if diverge := i > 0 && ptr.Deref(s.Writes.DivergentRows, 0) > 0; diverge != (d != digests[0]) {
			t.Errorf("%s and %s do not hold the same: %t, the status says %t", s.Nodes[0].Name, s.Nodes[i].Name, d != digests[0], diverge)
		}
	}
	if s.Writes.Present == nil || s.Writes.Recovered == nil {
		t.Fatalf("the writes were not counted: %+v", s.Writes)
	}
	// Losses are absent where none were found and there was perhaps nothing to lose.
	if s.Writes.Acknowledged-ptr.Deref(s.Writes.Lost, 0)+*s.Writes.Recovered != *s.Writes.Present {
		t.Errorf("the identity does not close: %+v", s.Writes)
	}
}
