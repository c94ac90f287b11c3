package k6operator

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/load"
)

func specOf(t *testing.T, parallelism int32, change func(*load.Params)) spec {
	t.Helper()
	all, _ := objects(t, parallelism, change)
	if len(all) != 1 {
		t.Fatalf("%d objects, want the TestRun alone", len(all))
	}
	var read struct {
		Spec spec `json:"spec"`
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(map[string]any{"spec": all[0].(*unstructured.Unstructured).Object["spec"]}, &read, true); err != nil {
		t.Fatal(err)
	}
	return read.Spec
}

// TestNobodyButReplabBeginsTheLoad: the k6s are paused, and what would begin them one after the other has no shell.
func TestNobodyButReplabBeginsTheLoad(t *testing.T) {
	s := specOf(t, 3, as)
	if s.Paused != "true" || s.Starter.Image != "replab:pinned" {
		t.Errorf("paused is %q, the starter has image %q", s.Paused, s.Starter.Image)
	}
	if s.Starter.Metadata != nil || s.Initializer.Metadata != nil {
		t.Error("pods that are none of the load's are labelled as such")
	}
	if s.Parallelism != 3 || s.Script.ConfigMap != (scriptConfigMap{Name: "a-files", File: "k6-main.js"}) {
		t.Errorf("%d k6s run %+v", s.Parallelism, s.Script)
	}
}

// TestEveryPodOfATestRunIsPinnedAndRestricted, those too that are of no use: an operator that knows no way to leave one out takes its own, newest image.
func TestEveryPodOfATestRunIsPinnedAndRestricted(t *testing.T) {
	s := specOf(t, 1, func(p *load.Params) {
		p.Pod.Spec.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "pull"}}
		p.Pod.Spec.NodeSelector = map[string]string{"for": "load"}
		p.Pod.Spec.Tolerations = []corev1.Toleration{{Key: "load"}}
		p.Pod.Spec.PriorityClassName = "high"
	})
	for name, of := range map[string]pod{"runner": s.Runner, "starter": s.Starter, "initializer": s.Initializer} {
		if of.Image != "k6:pinned" && of.Image != "replab:pinned" || of.ImagePullPolicy != corev1.PullIfNotPresent {
			t.Errorf("the %s has image %q, pulled %q", name, of.Image, of.ImagePullPolicy)
		}
		if of.SecurityContext == nil || !*of.SecurityContext.RunAsNonRoot || of.ContainerSecurityContext == nil || *of.ContainerSecurityContext.AllowPrivilegeEscalation {
			t.Errorf("the %s does not keep to the restricted standard: %+v, %+v", name, of.SecurityContext, of.ContainerSecurityContext)
		}
		if of.AutomountServiceAccountToken != "false" {
			t.Errorf("the %s has a token of the namespace's account", name)
		}
		if len(of.ImagePullSecrets) != 1 || of.NodeSelector["for"] != "load" || len(of.Tolerations) != 1 || of.PriorityClassName != "high" {
			t.Errorf("the %s is not where pods of the load are to be: %+v", name, of)
		}
		if of.Resources.Requests.Cpu().IsZero() || of.Resources.Limits.Memory().IsZero() {
			t.Errorf("the %s states no resources, as a quota may want: %+v", name, of.Resources)
		}
	}
	if !s.Initializer.Disabled || s.Runner.Disabled || s.Starter.Disabled {
		t.Error("the initializer alone is left out")
	}
}

// TestTheUsersScriptFindsItsFile, and the module is mounted once, by that operator.
func TestTheUsersScriptFindsItsFile(t *testing.T) {
	p, err := load.New(load.Input{
		Name: "a", Load: v1alpha1.LoadSpec{
			Parallelism: 1, Stages: []v1alpha1.Stage{{Name: "all", DurationSeconds: 60}},
			Script: &v1alpha1.ScriptSource{ConfigMapKeyRef: v1alpha1.ScriptKey{Name: "scripts", Key: "load.js"}, Env: []v1alpha1.ScriptVariable{{Name: "MODE", Value: "m"}}},
		},
		Dataset: v1alpha1.DatasetSpec{Users: 10, Seed: 1, Locale: "en"},
	})
	if err != nil {
		t.Fatal(err)
	}
	s := specOf(t, 1, func(into *load.Params) { *into = p })
	if s.Script.ConfigMap.File != load.WrapperFile {
		t.Errorf("k6 runs %s", s.Script.ConfigMap.File)
	}
	var volumes, mounts []string
	for _, v := range s.Runner.Volumes {
		volumes = append(volumes, v.Name)
	}
	for _, m := range s.Runner.VolumeMounts {
		mounts = append(mounts, m.Name+" "+m.MountPath)
	}
	if !slices.Equal(volumes, []string{"user", "tmp"}) || !slices.Equal(mounts, []string{"tmp /tmp", "user /scripts/user"}) {
		t.Errorf("volumes %q are mounted as %q", volumes, mounts)
	}
	if !slices.ContainsFunc(s.Runner.Env, func(v corev1.EnvVar) bool { return v.Name == "MODE" && v.Value == "m" }) {
		t.Errorf("its variables are %+v", s.Runner.Env)
	}
	if len(p.Pod.Spec.Volumes) != 3 || len(p.Pod.Spec.Containers[0].VolumeMounts) != 3 {
		t.Error("the pod that it was made from has changed")
	}
}

// TestNoProbeEndsAK6ThatIsSlowToAnswer before it is given up: that operator's own would after half a minute.
func TestNoProbeEndsAK6ThatIsSlowToAnswer(t *testing.T) {
	for _, seconds := range []int64{275, 4000} {
		s := specOf(t, 1, func(p *load.Params) { p.DeadlineSeconds = seconds })
		if l := s.Runner.LivenessProbe; l == nil || int64(l.InitialDelaySeconds) != seconds {
			t.Errorf("with a deadline of %d s the first look is %+v", seconds, l)
		}
		if r := s.Runner.ReadinessProbe; r == nil || r.InitialDelaySeconds != 0 || r.HTTPGet.Path != "/v1/status" || r.HTTPGet.Port.IntValue() != 6565 {
			t.Errorf("that operator finds a k6 by its Service when it is ready, by %+v", r)
		}
	}
}
