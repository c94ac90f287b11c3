package zalando

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/topology"
)

func TestObject(t *testing.T) {
	for name, p := range map[string]topology.Params{
		"on": params(),
		"off": params(func(p *topology.Params) {
			p.Spec.Nodes, p.Spec.Durability, p.Spec.Parameters = 2, v1alpha1.DurabilityRelaxed, map[string]string{"shared_buffers": "256MB"}
			p.Spec.Storage.ClassName = "fast"
			p.Spec.Patroni.SynchronousMode = "Off"
			p.Spec.Resources = corev1.ResourceRequirements{Limits: corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse("1.5"), corev1.ResourceMemory: resource.MustParse("768Mi"),
			}}
		}),
		"strict": params(func(p *topology.Params) {
			p.Spec.Patroni.Strict, p.Spec.Patroni.FailsafeMode, p.Spec.Patroni.SynchronousNodeCount = true, true, 2
		}),
	} {
		got, err := yaml.Marshal(Driver{}.Object(p).Object)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join("testdata", name+".yaml")
		if *update {
			if err := os.WriteFile(file, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", file, diff)
		}
	}
}

// TestThePlatformChoosesTheGroupOfVolumes where it chooses the users.
func TestThePlatformChoosesTheGroupOfVolumes(t *testing.T) {
	for _, platform := range []bool{false, true} {
		o := Driver{}.Object(params(func(p *topology.Params) { p.PlatformUser = platform }))
		group, there, err := unstructured.NestedInt64(o.Object, "spec", "spiloFSGroup")
		if err != nil || there == platform || there && group != 103 {
			t.Errorf("the platform chooses users: %v; the group is %d, there: %v, %v", platform, group, there, err)
		}
	}
}

// TestOneOfSeveralOperatorsIsMeant, where somebody says which: one without an id looks after what names none.
func TestOneOfSeveralOperatorsIsMeant(t *testing.T) {
	for id, want := range map[string]map[string]string{"": nil, "experiments": {"acid.zalan.do/controller": "experiments"}} {
		o := Driver{}.Object(params(func(p *topology.Params) { p.Foreign.ControllerID = id }))
		if diff := cmp.Diff(want, o.GetAnnotations()); diff != "" {
			t.Errorf("with id %q (-want +got):\n%s", id, diff)
		}
	}
}

// TestQuantitiesAreWrittenAsTheResourceTakesThem, and none is left to that operator's defaults.
func TestQuantitiesAreWrittenAsTheResourceTakesThem(t *testing.T) {
	q := func(cpu, memory string) corev1.ResourceList {
		l := corev1.ResourceList{}
		for name, text := range map[corev1.ResourceName]string{corev1.ResourceCPU: cpu, corev1.ResourceMemory: memory} {
			if text != "" {
				l[name] = resource.MustParse(text)
			}
		}
		return l
	}
	for name, c := range map[string]struct {
		r    corev1.ResourceRequirements
		want resources
	}{
		"nothing":       {corev1.ResourceRequirements{}, resources{quantities{"7m", "9"}, quantities{"1000000m", "1099511627776"}}},
		"requests":      {corev1.ResourceRequirements{Requests: q("2", "1G")}, resources{quantities{"2000m", "1000000000"}, quantities{"1000000m", "1099511627776"}}},
		"limits":        {corev1.ResourceRequirements{Limits: q("500m", "512Mi")}, resources{quantities{"500m", "536870912"}, quantities{"500m", "536870912"}}},
		"half of them":  {corev1.ResourceRequirements{Limits: q("", "512Mi")}, resources{quantities{"1m", "536870912"}, quantities{"1000000m", "536870912"}}},
		"both":          {corev1.ResourceRequirements{Requests: q("1", "1k"), Limits: q("2", "2k")}, resources{quantities{"1000m", "1000"}, quantities{"2000m", "2000"}}},
		"asked for 0":   {corev1.ResourceRequirements{Requests: q("0", "0")}, resources{quantities{"0m", "0Ki"}, quantities{"1000000m", "1099511627776"}}},
		"asked for one": {corev1.ResourceRequirements{Requests: q("1", "")}, resources{quantities{"1000m", "1048576"}, quantities{"1000000m", "1099511627776"}}},
	} {
		if got := limited(c.r, corev1.ResourceRequirements{Requests: q("7m", "9")}); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// TestServersHaveTheResourcesOfAllNodes of the operator's values, where the topology names none.
func TestServersHaveTheResourcesOfAllNodes(t *testing.T) {
	limit := func(memory string) corev1.ResourceRequirements {
		return corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(memory)}}
	}
	for own, want := range map[string]string{"": "2147483648", "1Gi": "1073741824"} {
		o := Driver{}.Object(params(func(p *topology.Params) {
			p.NodePods.Resources = ptr.To(limit("2Gi"))
			if own != "" {
				p.Spec.Resources = limit(own)
			}
		}))
		if got, _, err := unstructured.NestedString(o.Object, "spec", "resources", "limits", "memory"); err != nil || got != want {
			t.Errorf("with %q of its own a server may use %s, want %s: %v", own, got, want, err)
		}
	}
}
