package plan

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/kube"
	"replab.dev/internal/topology/node"
	"replab.dev/internal/topology/registry"
)

// finish adds placement, and the operator's and the experiment's settings of pods. Later settings precede.
func (b *builder) finish(objects ...kube.Object) error {
	for _, o := range objects {
		if pod := template(o); pod != nil {
			if err := b.finishPod(pod); err != nil {
				return fmt.Errorf("pods of %s: %w", o.GetName(), err)
			}
		}
	}
	return nil
}

func (b *builder) finishPod(pod *corev1.PodTemplateSpec) error {
	place(pod)
	if b.platformUser {
		leaveUserToPlatform(pod.Spec.SecurityContext)
	}
	for _, layer := range []*v1alpha1.PodsSpec{b.podDefaults, b.spec.Pods} {
		for _, s := range settingsFor(pod, layer) {
			if err := apply(b.withoutResources(s, pod), pod); err != nil {
				return err
			}
		}
	}
	b.collectSeldom(pod)
	return followUser(pod)
}

// withoutResources keeps settings of pods off the resources that the topology names for its nodes: the experiment's word is the last.
func (b *builder) withoutResources(s *v1alpha1.PodSettings, pod *corev1.PodTemplateSpec) *v1alpha1.PodSettings {
	asked := b.spec.Topology.Resources
	if pod.Labels[kube.LabelComponent] != kube.ComponentNode || asked.Requests == nil && asked.Limits == nil {
		return s
	}
	s = s.DeepCopy()
	s.Resources = nil
	return s
}

// leaveUserToPlatform names no user: the platform gives each namespace its own, and refuses others.
func leaveUserToPlatform(s *corev1.PodSecurityContext) {
	s.RunAsUser, s.RunAsGroup, s.FSGroup = nil, nil, nil
}

// followUser has a container that begins as root go on as the user that its pod got: as another one it could not signal the server.
func followUser(pod *corev1.PodTemplateSpec) error {
	for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		i := slices.Index(c.Args, kube.FlagRunAs)
		if i < 0 {
			continue
		}
		user := pod.Spec.SecurityContext.RunAsUser
		if user == nil {
			return errors.New("a fault with action Partition needs to know the pods' user, which the platform chooses: set spec.pods.nodes.securityContext.runAsUser")
		}
		c.Args[i+1] = strconv.FormatInt(*user, 10)
	}
	return nil
}

// nodePods is what is asked of the nodes' pods, joined as apply joins it, as far as another operator's object may have it.
func nodePods(layers ...*v1alpha1.PodsSpec) v1alpha1.PodSettings {
	node := &corev1.PodTemplateSpec{}
	node.Labels = map[string]string{kube.LabelComponent: kube.ComponentNode}
	var asked v1alpha1.PodSettings
	for _, layer := range layers {
		for _, s := range settingsFor(node, layer) {
			asked.Annotations = joined(asked.Annotations, s.Annotations)
			asked.NodeSelector = joined(asked.NodeSelector, s.NodeSelector)
			asked.Tolerations = append(slices.Clone(asked.Tolerations), s.Tolerations...)
			asked.PriorityClassName = cmp.Or(s.PriorityClassName, asked.PriorityClassName)
			if s.Affinity != nil {
				asked.Affinity = s.Affinity.DeepCopy()
			}
			if s.Resources != nil {
				asked.Resources = s.Resources.DeepCopy()
			}
		}
	}
	return asked
}

// nameUsers adds the users of the nodes' pods to their passwd file. Where the platform chooses users, it names them.
func nameUsers(config *corev1.ConfigMap, objects []kube.Object) {
	for _, o := range objects {
		pod := template(o)
		if pod == nil {
			continue
		}
		user := pod.Spec.SecurityContext.RunAsUser
		for i := range pod.Spec.Containers {
			c := &pod.Spec.Containers[i]
			listed := slices.IndexFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.SubPath == node.UsersFile })
			switch {
			case listed < 0:
			case user == nil:
				c.VolumeMounts = slices.Delete(c.VolumeMounts, listed, listed+1)
			default:
				config.Data[node.UsersFile] = node.Users(*user, *cmp.Or(pod.Spec.SecurityContext.RunAsGroup, user))
			}
		}
	}
}

func settingsFor(pod *corev1.PodTemplateSpec, layer *v1alpha1.PodsSpec) []*v1alpha1.PodSettings {
	if layer == nil {
		return nil
	}
	var part *v1alpha1.PodSettings
	switch pod.Labels[kube.LabelComponent] {
	case kube.ComponentNode:
		part = layer.Nodes
	case kube.ComponentRecorder, kube.ComponentLoad, kube.ComponentSeed, kube.ComponentAudit:
		part = layer.Instruments
	}
	return slices.DeleteFunc([]*v1alpha1.PodSettings{layer.All, part}, func(s *v1alpha1.PodSettings) bool { return s == nil })
}

// apply joins maps and lists; everything else it replaces. The labels by which replab finds its pods stay.
func apply(s *v1alpha1.PodSettings, pod *corev1.PodTemplateSpec) error {
	own := pod.Labels
	pod.Labels = joined(s.Labels, own)
	pod.Annotations = joined(pod.Annotations, s.Annotations)
	spec := &pod.Spec
	spec.NodeSelector = joined(spec.NodeSelector, s.NodeSelector)
	spec.Tolerations = append(slices.Clone(spec.Tolerations), s.Tolerations...)
	spec.TopologySpreadConstraints = append(slices.Clone(spec.TopologySpreadConstraints), s.TopologySpreadConstraints...)
	for _, secret := range s.ImagePullSecrets {
		if !slices.Contains(spec.ImagePullSecrets, secret) {
			spec.ImagePullSecrets = append(spec.ImagePullSecrets, secret)
		}
	}
	if s.Affinity != nil {
		spec.Affinity = s.Affinity.DeepCopy()
	}
	if s.PriorityClassName != "" {
		spec.PriorityClassName = s.PriorityClassName
	}
	if s.Resources != nil {
		spec.Containers[0].Resources = *s.Resources.DeepCopy()
	}
	return override(spec.SecurityContext, s.SecurityContext)
}

// override replaces the fields that by names.
func override(context, by *corev1.PodSecurityContext) error {
	if by == nil {
		return nil
	}
	text, err := json.Marshal(by)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, context)
}

// joined returns both maps as one; where they differ, over decides. It is nil when both are empty.
func joined(under, over map[string]string) map[string]string {
	if len(under)+len(over) == 0 {
		return nil
	}
	out := make(map[string]string, len(under)+len(over))
	for _, m := range []map[string]string{under, over} {
		for k, v := range m {
			out[k] = v
		}
	}
	return out
}

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
