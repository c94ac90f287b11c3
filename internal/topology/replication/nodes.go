package replication

import (
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

func nodeObjects(p topology.Params) []client.Object {
	meta := kube.Meta(p.Namespace, nodesName(p), topology.ComponentNode, p.Labels)
	objects := []client.Object{
		kube.Service(meta, kube.Selector(meta), true, wire.PortMySQL, wire.PortAgent),
		statefulSet(p, meta),
	}
	if p.Routing.Proxy == v1alpha1.ProxyNone {
		objects = append(objects, roleService(p, primaryName(p), wire.RolePrimary), roleService(p, replicasName(p), wire.RoleReplica))
	}
	return objects
}

// roleService leads to the nodes of a role, ready or not: the director alone decides who has it.
func roleService(p topology.Params, name string, role wire.Role) *corev1.Service {
	meta := kube.Meta(p.Namespace, name, topology.ComponentNode, p.Labels)
	s := kube.Service(meta, kube.With(kube.Selector(meta), wire.RoleLabel, string(role)), false, wire.PortMySQL)
	s.Spec.PublishNotReadyAddresses = true
	return s
}

func statefulSet(p topology.Params, meta metav1.ObjectMeta) *appsv1.StatefulSet {
	set := &appsv1.StatefulSet{
		ObjectMeta: meta,
		Spec: appsv1.StatefulSetSpec{
			Replicas: ptr.To(p.Spec.Replicas + 1), ServiceName: meta.Name, PodManagementPolicy: appsv1.ParallelPodManagement,
			Selector:       &metav1.LabelSelector{MatchLabels: kube.Selector(meta)},
			UpdateStrategy: appsv1.StatefulSetUpdateStrategy{Type: appsv1.OnDeleteStatefulSetStrategyType},
			Template:       corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: meta.Labels}, Spec: podSpec(p)},
			PersistentVolumeClaimRetentionPolicy: &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{
				WhenDeleted: appsv1.DeletePersistentVolumeClaimRetentionPolicyType,
				WhenScaled:  appsv1.DeletePersistentVolumeClaimRetentionPolicyType,
			},
		},
	}
	addStorage(set, p.Spec.Storage)
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

func podSpec(p topology.Params) corev1.PodSpec {
	return corev1.PodSpec{
		SecurityContext:               kube.PodSecurity(),
		ShareProcessNamespace:         ptr.To(true), // the agent signals the server
		AutomountServiceAccountToken:  ptr.To(false),
		TerminationGracePeriodSeconds: ptr.To[int64](shutdownSeconds),
		EnableServiceLinks:            ptr.To(false),
		InitContainers:                []corev1.Container{copyContainer(p)},
		Containers:                    []corev1.Container{serverContainer(p), agentContainer(p)},
		Volumes: []corev1.Volume{
			kube.ConfigVolume(p.Name, agentConfigFile, serverConfigFile),
			kube.SecretsVolume(p.Name, wire.AccountAdmin, wire.AgentTokenFile), // the agent's
			accountsVolume(p),
			kube.EmptyDir("bin", corev1.StorageMediumDefault, "200Mi"),
			kube.EmptyDir("run", corev1.StorageMediumMemory, "16Mi"),
			kube.EmptyDir("tmp", corev1.StorageMediumDefault, ""),
		},
	}
}

// accountsVolume holds the passwords that the start wrapper gives a new server, and no token: the server's image is anybody's.
func accountsVolume(p topology.Params) corev1.Volume {
	v := kube.SecretsVolume(p.Name, wire.Accounts()...)
	v.Name = "accounts"
	return v
}

// copyContainer brings the start wrapper into a server image that does not have it.
func copyContainer(p topology.Params) corev1.Container {
	return corev1.Container{
		Name: "copy", Image: p.Images.Replab, ImagePullPolicy: corev1.PullPolicy(p.Images.PullPolicy),
		Args:            []string{"copy", "--to", wire.BinDir},
		SecurityContext: kube.ContainerSecurity(),
		VolumeMounts:    []corev1.VolumeMount{kube.MountWritable("bin", wire.BinDir)},
		Resources:       kube.Requests("10m", "16Mi", "64Mi"),
	}
}

func serverContainer(p topology.Params) corev1.Container {
	image := p.Spec.Image
	if image == "" {
		image = p.Images.MySQL
	}
	resources := p.Spec.Resources
	if resources.Requests == nil && resources.Limits == nil {
		resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("512Mi")}
	}
	return corev1.Container{
		Name: "server", Image: image, ImagePullPolicy: corev1.PullPolicy(p.Images.PullPolicy),
		Command:         []string{wire.BinDir + "/replab", "server", "--config", wire.ConfigDir + "/" + agentConfigFile},
		Env:             append(podEnv(), corev1.EnvVar{Name: "TMPDIR", Value: runDir}),
		Ports:           []corev1.ContainerPort{{Name: "mysql", ContainerPort: wire.PortMySQL}},
		SecurityContext: kube.ContainerSecurity(),
		Resources:       resources,
		VolumeMounts: []corev1.VolumeMount{
			kube.Mount("bin", wire.BinDir), kube.Mount("config", wire.ConfigDir), kube.Mount("accounts", wire.SecretsDir),
			kube.MountWritable("data", volumeDir), kube.MountWritable("run", runDir), kube.MountWritable("tmp", "/tmp"),
		},
	}
}

func agentContainer(p topology.Params) corev1.Container {
	c := kube.Container(p.Images, "agent")
	c.Env = podEnv()
	c.Ports = []corev1.ContainerPort{{Name: "agent", ContainerPort: wire.PortAgent}}
	c.ReadinessProbe = kube.HTTPProbe(wire.AgentPathReady, wire.PortAgent, 2)
	c.LivenessProbe = kube.HTTPProbe(wire.AgentPathHealth, wire.PortAgent, 10)
	c.Resources = kube.Requests("10m", "24Mi", "128Mi")
	c.VolumeMounts = append(c.VolumeMounts, kube.MountWritable("data", volumeDir), kube.MountWritable("run", runDir))
	if partitions(p.Faults) {
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
