//go:build e2e

package e2e

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/e2e-framework/pkg/envconf"

	"replab.dev/api/v1alpha1"
	"replab.dev/test/experiment"
)

// variant is an experiment of the folder with some fields changed, short enough to run many of them.
func variant(t *testing.T, base, name string, seconds int64, change func(*v1alpha1.ReplicationExperimentSpec)) *v1alpha1.ReplicationExperiment {
	t.Helper()
	x := experiment.Load(t, base)
	x.Name = name
	x.Spec.Keep, x.Spec.Goals, x.Spec.Dataset.Users = v1alpha1.KeepAlways, nil, 2000
	x.Spec.Load.Stages = []v1alpha1.Stage{{Name: "open", DurationSeconds: seconds, RequestsPerSecond: 50}}
	change(&x.Spec)
	return x
}

// TestDeletedPodBehindServices deletes the primary's pod where Services select by role, and holds its successor down. Two k6 pods
// share the load.
func TestDeletedPodBehindServices(t *testing.T) {
	x := variant(t, "async", "services", 20, func(s *v1alpha1.ReplicationExperimentSpec) {
		s.Topology.Nodes, s.Routing.Proxy, s.Load.Parallelism = 2, v1alpha1.ProxyNone, 2
		s.Faults = []v1alpha1.Fault{{Name: "deleted", AtSeconds: 5, Target: v1alpha1.TargetPrimary, Action: v1alpha1.ActionDeletePod, HoldSeconds: 7}}
	})
	carryOutVariant(t, x, func(t *testing.T, s v1alpha1.ReplicationExperimentStatus) {
		failedOver(t, s)
		if dropped := *s.Load.DroppedIterations; s.Load.Requests < 20*50*9/10-dropped {
			t.Errorf("two k6 pods sent %d requests in 20 s and dropped %d, want about 50 in a second", s.Load.Requests, dropped)
		}
	})
}

// TestDeletedPod deletes the primary's pod as experiments/delete-pod.yaml does.
func TestDeletedPod(t *testing.T) {
	inFull(t)
	carryOut(t, "delete-pod", v1alpha1.VerdictPassed, func(t *testing.T, s v1alpha1.ReplicationExperimentStatus) {
		failedOver(t, s)
		lostNothing(t, s)
	})
}

// TestWithoutFailoverTheSamePrimaryReturns kills a primary that nobody replaces.
func TestWithoutFailoverTheSamePrimaryReturns(t *testing.T) {
	x := variant(t, "semisync", "no-failover", 20, func(s *v1alpha1.ReplicationExperimentSpec) {
		s.Topology.Failover = v1alpha1.FailoverNone
		s.Faults = []v1alpha1.Fault{{Name: "crash", AtSeconds: 5, Target: v1alpha1.TargetPrimary, Action: v1alpha1.ActionKill, HoldSeconds: 6}}
	})
	carryOutVariant(t, x, func(t *testing.T, s v1alpha1.ReplicationExperimentStatus) {
		lostNothing(t, s)
		if f := s.Faults[0]; s.Failover != nil || f.OutageMilliseconds == nil || *f.OutageMilliseconds < 6000 {
			t.Errorf("fault %+v, failover %+v; want the same primary back after at least the 6 s that it was held down", f, s.Failover)
		}
	})
}

// TestPausedPrimaryIsFenced stops a primary that comes back while another has taken over.
func TestPausedPrimaryIsFenced(t *testing.T) {
	x := variant(t, "semisync", "paused", 25, func(s *v1alpha1.ReplicationExperimentSpec) {
		s.Faults = []v1alpha1.Fault{{Name: "frozen", AtSeconds: 5, Target: v1alpha1.TargetPrimary, Action: v1alpha1.ActionPause, HoldSeconds: 10}}
	})
	carryOutVariant(t, x, func(t *testing.T, s v1alpha1.ReplicationExperimentStatus) {
		failedOver(t, s)
		lostNothing(t, s)
	})
}

// TestUsersOwnScript runs a script that brings its own options in two k6 pods, and keeps the data in memory. It is suspended first:
// it starts when that is taken away, and its spec is fixed from then on.
func TestUsersOwnScript(t *testing.T) {
	x := variant(t, "single", "own-script", 15, func(s *v1alpha1.ReplicationExperimentSpec) {
		s.Suspend = true
		s.Topology.Storage = v1alpha1.StorageSpec{Medium: v1alpha1.MediumMemory, Size: s.Topology.Storage.Size}
		s.Load.Stages = []v1alpha1.Stage{{Name: "own", DurationSeconds: 15}}
		s.Load.Script, s.Load.Parallelism = &v1alpha1.ScriptSource{ConfigMapKeyRef: v1alpha1.ScriptKey{Name: "own-script-source", Key: "load.js"}}, 2
	})
	run(t, x, v1alpha1.VerdictPassed, func(ctx context.Context, t *testing.T, cfg *envconf.Config) *v1alpha1.ReplicationExperiment {
		s := x.Spec.Load.Script
		check(t, cfg.Client().Resources().Create(ctx, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: s.ConfigMapKeyRef.Name, Namespace: namespace}, Data: map[string]string{s.ConfigMapKeyRef.Key: ownScript},
		}))
		x = create(ctx, t, cfg, x)
		await(ctx, t, cfg, x, terminalTimeout, "suspended", func() bool { return x.Status.Phase == "Suspended" })
		check(t, edit(ctx, cfg, x, func(s *v1alpha1.ReplicationExperimentSpec) { s.Suspend = false }))
		await(ctx, t, cfg, x, terminalTimeout, "started", func() bool { return x.Status.StartTime != nil })
		if err := edit(ctx, cfg, x, func(s *v1alpha1.ReplicationExperimentSpec) { s.Dataset.Users++ }); err == nil || !strings.Contains(err.Error(), "cannot be changed once the experiment has started") {
			t.Errorf("the spec of a started experiment was changed: %v", err)
		}
		return x
	}, func(t *testing.T, s v1alpha1.ReplicationExperimentStatus) {
		if s.Load.Requests != 200 {
			t.Errorf("the script sends 200 requests, the recorder saw %d", s.Load.Requests)
		}
		if notes := strings.Join(s.Notes, " "); !strings.Contains(notes, "200 requests named no stage") {
			t.Errorf("notes are %q, want that the script's requests named no stage", s.Notes)
		}
		lostNothing(t, s)
	})
}

const ownScript = `import http from 'k6/http';
export const options = { scenarios: { own: { executor: 'shared-iterations', vus: 4, iterations: 200, maxDuration: '60s' } } };
export default function () {
  http.post(__ENV.REPLAB_URL + '/user/register', JSON.stringify({ first_name: 'Own', second_name: 'Script', password: 'p' }),
    { headers: { 'Content-Type': 'application/json' } });
}
`

func carryOutVariant(t *testing.T, x *v1alpha1.ReplicationExperiment, assess func(*testing.T, v1alpha1.ReplicationExperimentStatus)) {
	run(t, x, v1alpha1.VerdictPassed, applied(x), assess)
}
