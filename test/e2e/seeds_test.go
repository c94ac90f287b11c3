//go:build e2e

package e2e

import (
	"context"
	"os"
	"slices"
	"testing"

	"sigs.k8s.io/e2e-framework/pkg/envconf"
	"sigs.k8s.io/e2e-framework/pkg/features"

	"replab.dev/api/v1alpha1"
	"replab.dev/test/distance"
	"replab.dev/test/experiment"
)

// shortStages leaves the steps that fit, each a few seconds long.
func shortStages(s *v1alpha1.ReplicationExperimentSpec, seconds int64, fits func(v1alpha1.Stage) bool) {
	s.App.Replicas = 1
	s.Load.Stages = slices.DeleteFunc(s.Load.Stages, func(s v1alpha1.Stage) bool { return !fits(s) })
	for i := range s.Load.Stages {
		shorten(s.Load.Stages, i, seconds)
	}
}

// openLoop has the users of a short suite make no more requests than leave half of the machine to others: a rate in place of their loop.
func openLoop(s *v1alpha1.ReplicationExperimentSpec) {
	for i := range s.Load.Stages {
		if stage := &s.Load.Stages[i]; stage.ClosedUsers() > 0 {
			stage.Users, stage.SpawnPerSecond, stage.RequestsPerSecond = nil, 0, 80
		}
	}
}

// TestSeed000 has the document's idle and loaded tables, and its killed primary.
func TestSeed000(t *testing.T) {
	const loaded = 8
	s := shortSuite(t, "seeds/000", func(s *v1alpha1.ReplicationExperimentSpec) {
		shortStages(s, loaded, func(v1alpha1.Stage) bool { return true })
		openLoop(s)
		if s.Routing.Proxy == v1alpha1.ProxyProxySQL {
			s.Routing.Proxy, s.Routing.Image = v1alpha1.ProxyHAProxy, ""
			if image := os.Getenv("REPLAB_PROXYSQL_IMAGE"); image != "" {
				s.Routing.Proxy, s.Routing.Image = v1alpha1.ProxyProxySQL, v1alpha1.ImageName(image)
			}
		}
		for i := range s.Faults {
			s.Faults[i].AtSeconds, s.Faults[i].HoldSeconds = 2*loaded+1, 4
		}
	}, "register", "async-search", "semisync-killed")
	runSuite(t, s, func(t *testing.T, s *v1alpha1.ReplicationSuite) {
		idle, ok := median(s, "register", "stageCPUMillicores", "idle", "db-0")
		busy, both := median(s, "register", "stageCPUMillicores", "loaded", "db-0")
		if !ok || !both || busy < 2*idle {
			t.Errorf("the server used %v thousandths of a processor at rest (%t), and %v under load (%t)", idle, ok, busy, both)
		}
		if reads, ok := median(s, "async-search", "stageCPUMillicores", "loaded", "db-1"); !ok || reads < busy/10 {
			t.Errorf("the replica used %v (%t) thousandths while it served all reads", reads, ok)
		}
	})
}

// TestSeed001 has its tables, with two steps each.
func TestSeed001(t *testing.T) {
	inFull(t)
	s := shortSuite(t, "seeds/001", func(s *v1alpha1.ReplicationExperimentSpec) { shortStages(s, 6, eightOr32) })
	runSuite(t, s, func(t *testing.T, s *v1alpha1.ReplicationSuite) {
		for _, variant := range []string{"plain", "eu1", "eu1-us1", "eu2-us1"} {
			if atLeast(s, variant, "requestsPerSecond", "users-8") == 0 {
				t.Errorf("%s made no commits", variant)
			}
		}
		if atLeast(s, "eu2-us1-conflicts", "certificationFailures", "") == 0 {
			t.Error("writes to the same rows on all members had no certification failures")
		}
	})
}

func eightOr32(s v1alpha1.Stage) bool {
	return s.Discard || s.ClosedUsers() == 8 || s.ClosedUsers() == 32
}

// TestSeed002: with logReplicaUpdates the second node sends back much of what it received, without it far less.
func TestSeed002(t *testing.T) {
	inFull(t)
	s := shortSuite(t, "seeds/002", func(s *v1alpha1.ReplicationExperimentSpec) {
		shortStages(s, 6, func(v1alpha1.Stage) bool { return true })
		openLoop(s)
	})
	runSuite(t, s, func(t *testing.T, s *v1alpha1.ReplicationSuite) {
		back := func(variant string) float64 {
			received, ok := median(s, variant, "replicationSentBytesPerSecond", "", "db-0 to db-1")
			sent, both := median(s, variant, "replicationSentBytesPerSecond", "", "db-1 to db-0")
			if !ok || !both || received == 0 {
				t.Fatalf("%s: %v bytes/s received (%t), %v sent back (%t)", variant, received, ok, sent, both)
			}
			return sent / received
		}
		for with, without := range map[string]string{"sent-back": "kept", "async-sent-back": "async-kept"} {
			if a, b := back(with), back(without); a < 0.3 || b > a/4 { // few writes share an acknowledgment at this rate
				t.Errorf("%s sends back %.3f of what it received, %s %.3f", with, a, without, b)
			}
		}
	})
}

