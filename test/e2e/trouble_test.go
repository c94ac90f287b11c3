//go:build e2e

package e2e

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/e2e-framework/klient/k8s"
	"sigs.k8s.io/e2e-framework/pkg/envconf"
	"sigs.k8s.io/e2e-framework/pkg/features"

	"replab.dev/api/v1alpha1"
	"replab.dev/test/experiment"
)

// TestRunsWithoutFigures carries out, side by side, what needs no quiet cluster. Most of these runs wait until the operator gives them up.
func TestRunsWithoutFigures(t *testing.T) {
	t.Parallel()
	runOutOfSpace(t)
	cannotGoOn(t)
	deletedInTheMiddle(t)
}

// cannotGoOn checks that each run says so within two minutes, with the reason and what to look at, and cleans up.
func cannotGoOn(t *testing.T) {
	for _, c := range []struct {
		name      string
		with      k8s.Object // what has to exist beside it
		change    func(*v1alpha1.ReplicationExperimentSpec)
		condition string
		reason    string
		text      string
	}{
		{
			"no-image", nil, func(s *v1alpha1.ReplicationExperimentSpec) { s.Topology.Image = "replab.invalid/none:1" },
			v1alpha1.ConditionDeployed, v1alpha1.ReasonImageCannotBePulled, "replab.invalid/none:1",
		},
		{"no-room", nil, func(s *v1alpha1.ReplicationExperimentSpec) {
			s.Topology.Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("5000")}
		}, v1alpha1.ConditionDeployed, v1alpha1.ReasonPodUnschedulable, "no-room-db-0"},
		{
			"no-volume", nil, func(s *v1alpha1.ReplicationExperimentSpec) { s.Topology.Storage.ClassName = "none-of-this-name" },
			v1alpha1.ConditionDeployed, v1alpha1.ReasonVolumeNotBound, "none-of-this-name",
		},
		{
			"crash-loop", nil, func(s *v1alpha1.ReplicationExperimentSpec) {
				s.Topology.Parameters = map[string]string{"no-such-setting": "1"}
			},
			v1alpha1.ConditionDeployed, v1alpha1.ReasonCrashLoop, "no-such-setting",
		},
		{
			"no-provisioner", silentClass("at-once", storagev1.VolumeBindingImmediate),
			func(s *v1alpha1.ReplicationExperimentSpec) { s.Topology.Storage.ClassName = namespace + "-at-once" },
			v1alpha1.ConditionDeployed, v1alpha1.ReasonVolumeNotBound, silentProvisioner,
		},
		{
			"late-binding", silentClass("late", storagev1.VolumeBindingWaitForFirstConsumer),
			func(s *v1alpha1.ReplicationExperimentSpec) { s.Topology.Storage.ClassName = namespace + "-late" },
			v1alpha1.ConditionDeployed, v1alpha1.ReasonVolumeNotBound, silentProvisioner,
		},
		{"bad-script", &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: "bad-script-source", Namespace: namespace}, Data: map[string]string{"load.js": "export default function ( {"},
		}, func(s *v1alpha1.ReplicationExperimentSpec) {
			s.Load.Stages = []v1alpha1.Stage{{Name: "own", DurationSeconds: 15}}
			s.Load.Script = &v1alpha1.ScriptSource{ConfigMapKeyRef: v1alpha1.ScriptKey{Name: "bad-script-source", Key: "load.js"}}
		}, v1alpha1.ConditionLoadStarted, v1alpha1.ReasonLoadFailed, "load.js: Line 1:28 Unexpected end of input"},
	} {
		sideBySide(t, features.New(c.name).
			Assess("ends with the reason and leaves nothing", func(ctx context.Context, t *testing.T, cfg *envconf.Config) context.Context {
				if c.with != nil {
					check(t, cfg.Client().Resources().Create(ctx, c.with))
					defer func() { check(t, cfg.Client().Resources().Delete(ctx, c.with)) }()
				}
				x := experiment.Load(t, "single")
				x.Name, x.Spec.Keep = c.name, v1alpha1.KeepNever
				c.change(&x.Spec)
				x = create(ctx, t, cfg, x)
				ends(ctx, t, cfg, x, c.condition, c.reason, c.text)
				return ctx
			}).Feature())
	}
}

// sideBySide runs a feature that has no figures beside the others of its test.
func sideBySide(t *testing.T, feature features.Feature) {
	t.Run(feature.Name(), func(t *testing.T) {
		t.Parallel()
		testenv.Test(t, feature)
	})
}

// deletedInTheMiddle deletes experiments as soon as they have passed a step, each in the midst of the next one.
func deletedInTheMiddle(t *testing.T) {
	steps := []string{v1alpha1.ConditionAccepted, v1alpha1.ConditionLoadStarted}
	if full {
		steps = append(steps, v1alpha1.ConditionDeployed, v1alpha1.ConditionLoadFinished, v1alpha1.ConditionSettled)
	}
	for _, passed := range steps {
		sideBySide(t, features.New("deletion after "+passed).
			Assess("removes everything", func(ctx context.Context, t *testing.T, cfg *envconf.Config) context.Context {
				x := create(ctx, t, cfg, variant(t, "semisync", "deleted-"+strings.ToLower(passed), 8, func(s *v1alpha1.ReplicationExperimentSpec) {
					s.Topology.Nodes = 2
					s.Faults[0].AtSeconds, s.Faults[0].HoldSeconds = 4, 2
				}))
				await(ctx, t, cfg, x, terminalTimeout, "beyond "+passed, func() bool {
					return condition(x, passed).Status == metav1.ConditionTrue
				})
				remove(ctx, t, cfg, x)
				return ctx
			}).Feature())
	}
}
