//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/e2e-framework/klient/k8s/resources"
	"sigs.k8s.io/e2e-framework/pkg/envconf"
	"sigs.k8s.io/e2e-framework/pkg/features"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/kube"
	"replab.dev/internal/wire"
	"replab.dev/test/distance"
)

// TestSemiSyncAtADistance has the replicas 20 ms away. What the status claims is seen from outside: a write on the primary takes a
// round trip longer while the links stand than when they have ended.
func TestSemiSyncAtADistance(t *testing.T) {
	const name = "semisync-distance"
	var x *v1alpha1.ReplicationExperiment
	var during, after time.Duration
	t.Parallel()
	testenv.Test(t, ended(features.New("experiment "+name).
		Setup(func(ctx context.Context, t *testing.T, cfg *envconf.Config) context.Context {
			hold(ctx, t, wholeCluster) // until the last write was timed
			defer cluster.Release(wholeCluster)
			x = create(ctx, t, cfg, loaded(t, name))
			await(ctx, t, cfg, x, completeTimeout, "under load at a distance", func() bool { return x.Status.Verdict != "" || areLinked(x.Status.Distance) })
			if x.Status.Verdict == "" {
				during = fastestWrite(ctx, t, cfg, x, 1<<50)
			}
			await(ctx, t, cfg, x, completeTimeout, "complete", complete(x))
			after = fastestWrite(ctx, t, cfg, x, 1<<51)
			return ctx
		}).
		Assess("a write waits for a round trip, and the status says so", func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			s := x.Status
			if during < 20*time.Millisecond || during-after < 15*time.Millisecond {
				t.Errorf("the fastest write of some took %s under load and %s after the run, want a round trip of 20 ms between", during, after)
			}
			lostNothing(t, s)
			keptOrLate(t, x, distance.Want{Others: 1}) // with more users its servers are the limit, not the distance
			return ctx
		}), &x))
}

// TestAppAtADistance has the app and the proxy 20 ms away from the only node: each request takes a round trip longer, until the links
// have ended.
func TestAppAtADistance(t *testing.T) {
	var x *v1alpha1.ReplicationExperiment
	var after time.Duration
	t.Parallel()
	testenv.Test(t, ended(features.New("experiment app-far").
		Setup(func(ctx context.Context, t *testing.T, cfg *envconf.Config) context.Context {
			hold(ctx, t, wholeCluster) // until the last read was timed
			defer cluster.Release(wholeCluster)
			x = create(ctx, t, cfg, variant(t, "single", "app-far", 8, func(s *v1alpha1.ReplicationExperimentSpec) {
				s.Topology.Zones = []v1alpha1.Zone{{Name: "here", Nodes: []int32{0}}, {Name: "away", Nodes: []int32{}}} // where no node is
				s.Topology.Links = []v1alpha1.Link{{From: "here", To: "away", RoundTripMilliseconds: 20}}
				s.App.Zone = "away"
			}))
			await(ctx, t, cfg, x, completeTimeout, "complete", complete(x))
			after = fastestRead(ctx, t, cfg, x)
			return ctx
		}).
		Assess("a request waits for a round trip, and the status says so", func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			s := x.Status
			lostNothing(t, s)
			keptOrLate(t, x, distance.Want{})
			var to []string
			for _, r := range s.Distance.RoundTrips {
				of := strings.TrimPrefix(r.To, x.Name+"-")
				to = append(to, r.From+" "+of[:strings.Index(of+"-", "-")])
			}
			if slices.Sort(to); !slices.Equal(slices.Compact(to), []string{x.Name + "-db-0 proxy", x.Name + "-db-0 social"}) {
				t.Errorf("round trips were measured from and to %q, want the app's and the proxy's", to)
			}
			if s.Load == nil || s.Load.Latency == nil {
				t.Fatalf("load is %+v", s.Load)
			}
			if p50 := s.Load.Latency.P50Microseconds; p50 < 20_000 || after >= 20*time.Millisecond {
				t.Errorf("a request took %d µs at a distance of 20 ms, and the fastest read of some %s once the links had ended", p50, after)
			}
			return ctx
		}), &x))
}

// fastestRead is how long the fastest of some reads of a user takes, asked of the app itself.
func fastestRead(ctx context.Context, t *testing.T, cfg *envconf.Config, x *v1alpha1.ReplicationExperiment) time.Duration {
	t.Helper()
	var pods corev1.PodList
	check(t, cfg.Client().Resources(x.Namespace).List(ctx, &pods, resources.WithLabelSelector(
		kube.LabelExperiment+"="+x.Name+","+kube.LabelComponent+"="+kube.ComponentSocial)))
	if len(pods.Items) == 0 {
		t.Fatal("the app has no pod any more")
	}
	url := fmt.Sprintf("http://127.0.0.1:%d%s1", forward(t, cfg, x.Namespace, pods.Items[0].Name, wire.PortSocial), wire.SocialPathGet)
	var took []time.Duration
	for range 20 {
		began := time.Now()
		response, err := http.Get(url)
		check(t, err)
		_, err = io.Copy(io.Discard, response.Body)
		check(t, errors.Join(err, response.Body.Close()))
		if response.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s", url, response.Status)
		}
		took = append(took, time.Since(began))
	}
	return slices.Min(took)
}

// areLinked tells whether all links stand, after the stages without distance.
func areLinked(d *v1alpha1.DistanceStatus) bool {
	return d != nil && len(d.Nodes) > 0 && !slices.ContainsFunc(d.Nodes, func(n v1alpha1.LinkedNodeStatus) bool { return n.LinkedTime == nil })
}

// keptOrLate wants the distance as it was asked for, and the throughput as that allows.
func keptOrLate(t *testing.T, x *v1alpha1.ReplicationExperiment, want distance.Want) {
	t.Helper()
	for _, problem := range distance.Problems(x, want) {
		t.Error(problem)
	}
	if x.Status.Distance == nil || x.Status.Load == nil {
		t.FailNow()
	}
	for _, stage := range x.Status.Load.Stages {
		if d := stage.Distance; d != nil {
			t.Logf("stage %s: %d.%03d of the bound, %d µs without distance", stage.Name, d.OfBoundPermille/1000, d.OfBoundPermille%1000, d.BaseMicroseconds)
		}
	}
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
