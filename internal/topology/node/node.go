// Package node makes what every database node has, whatever its topology: a StatefulSet whose pods hold the server, its agent
// and their volumes, and a Service that gives each a name. Drivers say what differs. It is pure.
package node

import (
	"encoding/json"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/kube"
	"replab.dev/internal/topology"
	"replab.dev/internal/wire"
)

// shutdownSeconds that a server has to stop in order when its pod is deleted.
const shutdownSeconds = 15

// Paths in a node's pod. The volume holds the data and the state of the agent, which must outlive the pod.
const (
	volumeDir = "/var/lib/replab"
	DataDir   = volumeDir + "/data"
	StateDir  = volumeDir + "/state"
	RunDir    = "/run/replab" // in memory: the socket, and the file with the first statements and their passwords
	TmpDir    = "/tmp"        // goes with the pod

	agentConfigFile = "agent.json"
)

// Spec is what a driver decides about its nodes.
type Spec struct {
	topology.Params
	Name  string // of the StatefulSet and of its Service; the pods are Name-0, Name-1 and so on
	Image string // of the server, where the experiment names none
	// Server is the engine and its process: the paths of replab's own are filled in.
	Server wire.AgentConfig
	// Ports of the server by name, as its pods' Service has them.
	Ports []corev1.ContainerPort
	// Files of the experiment's ConfigMap that the server reads.
	Files []string
}

// Nodes are the pods in their order.
func (s Spec) Nodes() []wire.Node {
	nodes := make([]wire.Node, 0, s.count())
	for i := range s.count() {
		name := fmt.Sprintf("%s-%d", s.Name, i)
		nodes = append(nodes, wire.Node{Name: name, Host: s.Host(name + "." + s.Name)})
	}
	return nodes
}

// ConfigFiles are the configuration files of the nodes' processes, apart from the server's own.
func (s Spec) ConfigFiles() (map[string]string, error) {
	c := s.Server
	c.Listen, c.DataDir, c.StateDir, c.SecretDir = fmt.Sprintf(":%d", wire.PortAgent), DataDir, StateDir, wire.SecretsDir
	text, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", agentConfigFile, err)
	}
	return map[string]string{agentConfigFile: string(text)}, nil
}

// Objects are the nodes' Service and their StatefulSet.
func (s Spec) Objects() []client.Object {
	meta := kube.Meta(s.Namespace, s.Name, kube.ComponentNode, s.Labels)
	var ports []int
	for _, p := range s.Ports {
		ports = append(ports, int(p.ContainerPort))
	}
	return []client.Object{kube.Service(meta, kube.Selector(meta), true, append(ports, wire.PortAgent)...), s.statefulSet(meta)}
}

func (s Spec) count() int32 { return s.Params.Spec.Replicas + 1 }

func (s Spec) statefulSet(meta metav1.ObjectMeta) *appsv1.StatefulSet {
	set := &appsv1.StatefulSet{
		ObjectMeta: meta,
		Spec: appsv1.StatefulSetSpec{
			Replicas: ptr.To(s.count()), ServiceName: meta.Name, PodManagementPolicy: appsv1.ParallelPodManagement,
			Selector:       &metav1.LabelSelector{MatchLabels: kube.Selector(meta)},
			UpdateStrategy: appsv1.StatefulSetUpdateStrategy{Type: appsv1.OnDeleteStatefulSetStrategyType},
			Template:       corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: meta.Labels}, Spec: s.podSpec()},
			PersistentVolumeClaimRetentionPolicy: &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{
				WhenDeleted: appsv1.DeletePersistentVolumeClaimRetentionPolicyType,
				WhenScaled:  appsv1.DeletePersistentVolumeClaimRetentionPolicyType,
			},
		},
	}
	addStorage(set, s.Params.Spec.Storage)
	return set
}

func addStorage(set *appsv1.StatefulSet, s v1alpha1.StorageSpec) {
	spec := &set.Spec.Template.Spec
	switch s.Medium {
	case v1alpha1.MediumMemory:
		spec.Volumes = append(spec.Volumes, kube.EmptyDir("data", corev1.StorageMediumMemory, s.Size.String()))
	case v1alpha1.MediumNode:
		spec.Volumes = append(spec.Volumes, kube.EmptyDir("data", corev1.StorageMediumDefault, s.Size.String()))
	default:
		set.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{kube.Claim("data", s.Size, s.ClassName, set.Labels)}
	}
}

