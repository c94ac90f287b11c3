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

// TestVolumesThatTheLogFillsAreRefused, however long it is made.
func TestVolumesThatTheLogFillsAreRefused(t *testing.T) {
	for _, c := range []struct {
		name, size string
		parameters map[string]string
		says       string // "" where the volume holds it
	}{
		{"patroni-quorum", "2Gi", nil, ""},
		{"patroni-quorum", "512Mi", map[string]string{"max_wal_size": "8GB"}, "8321 MiB with their max_wal_size"},
		{"patroni-quorum", "2Gi", map[string]string{"wal_keep_size": "2GB"}, "their wal_keep_size"},
		{"patroni-zalando", "2Gi", map[string]string{"max_wal_size": "2GB"}, "their max_wal_size"},
		{"patroni-quorum", "512Mi", map[string]string{"max_wal_size": "256MB"}, ""},
		{"semisync", "512Mi", nil, ""},
		{"semisync", "512Mi", map[string]string{"innodb_redo_log_capacity": "8G"}, "their innodb_redo_log_capacity"},
	} {
		x := experiment.Load(t, c.name)
		x.Spec.Dataset.Users = 1000
		x.Spec.Topology.Storage.Size, x.Spec.Topology.Parameters = resource.MustParse(c.size), c.parameters
		if got := VolumeShort(input(x)); (got == "") != (c.says == "") || !strings.Contains(got, c.says) {
			t.Errorf("%s with %s and %v: it says %q, want %q", c.name, c.size, c.parameters, got, c.says)
		}
	}
	x := experiment.Load(t, "semisync")
	x.Spec.Topology.Storage.Size, x.Spec.Dataset.Users = resource.MustParse("1Gi"), 1_000_000
	if got := VolumeShort(input(x)); !strings.Contains(got, "lower") {
		t.Errorf("a data set of 1.5 GB in 1 GiB: it says %q", got)
	}
}
