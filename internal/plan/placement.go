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

// avoided are the components that a component's pods share no machine with, since they would compete for its processors.
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

// MemoryShort is the reason why the memory limit of the servers is too small, "" if it is not. Validation finds it first, unless the operator's
// settings limit it.
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

// serverMemory are the memory limits of the plan's servers. They are unknown where another operator makes the nodes.
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