// TestSeed003 has the probe write rows of all sizes on all engines.
func TestSeed003(t *testing.T) {
	inFull(t)
	s := shortSuite(t, "seeds/003", func(s *v1alpha1.ReplicationExperimentSpec) {
		shortStages(s, 12, func(v1alpha1.Stage) bool { return true })
	})
	runSuite(t, s, func(t *testing.T, s *v1alpha1.ReplicationSuite) {
		for _, size := range []string{"1000", "10000"} {
			whole, ok := median(s, "mysql", "lagSizeTotalP50Microseconds", "", size)
			insert, both := median(s, "mysql", "lagSizeInsertP50Microseconds", "", size)
			if !ok || !both || insert <= 0 || whole <= insert {
				t.Errorf("rows of %s bytes: %v µs in all (%t), %v of these for the insert (%t)", size, whole, ok, insert, both)
			}
		}
		for _, v := range s.Status.Variants {
			if _, ok := median(s, v.Name, "lagSizeBareP50Microseconds", "", "10000"); !ok {
				t.Errorf("%s has no bare time", v.Name)
			}
		}
	})
}

// TestSeed004 has the document's conclusions, with two of its steps.
func TestSeed004(t *testing.T) {
	inFull(t)
	s := shortSuite(t, "seeds/004", func(s *v1alpha1.ReplicationExperimentSpec) { seed004(s) })
	runSuite(t, s, func(t *testing.T, s *v1alpha1.ReplicationSuite) {
		for _, v := range s.Status.Variants {
			if atLeast(s, v.Name, "requestsPerSecond", "users-10") == 0 {
				t.Errorf("%s answered no requests", v.Name)
			}
		}
	})
}

func seed004(s *v1alpha1.ReplicationExperimentSpec) {
	s.Dataset.Users = 2000
	s.Load.Stages = slices.DeleteFunc(s.Load.Stages, func(s v1alpha1.Stage) bool { return s.ClosedUsers() > 10 })
	for i := range s.Load.Stages {
		if stage := &s.Load.Stages[i]; stage.Name != "promotion" {
			stage.DurationSeconds = 12
		}
	}
	for i := range s.Faults {
		s.Faults[i].HoldSeconds = lockSeconds(s.Topology)
	}
}

// TestSeed004Promote switches the primary off and puts it back: the document counts its rows then, and they are the others'.
func TestSeed004Promote(t *testing.T) {
	inFull(t)
	x := kept(t, "seeds/004", "promote")
	seed004(&x.Spec)
	carryOutPatroni(t, x, standbysAre(anyOfTwo), nil, func(t *testing.T, s v1alpha1.ReplicationExperimentStatus) {
		promoted(t, s)
		lostNothing(t, s)
	})
}

// kept is a trial of a suite, whose objects are kept for looking at.
func kept(t *testing.T, name, variant string) *v1alpha1.ReplicationExperiment {
	t.Helper()
	x := trial(t, experiment.LoadSuite(t, name), variant)
	x.Spec.Keep, x.Spec.Dataset.Users = v1alpha1.KeepAlways, min(x.Spec.Dataset.Users, 2000)
	return x
}

// TestSeed001AcrossTheOcean: each commit takes a round trip, and more users make more of them in it.
func TestSeed001AcrossTheOcean(t *testing.T) {
	inFull(t)
	x := kept(t, "seeds/001", "eu1-us1")
	shortStages(&x.Spec, 6, eightOr32)
	t.Parallel()
	testenv.Test(t, features.New("experiment seed-001-eu1-us1, short").
		Setup(func(ctx context.Context, t *testing.T, cfg *envconf.Config) context.Context {
			x = withRoom(ctx, t, cfg, room(x), applied(x))
			await(ctx, t, cfg, x, completeTimeout, "complete", complete(x))
			return ctx
		}).
		Assess("a commit takes a round trip, which concurrency hides", func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			s := x.Status
			lostNothing(t, s)
			keptOrLate(t, x, distance.Want{Others: 1, LeastOfBoundPermille: 600}) // two busy processors, not the distance, hold 32 users back
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
