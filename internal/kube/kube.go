// Package kube builds the Kubernetes objects that several parts of a plan have in common. It is pure.
package kube

import (
	"maps"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/wire"
)

// Labels of every object of an experiment.
const (
	LabelManagedBy  = "app.kubernetes.io/managed-by"
	LabelExperiment = "replab.dev/experiment"
	LabelComponent  = "app.kubernetes.io/component"
	ManagedBy       = "replab"
)

// Components of an experiment. Nodes, what manages them if that is a pod of its own, proxy and app are the system under test;
// recorder and load are instruments, which no fault hits.
const (
	ComponentNode     = "node"
	ComponentManager  = "director"
	ComponentProxy    = "proxy"
	ComponentSocial   = "social"
	ComponentRecorder = "recorder"
	ComponentLoad     = "load"
	ComponentSeed     = "seed"
	ComponentAudit    = "audit"
	// ComponentOperator labels the operator's own objects.
	ComponentOperator = "operator"
	// ComponentResults labels the results.
	ComponentResults = "results"
	// ComponentRemains labels notes of what a deleted experiment may have left.
	ComponentRemains = "remains"
)

// UserID of every process of an experiment, in whatever image it runs.
const UserID = 1001

// FlagRunAs is the argument, with a user's number after it, of a container that begins as root and goes on as the pod's user.
const FlagRunAs = "--run-as"

// ConfigMapSuffix names the ConfigMap with the processes' configuration: one key per file.
const ConfigMapSuffix = "-files"

// Meta names and labels an object: the experiment, "-" and a suffix. No suffix may end in "-" and another one, so that names of two experiments
// differ.
func Meta(namespace, name, component string, labels map[string]string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: With(labels, LabelComponent, component)}
}

// With returns a copy of labels with one more.
func With(labels map[string]string, key, value string) map[string]string {
	out := maps.Clone(labels)
	if out == nil {
		out = map[string]string{}
	}
	out[key] = value
	return out
}

// Selector selects the pods of a component.
func Selector(m metav1.ObjectMeta) map[string]string {
	return map[string]string{LabelExperiment: m.Labels[LabelExperiment], LabelComponent: m.Labels[LabelComponent]}
}

// PodSecurity is what the restricted pod security standard asks of a pod.
func PodSecurity() *corev1.PodSecurityContext {
	return &corev1.PodSecurityContext{
		RunAsNonRoot: ptr.To(true), RunAsUser: ptr.To[int64](UserID), RunAsGroup: ptr.To[int64](UserID), FSGroup: ptr.To[int64](UserID),
		SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
}

// ContainerSecurity is what the restricted pod security standard asks of a container, and a root file system that is read only.
func ContainerSecurity() *corev1.SecurityContext {
	return &corev1.SecurityContext{
		AllowPrivilegeEscalation: ptr.To(false), ReadOnlyRootFilesystem: ptr.To(true),
		Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
}

// Container runs a subcommand of replab with its own configuration file.
func Container(images v1alpha1.ImagesStatus, subcommand string, args ...string) corev1.Container {
	return corev1.Container{
		Name: subcommand, Image: images.Replab, ImagePullPolicy: corev1.PullPolicy(images.PullPolicy),
		Args:            append([]string{subcommand, "--config", wire.ConfigDir + "/" + subcommand + ".json"}, args...),
		SecurityContext: ContainerSecurity(),
		VolumeMounts:    []corev1.VolumeMount{Mount("config", wire.ConfigDir), Mount("secrets", wire.SecretsDir)},
	}
}

// Metered has a container of replab's answer Prometheus.
func Metered(c *corev1.Container) {
	c.Env = append(c.Env, MetricsEnv())
	c.Ports = append(c.Ports, MetricsPort())
}

// MetricsEnv sets where a process of replab answers Prometheus.
func MetricsEnv() corev1.EnvVar {
	return corev1.EnvVar{Name: wire.EnvMetrics, Value: ":" + strconv.Itoa(wire.PortMetrics)}
}

// MetricsPort is of a container with MetricsEnv.
func MetricsPort() corev1.ContainerPort {
	return corev1.ContainerPort{Name: wire.MetricsPortName, ContainerPort: wire.PortMetrics, Protocol: corev1.ProtocolTCP}
}

// Mount mounts a volume read only.
func Mount(volume, path string) corev1.VolumeMount {
	return corev1.VolumeMount{Name: volume, MountPath: path, ReadOnly: true}
}

// MountWritable mounts a volume.
func MountWritable(volume, path string) corev1.VolumeMount {
	return corev1.VolumeMount{Name: volume, MountPath: path}
}

// ConfigVolume holds the named files of an experiment's configuration, and no others.
func ConfigVolume(experiment string, files ...string) corev1.Volume {
	items := make([]corev1.KeyToPath, 0, len(files))
	for _, f := range files {
		items = append(items, corev1.KeyToPath{Key: f, Path: f})
	}
	return corev1.Volume{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
		LocalObjectReference: corev1.LocalObjectReference{Name: experiment + ConfigMapSuffix}, Items: items,
	}}}
}

