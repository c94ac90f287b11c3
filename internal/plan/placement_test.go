package plan

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"replab.dev/internal/kube"
	"replab.dev/test/experiment"
)

// TestTheHalvesAndTheDatabaseNodesAvoidEachOther, and nothing else does: no pod insists, and none minds another experiment.
func TestTheHalvesAndTheDatabaseNodesAvoidEachOther(t *testing.T) {
	p := build(t, experiment.Load(t, "semisync"))
	pods := []*corev1.PodTemplateSpec{template(p.Load[0])}
	for _, o := range p.Deploy {
		if pod := template(o); pod != nil {
			pods = append(pods, pod)
		}
	}
	component := func(pod *corev1.PodTemplateSpec) string { return pod.Labels[kube.LabelComponent] }
	measures := func(pod *corev1.PodTemplateSpec) bool { return slices.Contains(instruments, component(pod)) }
	for _, pod := range pods {
		for _, other := range pods {
			want := measures(pod) != measures(other) ||
				component(pod) == kube.ComponentNode && component(other) == kube.ComponentNode
			if got := avoids(t, pod, other.Labels); got != want {
				t.Errorf("%s avoids %s: %t, want %t", component(pod), component(other), got, want)
			}
			elsewhere := kube.With(other.Labels, kube.LabelExperiment, "another")
			if avoids(t, pod, elsewhere) {
				t.Errorf("%s avoids %s of another experiment", component(pod), component(other))
			}
		}
	}
	if len(pods) != 6 {
		t.Errorf("%d kinds of pods, want database nodes, director, proxy, app, recorder and load", len(pods))
	}
}

// avoids tells whether a pod prefers a machine without pods that have these labels.
func avoids(t *testing.T, pod *corev1.PodTemplateSpec, other labels.Set) bool {
	t.Helper()
	a := pod.Spec.Affinity
	if a == nil || a.PodAffinity != nil || a.NodeAffinity != nil || len(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution) > 0 {
		t.Fatalf("affinity %+v, want preferences alone", a)
	}
	for _, term := range a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution {
		selector, err := metav1.LabelSelectorAsSelector(term.PodAffinityTerm.LabelSelector)
		if err != nil || term.PodAffinityTerm.TopologyKey != corev1.LabelHostname {
			t.Fatalf("term %+v: %v", term, err)
		}
		if selector.Matches(other) {
			return true
		}
	}
	return false
}
