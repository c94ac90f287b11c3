package zalando

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/topology"
)

// TestNodesRunWhereTheyAreAskedTo: a selector of machines holds with whatever else is asked of them.
func TestNodesRunWhereTheyAreAskedTo(t *testing.T) {
	in := func(key, value string) corev1.NodeSelectorRequirement {
		return corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: []string{value}}
	}
	required := func(terms ...corev1.NodeSelectorTerm) *corev1.NodeAffinity {
		return &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: terms}}
	}
	term := func(all ...corev1.NodeSelectorRequirement) corev1.NodeSelectorTerm {
		return corev1.NodeSelectorTerm{MatchExpressions: all}
	}
	for name, c := range map[string]struct {
		asked v1alpha1.PodSettings
		want  *corev1.NodeAffinity
	}{
		"anywhere":      {v1alpha1.PodSettings{}, nil},
		"by their pods": {v1alpha1.PodSettings{Affinity: &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{}}}, nil},
		"by labels":     {v1alpha1.PodSettings{NodeSelector: map[string]string{"zone": "a", "disk": "nvme"}}, required(term(in("disk", "nvme"), in("zone", "a")))},
		"by affinity":   {v1alpha1.PodSettings{Affinity: &corev1.Affinity{NodeAffinity: required(term(in("zone", "a")))}}, required(term(in("zone", "a")))},
		"by both": {
			v1alpha1.PodSettings{
				NodeSelector: map[string]string{"disk": "nvme"},
				Affinity:     &corev1.Affinity{NodeAffinity: required(term(in("zone", "a")), term(in("zone", "b")))},
			},
			required(term(in("zone", "a"), in("disk", "nvme")), term(in("zone", "b"), in("disk", "nvme"))),
		},
	} {
		if diff := cmp.Diff(c.want, machines(c.asked)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestSettingsOfPodsStandInTheResource as that operator calls them.
func TestSettingsOfPodsStandInTheResource(t *testing.T) {
	p := params(func(p *topology.Params) {
		p.NodePods = v1alpha1.PodSettings{
			NodeSelector: map[string]string{"disk": "nvme"}, Annotations: map[string]string{"note": "x"}, PriorityClassName: "high",
			Tolerations: []corev1.Toleration{{Key: "dedicated", Operator: corev1.TolerationOpExists}},
		}
	})
	got := Driver{}.Object(p).Object
	want := map[string]any{
		"podPriorityClassName": "high",
		"podAnnotations":       map[string]any{"note": "x"},
		"tolerations":          []any{map[string]any{"key": "dedicated", "operator": "Exists"}},
		"nodeAffinity": map[string]any{"requiredDuringSchedulingIgnoredDuringExecution": map[string]any{"nodeSelectorTerms": []any{
			map[string]any{"matchExpressions": []any{map[string]any{"key": "disk", "operator": "In", "values": []any{"nvme"}}}},
		}}},
	}
	for field, value := range want {
		found, _, err := unstructured.NestedFieldNoCopy(got, "spec", field)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(value, found); diff != "" {
			t.Errorf("%s (-want +got):\n%s", field, diff)
		}
		if _, there, _ := unstructured.NestedFieldNoCopy(Driver{}.Object(params()).Object, "spec", field); there {
			t.Errorf("%s is there where nobody asks for it", field)
		}
	}
}
