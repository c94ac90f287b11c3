package plan

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/test/experiment"
)

// TestServersThatWouldBeKilledAreRefused, whoever makes their pods.
func TestServersThatWouldBeKilledAreRefused(t *testing.T) {
	for _, name := range []string{"patroni-quorum", "patroni-zalando"} {
		for _, c := range []struct {
			limit, buffers string
			short          bool
		}{{"128Mi", "512MB", true}, {"512Mi", "512MB", true}, {"1Gi", "512MB", false}, {"", "512MB", false}} {
			x := experiment.Load(t, name)
			x.Spec.Topology.Parameters = map[string]string{"shared_buffers": c.buffers}
			x.Spec.Topology.Resources = corev1.ResourceRequirements{}
			if c.limit != "" {
				x.Spec.Topology.Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(c.limit)}
			}
			in := input(x)
			p, err := Build(in)
			if err != nil {
				t.Fatal(err)
			}
			if got := MemoryShort(in, p); (got != "") != c.short || c.short && !strings.Contains(got, "shared_buffers") {
				t.Errorf("%s with %q of memory and buffers of %s: it says %q, short: %v", name, c.limit, c.buffers, got, c.short)
			}
		}
	}
}

// TestTheChartsMemoryOfNodesIsLookedAt, and an experiment's own goes before, whoever makes their pods.
func TestTheChartsMemoryOfNodesIsLookedAt(t *testing.T) {
	limited := func(memory string) corev1.ResourceRequirements {
		return corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(memory)}}
	}
	for _, name := range []string{"patroni-quorum", "patroni-zalando"} {
		for own, short := range map[string]bool{"": true, "1Gi": false} {
			x := experiment.Load(t, name)
			x.Spec.Topology.Parameters, x.Spec.Topology.Resources = map[string]string{"shared_buffers": "512MB"}, corev1.ResourceRequirements{}
			if own != "" {
				x.Spec.Topology.Resources = limited(own)
			}
			in := input(x)
			in.Pods = &v1alpha1.PodsSpec{Nodes: &v1alpha1.PodSettings{Resources: ptr.To(limited("512Mi"))}}
			p, err := Build(in)
			if err != nil {
				t.Fatal(err)
			}
			if got := MemoryShort(in, p); (got != "") != short {
				t.Errorf("%s with %q of its own: it says %q, short: %v", name, own, got, short)
			}
		}
	}
}
