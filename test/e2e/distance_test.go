//go:build e2e

package e2e

import (
	"context"
	"slices"
	"testing"
	"time"

	"sigs.k8s.io/e2e-framework/pkg/envconf"

	"replab.dev/api/v1alpha1"
)

// TestSemiSyncAtADistance has the replicas 20 ms away. What the status claims is seen from outside: a write on the primary takes a
// round trip longer while the links stand than when they have ended.
func TestSemiSyncAtADistance(t *testing.T) {
	const name = "semisync-distance"
	var during, after time.Duration
	run(t, name, v1alpha1.VerdictPassed, func(ctx context.Context, t *testing.T, cfg *envconf.Config) *v1alpha1.ReplicationExperiment {
		x := apply(ctx, t, cfg, name)
		await(ctx, t, cfg, x, completeTimeout, "under load", func() bool { return x.Status.Verdict != "" || x.Status.LoadStartTime != nil })
		if x.Status.Verdict == "" {
			during = fastestWrite(ctx, t, cfg, x, 1<<50)
		}
		await(ctx, t, cfg, x, completeTimeout, "complete", complete(x))
		after = fastestWrite(ctx, t, cfg, x, 1<<51)
		return x
	}, func(t *testing.T, s v1alpha1.ReplicationExperimentStatus) {
		if during < 20*time.Millisecond || during-after < 15*time.Millisecond {
			t.Errorf("the fastest write of some took %s under load and %s after the run, want a round trip of 20 ms between", during, after)
		}
		lostNothing(t, s)
		for _, r := range s.Distance.RoundTrips {
			t.Logf("%s to %s: %+v, then %+v", r.From, r.To, r.Before, r.After)
		}
		if len(s.Distance.RoundTrips) != 2 || s.Distance.RemovedTime == nil {
			t.Errorf("distance is %+v, want two round trips, and its end", s.Distance)
		}
		for _, stage := range s.Load.Stages {
			d := stage.Distance
			if stage.Name == "warmup" {
				continue
			}
			if d == nil || d.OfBoundPermille < 500 || d.OfBoundPermille > 1050 {
				t.Errorf("stage %s against the distance: %+v", stage.Name, d)
				continue
			}
			t.Logf("stage %s: %d.%03d of the bound, %d µs without distance", stage.Name, d.OfBoundPermille/1000, d.OfBoundPermille%1000, d.BaseMicroseconds)
		}
	})
}

// fastestWrite is how long the fastest of some writes on the first node takes, beside what a question takes that waits for nobody.
func fastestWrite(ctx context.Context, t *testing.T, cfg *envconf.Config, x *v1alpha1.ReplicationExperiment, id int64) time.Duration {
	t.Helper()
	db := open(ctx, t, cfg, x, x.Name+"-db-0")
	var writes, questions []time.Duration
	for i := range int64(10) {
		began := time.Now()
		number(ctx, t, db, "SELECT 1")
		questions = append(questions, time.Since(began))
		began = time.Now()
		if _, err := db.ExecContext(ctx, "INSERT INTO probe_writes (id, payload) VALUES (?, 'e2e')", id+i); err != nil {
			t.Fatalf("write on the primary: %v", err)
		}
		writes = append(writes, time.Since(began))
	}
	return slices.Min(writes) - slices.Min(questions)
}
