//go:build e2e

package e2e

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/e2e-framework/pkg/envconf"
	"sigs.k8s.io/e2e-framework/pkg/features"

	"replab.dev/api/v1alpha1"
	"replab.dev/test/experiment"
)

// TestRunsThatCannotGoOn checks that each says so within two minutes, with the reason and what to look at, and cleans up.
func TestRunsThatCannotGoOn(t *testing.T) {
	for _, c := range []struct {
		name      string
		change    func(*v1alpha1.ReplicationExperimentSpec)
		condition string
		reason    string
		text      string
	}{
		{
			"no-image", func(s *v1alpha1.ReplicationExperimentSpec) { s.Topology.Image = "replab.invalid/none:1" },
			v1alpha1.ConditionDeployed, v1alpha1.ReasonImageCannotBePulled, "replab.invalid/none:1",
		},
		{"no-room", func(s *v1alpha1.ReplicationExperimentSpec) {
			s.Topology.Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("5000")}
		}, v1alpha1.ConditionDeployed, v1alpha1.ReasonPodUnschedulable, "no-room-db-0"},
		{
			"no-volume", func(s *v1alpha1.ReplicationExperimentSpec) { s.Topology.Storage.ClassName = "none-of-this-name" },
			v1alpha1.ConditionDeployed, v1alpha1.ReasonVolumeNotBound, "none-of-this-name",
		},
		{
			"crash-loop", func(s *v1alpha1.ReplicationExperimentSpec) {
				s.Topology.Parameters = map[string]string{"no-such-setting": "1"}
			},
			v1alpha1.ConditionDeployed, v1alpha1.ReasonCrashLoop, "no-such-setting",
		},
		{"bad-script", func(s *v1alpha1.ReplicationExperimentSpec) {
			s.Load.Script = &v1alpha1.ScriptSource{ConfigMap: "bad-script-source", File: "load.js"}
		}, v1alpha1.ConditionLoadStarted, v1alpha1.ReasonLoadFailed, "load.js: Line 1:28 Unexpected end of input"},
	} {
		feature := features.New(c.name).
			Assess("ends with the reason and leaves nothing", func(ctx context.Context, t *testing.T, cfg *envconf.Config) context.Context {
				script := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "bad-script-source", Namespace: namespace}, Data: map[string]string{"load.js": "export default function ( {"}}
				if c.name == "bad-script" {
					check(t, cfg.Client().Resources().Create(ctx, script))
				}
				x := experiment.Load(t, "single")
				x.Name, x.Spec.Keep = c.name, v1alpha1.KeepNever
				c.change(&x.Spec)
				x = create(ctx, t, cfg, x)
				await(ctx, t, cfg, x, terminalTimeout, "over", func() bool { return x.Status.Verdict != "" })
				found := condition(x, c.condition)
				if x.Status.Verdict != v1alpha1.VerdictInconclusive || found.Reason != c.reason || !strings.Contains(found.Message, c.text) {
					t.Errorf("verdict %s; condition %s is %s: %s", x.Status.Verdict, c.condition, found.Reason, found.Message)
				}
				if x.Status.Load != nil || x.Status.Writes != nil {
					t.Errorf("figures are shown that nobody measured: %+v", x.Status)
				}
				await(ctx, t, cfg, x, removeTimeout, "complete", complete(x))
				if left := remaining(ctx, t, cfg, x.Name); len(left) > 0 {
					t.Errorf("complete, but there still are %v", left)
				}
				remove(ctx, t, cfg, x)
				return ctx
			}).Feature()
		testenv.Test(t, feature)
	}
}

// TestDeletionInTheMiddle deletes experiments as soon as they have passed a step, each in the midst of the next one.
func TestDeletionInTheMiddle(t *testing.T) {
	for _, passed := range []string{
		v1alpha1.ConditionAccepted, v1alpha1.ConditionDeployed, v1alpha1.ConditionSeeded, v1alpha1.ConditionLoadStarted,
		v1alpha1.ConditionFaultsInjected, v1alpha1.ConditionLoadFinished, v1alpha1.ConditionSettled,
	} {
		testenv.Test(t, features.New("deletion after "+passed).
			Assess("removes everything", func(ctx context.Context, t *testing.T, cfg *envconf.Config) context.Context {
				x := create(ctx, t, cfg, variant(t, "semisync", "deleted", 12, func(s *v1alpha1.ReplicationExperimentSpec) {
					s.Topology.Replicas = 1
					s.Faults[0].AtSeconds, s.Faults[0].HoldSeconds = 5, 3
				}))
				await(ctx, t, cfg, x, terminalTimeout, "beyond "+passed, func() bool {
					return condition(x, passed).Status == metav1.ConditionTrue
				})
				remove(ctx, t, cfg, x)
				return ctx
			}).Feature())
	}
}