// SecretsVolume holds the named secrets of an experiment, and no others.
func SecretsVolume(experiment string, names ...string) corev1.Volume {
	items := make([]corev1.KeyToPath, 0, len(names))
	for _, n := range names {
		items = append(items, corev1.KeyToPath{Key: n, Path: n})
	}
	return corev1.Volume{Name: "secrets", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{
		SecretName: SecretName(experiment), Items: items, DefaultMode: ptr.To[int32](0o440),
	}}}
}

// SecretName names the Secret with the accounts' passwords and the token.
func SecretName(experiment string) string { return experiment + "-credentials" }

// EmptyDir is a volume that goes with its pod.
func EmptyDir(name string, medium corev1.StorageMedium, size string) corev1.Volume {
	d := &corev1.EmptyDirVolumeSource{Medium: medium}
	if size != "" {
		d.SizeLimit = ptr.To(resource.MustParse(size))
	}
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{EmptyDir: d}}
}

// HTTPProbe asks a path of a port every period seconds.
func HTTPProbe(path string, port int, period int32) *corev1.Probe {
	return &corev1.Probe{
		ProbeHandler:  corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: path, Port: intstr.FromInt(port)}},
		PeriodSeconds: period, TimeoutSeconds: 2, FailureThreshold: 3,
	}
}

// Patient keeps a pod in its Service once it was ready: an overloaded pod must stay in the path. A pod whose container ended leaves it anyway.
func Patient(readiness *corev1.Probe) *corev1.Probe {
	patient := *readiness
	patient.FailureThreshold = 600
	return &patient
}

// HungProbe finds a process that did not answer for a minute.
func HungProbe(path string, port int) *corev1.Probe {
	p := HTTPProbe(path, port, 10)
	p.TimeoutSeconds, p.FailureThreshold = 10, 6
	return p
}

// Requests asks for CPU and memory and limits memory, so that no process of replab's can starve a server.
func Requests(cpu, memory, memoryLimit string) corev1.ResourceRequirements {
	return corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)},
		Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(memoryLimit)},
	}
}

// Service selects the pods of a component under one name. headless gives each pod a name of its own, ready or not.
func Service(m metav1.ObjectMeta, selector map[string]string, headless bool, ports ...int) *corev1.Service {
	s := &corev1.Service{ObjectMeta: m, Spec: corev1.ServiceSpec{Selector: selector}}
	for _, p := range ports {
		s.Spec.Ports = append(s.Spec.Ports, corev1.ServicePort{Name: "port-" + strconv.Itoa(p), Port: int32(p), TargetPort: intstr.FromInt(p)})
	}
	if headless {
		s.Spec.ClusterIP = corev1.ClusterIPNone
		s.Spec.PublishNotReadyAddresses = true
	}
	return s
}

// Identity is a ServiceAccount that may do what rules say in its namespace.
func Identity(m metav1.ObjectMeta, rules ...rbacv1.PolicyRule) (*corev1.ServiceAccount, *rbacv1.Role, *rbacv1.RoleBinding) {
	return &corev1.ServiceAccount{ObjectMeta: m, AutomountServiceAccountToken: ptr.To(false)},
		&rbacv1.Role{ObjectMeta: m, Rules: rules},
		&rbacv1.RoleBinding{
			ObjectMeta: m, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: m.Name},
			Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: m.Name, Namespace: m.Namespace}},
		}
}

// OwnConfigMap lets a process renew one ConfigMap, the place of its results, and no other.
func OwnConfigMap(name string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{
		APIGroups: []string{""}, Resources: []string{"configmaps"}, ResourceNames: []string{name}, Verbs: []string{"get", "patch"},
	}
}

// Claim is a template of a volume claim; className empty is the cluster's default.
func Claim(name string, size resource.Quantity, className string, labels map[string]string) corev1.PersistentVolumeClaim {
	c := corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: size}},
		},
	}
	if className != "" {
		c.Spec.StorageClassName = ptr.To(className)
	}
	return c
}

// Singleton is a StatefulSet of one pod: there are never two of it at once.
func Singleton(m metav1.ObjectMeta, pod corev1.PodSpec) *appsv1.StatefulSet {
	return &appsv1.StatefulSet{
		ObjectMeta: m,
		Spec: appsv1.StatefulSetSpec{
			Replicas: ptr.To[int32](1), ServiceName: m.Name, Selector: &metav1.LabelSelector{MatchLabels: Selector(m)},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: m.Labels}, Spec: pod},
			PersistentVolumeClaimRetentionPolicy: &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{
				WhenDeleted: appsv1.DeletePersistentVolumeClaimRetentionPolicyType,
				WhenScaled:  appsv1.DeletePersistentVolumeClaimRetentionPolicyType,
			},
		},
	}
}

// Deployment runs replicas of a pod.
func Deployment(meta metav1.ObjectMeta, replicas int32, pod corev1.PodSpec) *appsv1.Deployment {
	return &appsv1.Deployment{
		ObjectMeta: meta,
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To(replicas), Selector: &metav1.LabelSelector{MatchLabels: Selector(meta)},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: meta.Labels}, Spec: pod},
		},
	}
}
