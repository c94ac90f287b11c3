//go:build e2e

package e2e

import (
	"context"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/e2e-framework/pkg/envconf"
	"sigs.k8s.io/e2e-framework/pkg/features"

	"replab.dev/api/v1alpha1"
	"replab.dev/test/distance"
	"replab.dev/test/experiment"
)

// shortSeed is an experiment of a seed document, with two of its steps that are seconds long.
func shortSeed(t *testing.T, name string, seconds int64) *v1alpha1.ReplicationExperiment {
	t.Helper()
	x := experiment.Load(t, "seeds/"+name)
	x.Spec.Keep, x.Spec.Dataset.Users, x.Spec.App.Replicas = v1alpha1.KeepAlways, 2000, 1
	x.Spec.Load.Stages = slices.DeleteFunc(x.Spec.Load.Stages, func(s v1alpha1.Stage) bool { return !s.Discard && s.ClosedUsers() != 8 && s.ClosedUsers() != 32 })
	for i := range x.Spec.Load.Stages {
		shorten(x.Spec.Load.Stages, i, seconds)
	}
	return x
}

func TestSeed001Plain(t *testing.T) {
	carryOutVariant(t, shortSeed(t, "001-plain", 5), func(t *testing.T, s v1alpha1.ReplicationExperimentStatus) {
		lostNothing(t, s)
		for _, stage := range s.Load.Stages {
			if stage.ClosedLoopHolds != metav1.ConditionTrue || stage.Requests == 0 {
				t.Errorf("stage %s: %+v", stage.Name, stage)
			}
		}
	})
}

// shortSeed004 has two of its steps, seconds long, and fewer users in the tables.
func shortSeed004(t *testing.T, name string) *v1alpha1.ReplicationExperiment {
	t.Helper()
	x := experiment.Load(t, "seeds/"+name)
	x.Spec.Keep, x.Spec.Dataset.Users = v1alpha1.KeepAlways, 2000
	x.Spec.Load.Stages = slices.DeleteFunc(x.Spec.Load.Stages, func(s v1alpha1.Stage) bool { return s.ClosedUsers() > 10 })
	for i := range x.Spec.Load.Stages {
		if s := &x.Spec.Load.Stages[i]; s.Name != "promotion" {
			s.DurationSeconds = 12
		}
	}
	for i := range x.Spec.Faults {
		x.Spec.Faults[i].HoldSeconds = lockSeconds(x.Spec.Topology)
	}
	return x
}

// asInSeed004 is what its runs without a fault must show.
func asInSeed004(t *testing.T, s v1alpha1.ReplicationExperimentStatus) {
	t.Helper()
	lostNothing(t, s)
	for _, stage := range s.Load.Stages {
		if stage.Requests == 0 || stage.Failures != 0 {
			t.Errorf("stage %s: %+v", stage.Name, stage)
		}
	}
}

func TestSeed004Single(t *testing.T) {
	inFull(t)
	carryOutPatroni(t, shortSeed004(t, "004-single"), nil, nil, asInSeed004)
}

func TestSeed004Async(t *testing.T) {
	inFull(t)
	carryOutPatroni(t, shortSeed004(t, "004-async"), standbysAre(nobody), nil, asInSeed004)
}

func TestSeed004Quorum(t *testing.T) {
	inFull(t)
	carryOutPatroni(t, shortSeed004(t, "004-quorum"), standbysAre(anyOfTwo), nil, asInSeed004)
}

// TestSeed004Promote switches the primary off and puts it back: the document counts its rows then, and they are the others'.
func TestSeed004Promote(t *testing.T) {
	inFull(t)
	carryOutPatroni(t, shortSeed004(t, "004-promote"), standbysAre(anyOfTwo), nil, func(t *testing.T, s v1alpha1.ReplicationExperimentStatus) {
		promoted(t, s)
		lostNothing(t, s)
	})
}

// TestSeed001AcrossTheOcean: each commit takes a round trip, and more users make more of them in it.
func TestSeed001AcrossTheOcean(t *testing.T) {
	x := shortSeed(t, "001-1eu-1us", 6)
	t.Parallel()
	testenv.Test(t, features.New("experiment seed-001-1eu-1us, short").
		Setup(func(ctx context.Context, t *testing.T, cfg *envconf.Config) context.Context {
			x = withRoom(ctx, t, cfg, room(x), applied(x))
			await(ctx, t, cfg, x, completeTimeout, "complete", complete(x))
			return ctx
		}).
		Assess("a commit takes a round trip, which concurrency hides", func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			s := x.Status
			lostNothing(t, s)
			keptOrLate(t, x, distance.Want{Others: 1, LeastOfBoundPermille: 850})
			var rates []int64
			for _, stage := range s.Load.Stages {
				i := slices.IndexFunc(x.Spec.Load.Stages, func(asked v1alpha1.Stage) bool { return asked.Name == stage.Name })
				asked := x.Spec.Load.Stages[i]
				if asked.Discard {
					continue
				}
				if stage.Latency == nil || stage.RequestsPerSecondMilli == nil {
					t.Fatalf("stage %s has no figures: %+v", stage.Name, stage)
				}
				most := asked.ClosedUsers() * 1_000_000 / 87
				t.Logf("%d users: %d in 1000 s, a round trip allows %d", asked.ClosedUsers(), *stage.RequestsPerSecondMilli, most)
				if stage.Latency.P50Microseconds < 87_000 || *stage.RequestsPerSecondMilli > most+most/20 {
					t.Errorf("stage %s is quicker than its distance: %+v", stage.Name, stage)
				}
				rates = append(rates, *stage.RequestsPerSecondMilli)
			}
			if len(rates) != 2 || s.Verdict == v1alpha1.VerdictPassed && rates[1]*10 < rates[0]*22 {
				t.Errorf("8 and 32 users make %v commits in 1000 s: four times as many users should make more than twice as many", rates)
			}
			return ctx
		}).
		Assess("the databases hold what the status claims", func(ctx context.Context, t *testing.T, cfg *envconf.Config) context.Context {
			compare(ctx, t, cfg, x)
			return ctx
		}).
		Teardown(func(ctx context.Context, t *testing.T, cfg *envconf.Config) context.Context {
			remove(ctx, t, cfg, x)
			return ctx
		}).Feature())
}
