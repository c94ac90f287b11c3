package experiment

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/engine"
	"replab.dev/internal/engine/mysql"
	"replab.dev/internal/wire"
	"replab.dev/test/experiment"
)

// servers are the real ones: they are pure.
var servers = engine.Lookup[engine.Server]{string(v1alpha1.EngineMySQL): mysql.Server{}}

// config of the operator of the moment: from a write on it is an upgraded one.
func (w *world) config() wire.OperatorConfig {
	c := wire.OperatorConfig{ClusterDomain: "cluster.local", Images: wire.Images{
		Replab: "replab:1", K6: "k6:1", Servers: map[string]string{"MySQL": "mysql:1"}, Proxies: map[string]string{"HAProxy": "haproxy:1"},
	}}
	if w.upgrade != nil && w.writes >= w.upgradeAt {
		w.upgrade(&c)
	}
	return c
}

// outcome is what must be the same whenever the operator is stopped.
type outcome struct {
	Verdict      v1alpha1.Verdict
	Reason       string
	Reasons      string
	Faults       []string
	Kills, Loads int
	Conditions   []string
	Ghosts, Lost int64
}

// carryOut plays an experiment in a world of its own to its end. It returns also how often the operator wrote.
func carryOut(t *testing.T, text string, change ...func(*world)) (outcome, int) {
	t.Helper()
	x := experiment.Parse(t, []byte(text))
	w := newWorld(t, x)
	for _, c := range change {
		c(w)
	}
	found := play(t, w, w, x)
	return outcomeOf(found, w), w.writes
}

// ports are what an operator has of a world.
type ports interface {
	Cluster
	Processes
}

// play has operators carry an experiment out to its end.
func play(t *testing.T, w *world, p ports, x *v1alpha1.ReplicationExperiment) *v1alpha1.ReplicationExperiment {
	t.Helper()
	return playOn(t, storeOf(t, w, p, x), w, p, client.ObjectKeyFromObject(x), func() {})
}

// playOn plays from where a world and its store are, and calls before ahead of each reconcile.
func playOn(t *testing.T, store *store, w *world, p ports, key client.ObjectKey, before func()) *v1alpha1.ReplicationExperiment {
	t.Helper()
	for range 3000 {
		before()
		after, stopped := once(t, store, w, p, key)
		if stopped {
			w.now = w.now.Add(w.away) // until another operator is there
			continue
		}
		found := &v1alpha1.ReplicationExperiment{}
		if err := store.Get(t.Context(), key, found); err != nil {
			t.Fatal(err)
		}
		if isTrue(found.Status.Conditions, v1alpha1.ConditionComplete) {
			return found
		}
		w.now = w.now.Add(max(after, time.Millisecond))
	}
	t.Fatalf("the run does not end; its last writes were %v", w.log[max(0, len(w.log)-5):])
	return nil
}

// once is one reconcile by an operator that knows nothing of before.
func once(t *testing.T, store *store, w *world, p ports, key client.ObjectKey) (after time.Duration, stopped bool) {
	defer func() {
		if r := recover(); r != nil {
			var c crash
			if err, ok := r.(crash); ok {
				c, stopped = err, true
				t.Logf("stopped after: %s", c.write)
				return
			}
			panic(r)
		}
	}()
	r := &Reconciler{
		Client: store, Cluster: p, Processes: p, Events: &events.FakeRecorder{}, Now: func() time.Time { return w.now },
		Config: w.config(), Identity: "this operator", Servers: servers,
	}
	result, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: key})
	if errors.Is(err, errChaos) {
		return 50 * time.Millisecond, false
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Fatalf("reconcile: %v", err)
	}
	return result.RequeueAfter, false
}

// late is what is said of a fault of an operator that was stopped.
var late = regexp.MustCompile(`^Fault \S+ on pod \S+ came \d+ ms late\.$`)

func outcomeOf(x *v1alpha1.ReplicationExperiment, w *world) outcome {
	o := outcome{Verdict: x.Status.Verdict, Kills: w.kills, Loads: len(w.begun)}
	if len(x.Status.Reasons) > 0 {
		said := slices.DeleteFunc(slices.Concat(x.Status.Reasons, x.Status.Notes), late.MatchString)
		o.Reason, o.Reasons = x.Status.Reasons[0], strings.Join(said, "\n")
	}
	if x.Status.GhostWrites != nil {
		o.Ghosts = *x.Status.GhostWrites
	}
	if x.Status.Writes != nil && x.Status.Writes.Lost != nil {
		o.Lost = *x.Status.Writes.Lost
	}
	for _, f := range x.Status.Faults {
		o.Faults = append(o.Faults, fmt.Sprintf("%s %s %s %s", f.Name, f.Pod, f.PodUID, f.Confirmed))
		if c := f.Clock; c != nil {
			o.Faults[len(o.Faults)-1] += fmt.Sprintf(", clock ahead by %d to %d µs", c.LeastAheadMicroseconds, c.MostAheadMicroseconds)
		}
	}
	for _, c := range x.Status.Conditions {
		o.Conditions = append(o.Conditions, fmt.Sprintf("%s=%s", c.Type, c.Status))
	}
	return o
}
