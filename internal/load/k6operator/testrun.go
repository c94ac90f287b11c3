package k6operator

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"replab.dev/internal/kube"
	"replab.dev/internal/load"
	"replab.dev/internal/load/k6"
	"replab.dev/internal/wire"
)

// kind of the resource that the operator makes k6 pods of.
var kind = schema.GroupVersionKind{Group: "k6.io", Version: "v1alpha1", Kind: "TestRun"}

// What follows is the part of a TestRun's spec that is used, by its own names.
type spec struct {
	Script      script `json:"script"`
	Parallelism int32  `json:"parallelism"`
	Arguments   string `json:"arguments"`
	Quiet       string `json:"quiet"`
	Paused      string `json:"paused"`
	Initializer pod    `json:"initializer"`
	Starter     pod    `json:"starter"`
	Runner      pod    `json:"runner"`
}

type script struct {
	ConfigMap scriptConfigMap `json:"configMap"`
}

type scriptConfigMap struct {
	Name string `json:"name"`
	File string `json:"file"`
}

type pod struct {
	Disabled                     bool                              `json:"disabled,omitempty"`
	Image                        string                            `json:"image"`
	ImagePullPolicy              corev1.PullPolicy                 `json:"imagePullPolicy,omitempty"`
	ImagePullSecrets             []corev1.LocalObjectReference     `json:"imagePullSecrets,omitempty"`
	AutomountServiceAccountToken string                            `json:"automountServiceAccountToken"`
	Metadata                     *metadata                         `json:"metadata,omitempty"`
	NodeSelector                 map[string]string                 `json:"nodeSelector,omitempty"`
	Tolerations                  []corev1.Toleration               `json:"tolerations,omitempty"`
	Affinity                     *corev1.Affinity                  `json:"affinity,omitempty"`
	TopologySpreadConstraints    []corev1.TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty"`
	PriorityClassName            string                            `json:"priorityClassName,omitempty"`
	SecurityContext              *corev1.PodSecurityContext        `json:"securityContext,omitempty"`
	ContainerSecurityContext     *corev1.SecurityContext           `json:"containerSecurityContext,omitempty"`
	Resources                    corev1.ResourceRequirements       `json:"resources"`
	Env                          []corev1.EnvVar                   `json:"env,omitempty"`
	Volumes                      []corev1.Volume                   `json:"volumes,omitempty"`
	VolumeMounts                 []corev1.VolumeMount              `json:"volumeMounts,omitempty"`
	LivenessProbe                *corev1.Probe                     `json:"livenessProbe,omitempty"`
	ReadinessProbe               *corev1.Probe                     `json:"readinessProbe,omitempty"`
}

type metadata struct {
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// Objects implements load.Runner: one TestRun for all k6 pods.
func (Runner) Objects(p load.Params) (objects, all []kube.Object) {
	s := spec{
		Script:      script{ConfigMap: scriptConfigMap{Name: p.ConfigMap, File: p.File}},
		Parallelism: p.Parallelism,
		Arguments:   "--no-usage-report",
		Quiet:       "true",
		Paused:      "true",
		Initializer: initializer(p),
		Starter:     starter(p),
		Runner:      runner(p),
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&s)
	if err != nil {
		panic(err) // these types have an unstructured form
	}
	run := &unstructured.Unstructured{Object: map[string]any{"spec": content}}
	run.SetGroupVersionKind(kind)
	run.SetNamespace(p.Meta.Namespace)
	run.SetName(p.Meta.Name)
	run.SetLabels(p.Meta.Labels)
	return []kube.Object{run}, watched(run, p.Parallelism)
}

// runner is the k6 pod, as far as a TestRun has words for it: the operator adds the command, the mounted module and the port.
func runner(p load.Params) pod {
	r := common(p)
	c := p.Pod.Spec.Containers[0]
	r.Image, r.Resources, r.Env = c.Image, c.Resources, c.Env
	r.Metadata = &metadata{Labels: p.Pod.Labels, Annotations: p.Pod.Annotations}
	r.Affinity, r.TopologySpreadConstraints = p.Pod.Spec.Affinity, p.Pod.Spec.TopologySpreadConstraints
	r.Volumes = slices.DeleteFunc(slices.Clone(p.Pod.Spec.Volumes), func(v corev1.Volume) bool { return v.Name == load.ScriptVolume })
	r.VolumeMounts = slices.DeleteFunc(slices.Clone(c.VolumeMounts), func(m corev1.VolumeMount) bool { return m.Name == load.ScriptVolume })
	r.ReadinessProbe = kube.HTTPProbe(k6.StatusPath, wire.PortK6, 10)
	// The k6-operator's own probe ends a k6 that answers slowly. This one asks first when the k6 should have ended.
	r.LivenessProbe = kube.HungProbe(k6.StatusPath, wire.PortK6)
	r.LivenessProbe.InitialDelaySeconds = int32(p.DeadlineSeconds)
	return r
}

// starter is required, but would begin the k6s too early, by a shell. Its image has none, so it fails and the k6s wait. It has no label of the
// experiment.
func starter(p load.Params) pod {
	s := common(p)
	s.Image = p.Images.Replab
	s.Resources = corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1m"), corev1.ResourceMemory: resource.MustParse("16Mi")},
		Limits:   corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("32Mi")},
	}
	return s
}

// initializer has k6 read the module in a pod of its own. Only operators that cannot omit it run it.
func initializer(p load.Params) pod {
	i := common(p)
	c := p.Pod.Spec.Containers[0]
	i.Disabled, i.Image, i.Resources, i.Env = true, c.Image, c.Resources, c.Env
	return i
}

// common settings of every pod of a TestRun.
func common(p load.Params) pod {
	s := p.Pod.Spec
	return pod{
		ImagePullPolicy: s.Containers[0].ImagePullPolicy, ImagePullSecrets: s.ImagePullSecrets,
		AutomountServiceAccountToken: strconv.FormatBool(s.AutomountServiceAccountToken == nil || *s.AutomountServiceAccountToken),
		NodeSelector:                 s.NodeSelector, Tolerations: s.Tolerations, PriorityClassName: s.PriorityClassName,
		SecurityContext: s.SecurityContext, ContainerSecurityContext: s.Containers[0].SecurityContext,
	}
}
