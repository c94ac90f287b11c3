package plan

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/kube"
	"replab.dev/internal/topology/registry"
)

// Weights of what is asked of the scheduler, of at most 100.
const (
	weightOfOwnMachines = 100
	weightOfHalves      = 50
)

// avoided are the components that a pod of each component wants no machine with: database nodes one another, and the system
// under test and the instruments that work during the load each other, since they would take each other's processors.
var avoided = map[string][]avoidance{
	kube.ComponentNode:     {{weightOfOwnMachines, []string{kube.ComponentNode}}, {weightOfHalves, instruments}},
	kube.ComponentManager:  {{weightOfHalves, instruments}},
	kube.ComponentProxy:    {{weightOfHalves, instruments}},
	kube.ComponentSocial:   {{weightOfHalves, instruments}},
	kube.ComponentRecorder: {{weightOfHalves, system}},
	kube.ComponentLoad:     {{weightOfHalves, system}},
}

var (
	instruments = []string{kube.ComponentLoad, kube.ComponentRecorder}
	system      = []string{kube.ComponentManager, kube.ComponentNode, kube.ComponentProxy, kube.ComponentSocial}
)

type avoidance struct {
	weight     int32
	components []string
}

// place asks the scheduler to keep pods apart, where the cluster has machines enough: an experiment runs on one too.
func place(pod *corev1.PodTemplateSpec) {
	var terms []corev1.WeightedPodAffinityTerm
	for _, a := range avoided[pod.Labels[kube.LabelComponent]] {
		terms = append(terms, corev1.WeightedPodAffinityTerm{Weight: a.weight, PodAffinityTerm: corev1.PodAffinityTerm{
			TopologyKey: corev1.LabelHostname,
			LabelSelector: &metav1.LabelSelector{
				MatchLabels:      map[string]string{kube.LabelExperiment: pod.Labels[kube.LabelExperiment]},
				MatchExpressions: []metav1.LabelSelectorRequirement{{Key: kube.LabelComponent, Operator: metav1.LabelSelectorOpIn, Values: a.components}},
			},
		}})
	}
	if terms != nil {
		pod.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: terms}}
	}
}

// template of the pods that an object makes, nil for an object that makes none.
func template(o kube.Object) *corev1.PodTemplateSpec {
	switch o := o.(type) {
	case *appsv1.StatefulSet:
		return &o.Spec.Template
	case *appsv1.Deployment:
		return &o.Spec.Template
	case *batchv1.Job:
		return &o.Spec.Template
	}
	return nil
}

// MemoryShort says why the memory that the servers of a plan may use is less than they need, "" where it is not. The rules of the spec find that
// before, unless the limit is one of the operator's own settings of pods.
func MemoryShort(in Input, p Plan) string {
	spec := in.Experiment.Spec.Topology
	needs := Params(in).Server.Memory(spec.Parameters)
	for _, limit := range serverMemory(in, p) {
		if !limit.IsZero() && limit.Value() < needs.Bytes {
			return fmt.Sprintf("spec.topology.resources: the operator limits nodes to %s of memory, and a server needs %d MiB with its %[3]s. Set a higher limit, or lower %[3]s.",
				limit, needs.Bytes>>20, needs.Setting)
		}
	}
	return ""
}

// serverMemory is the most memory that servers of the plan may use; none, or 0, where nothing limits it. Where another operator makes the nodes, no
// object of the plan has their template.
func serverMemory(in Input, p Plan) []*resource.Quantity {
	if registry.Foreign(in.Experiment.Spec.Topology) != nil {
		asked := Params(in).NodeResources()
		return []*resource.Quantity{asked.Limits.Memory()}
	}
	var all []*resource.Quantity
	for _, o := range p.Deploy {
		if set, ok := o.(*appsv1.StatefulSet); ok && set.Labels[kube.LabelComponent] == kube.ComponentNode {
			all = append(all, set.Spec.Template.Spec.Containers[0].Resources.Limits.Memory())
		}
	}
	return all
}