func (s Spec) podSpec() corev1.PodSpec {
	return corev1.PodSpec{
		SecurityContext:               kube.PodSecurity(),
		ShareProcessNamespace:         ptr.To(true), // the agent signals the server
		AutomountServiceAccountToken:  ptr.To(false),
		TerminationGracePeriodSeconds: ptr.To[int64](shutdownSeconds),
		EnableServiceLinks:            ptr.To(false),
		InitContainers:                []corev1.Container{s.copyContainer()},
		Containers:                    []corev1.Container{s.serverContainer(), s.agentContainer()},
		Volumes: []corev1.Volume{
			kube.ConfigVolume(s.Params.Name, append([]string{agentConfigFile}, s.Files...)...),
			kube.SecretsVolume(s.Params.Name, wire.AccountAdmin, wire.AgentTokenFile), // the agent's
			s.accountsVolume(),
			kube.EmptyDir("bin", corev1.StorageMediumDefault, "200Mi"),
			kube.EmptyDir("run", corev1.StorageMediumMemory, "16Mi"),
			kube.EmptyDir("tmp", corev1.StorageMediumDefault, ""),
		},
	}
}

// accountsVolume holds the passwords that the start wrapper gives a new server, and no token: the server's image is anybody's.
func (s Spec) accountsVolume() corev1.Volume {
	v := kube.SecretsVolume(s.Params.Name, wire.Accounts()...)
	v.Name = "accounts"
	return v
}

// copyContainer brings the start wrapper into a server image that does not have it.
func (s Spec) copyContainer() corev1.Container {
	return corev1.Container{
		Name: "copy", Image: s.Images.Replab, ImagePullPolicy: corev1.PullPolicy(s.Images.PullPolicy),
		Args:            []string{"copy", "--to", wire.BinDir},
		SecurityContext: kube.ContainerSecurity(),
		VolumeMounts:    []corev1.VolumeMount{kube.MountWritable("bin", wire.BinDir)},
		Resources:       kube.Requests("10m", "16Mi", "64Mi"),
	}
}

func (s Spec) serverContainer() corev1.Container {
	image := s.Params.Spec.Image
	if image == "" {
		image = s.Image
	}
	resources := s.Params.Spec.Resources
	if resources.Requests == nil && resources.Limits == nil {
		resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("512Mi")}
	}
	return corev1.Container{
		Name: "server", Image: image, ImagePullPolicy: corev1.PullPolicy(s.Images.PullPolicy),
		Command:         []string{wire.BinDir + "/replab", "server", "--config", wire.ConfigDir + "/" + agentConfigFile},
		Env:             append(podEnv(), corev1.EnvVar{Name: "TMPDIR", Value: RunDir}),
		Ports:           s.Ports,
		SecurityContext: kube.ContainerSecurity(),
		Resources:       resources,
		VolumeMounts: []corev1.VolumeMount{
			kube.Mount("bin", wire.BinDir), kube.Mount("config", wire.ConfigDir), kube.Mount("accounts", wire.SecretsDir),
			kube.MountWritable("data", volumeDir), kube.MountWritable("run", RunDir), kube.MountWritable("tmp", TmpDir),
		},
	}
}

func (s Spec) agentContainer() corev1.Container {
	c := kube.Container(s.Images, "agent")
	c.Env = podEnv()
	c.Ports = []corev1.ContainerPort{{Name: "agent", ContainerPort: wire.PortAgent}}
	c.ReadinessProbe = kube.HTTPProbe(wire.AgentPathReady, wire.PortAgent, 2)
	c.LivenessProbe = kube.HTTPProbe(wire.AgentPathHealth, wire.PortAgent, 10)
	c.Resources = kube.Requests("10m", "24Mi", "128Mi")
	c.VolumeMounts = append(c.VolumeMounts, kube.MountWritable("data", volumeDir), kube.MountWritable("run", RunDir))
	if partitions(s.Faults) {
		allowPartition(&c)
	}
	return c
}

func partitions(faults []v1alpha1.Fault) bool {
	for _, f := range faults {
		if f.Action == v1alpha1.ActionPartition {
			return true
		}
	}
	return false
}

// allowPartition lets the agent change the pod's packet filter. Kubernetes gives an added capability to root alone, so
// the agent starts as root with nothing else, and goes on as the pod's user with NET_ADMIN.
func allowPartition(c *corev1.Container) {
	c.Args = append(c.Args, "--run-as", "1001")
	c.SecurityContext.RunAsUser, c.SecurityContext.RunAsNonRoot = ptr.To[int64](0), ptr.To(false)
	c.SecurityContext.Capabilities.Add = []corev1.Capability{"NET_ADMIN", "SETGID", "SETUID"}
}

func podEnv() []corev1.EnvVar {
	field := func(name, path string) corev1.EnvVar {
		return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}}
	}
	return []corev1.EnvVar{
		field(wire.EnvPodName, "metadata.name"), field(wire.EnvPodUID, "metadata.uid"), field(wire.EnvPodIP, "status.podIP"),
	}
}
