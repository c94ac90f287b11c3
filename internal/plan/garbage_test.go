package plan

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/kube"
	"replab.dev/test/experiment"
)

// variable of a pod's container by its name, "" if it is not set.
func variable(t *testing.T, pod *corev1.PodTemplateSpec, container, name string) string {
	t.Helper()
	for _, c := range pod.Spec.Containers {
		if c.Name != container {
			continue
		}
		for _, v := range c.Env {
			if v.Name == name {
				return v.Value
			}
		}
		return ""
	}
	t.Fatalf("no container %s", container)
	return ""
}

func TestGoProcessesKnowTheirMemory(t *testing.T) {
	in := input(experiment.Load(t, "semisync"))
	in.Experiment.Spec.Pods = &v1alpha1.PodsSpec{Instruments: &v1alpha1.PodSettings{Resources: &corev1.ResourceRequirements{
		Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1000")},
	}}}
	pods := everyPod(t, in)
	for _, c := range []struct{ component, container, gc, memory string }{
		{kube.ComponentSocial, "social", "400", "241591860"}, // 90% of 256Mi
		{kube.ComponentNode, "agent", "400", "120795930"},
		{kube.ComponentManager, "director", "400", "120795930"},
		{kube.ComponentRecorder, "recorder", "400", "900"}, // by the experiment's own limit
		{kube.ComponentLoad, "k6", "400", "900"},
		{kube.ComponentNode, "server", "", ""},
		{kube.ComponentProxy, "haproxy", "", ""},
	} {
		gc, memory := variable(t, pods[c.component], c.container, "GOGC"), variable(t, pods[c.component], c.container, "GOMEMLIMIT")
		if gc != c.gc || memory != c.memory {
			t.Errorf("%s: GOGC %q, GOMEMLIMIT %q, want %q and %q", c.container, gc, memory, c.gc, c.memory)
		}
	}
}

func TestWithoutAMemoryLimitGoKeepsItsDefaults(t *testing.T) {
	in := input(experiment.Load(t, "semisync"))
	in.Experiment.Spec.Pods = &v1alpha1.PodsSpec{All: &v1alpha1.PodSettings{Resources: &corev1.ResourceRequirements{}}}
	if pod := everyPod(t, in)[kube.ComponentRecorder]; variable(t, pod, "recorder", "GOGC") != "" || variable(t, pod, "recorder", "GOMEMLIMIT") != "" {
		t.Errorf("environment %v", pod.Spec.Containers[0].Env)
	}
}

func TestTheExperimentsOwnVariablesStay(t *testing.T) {
	in := input(experiment.Load(t, "semisync"))
	in.Experiment.Spec.Load.Script = &v1alpha1.ScriptSource{Env: []v1alpha1.ScriptVariable{{Name: "GOGC", Value: "50"}}}
	pod := everyPod(t, in)[kube.ComponentLoad]
	if got := variable(t, pod, "k6", "GOGC"); got != "50" || variable(t, pod, "k6", "GOMEMLIMIT") == "" {
		t.Errorf("GOGC %q in %v", got, pod.Spec.Containers[0].Env)
	}
}
