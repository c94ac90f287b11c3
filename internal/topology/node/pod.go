package node

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/kube"
	"replab.dev/internal/wire"
)

// shutdownSeconds that a server has to stop in order when its pod is deleted.
const shutdownSeconds = 15

func (s Spec) podSpec() corev1.PodSpec {
	pod := corev1.PodSpec{
		SecurityContext:               kube.PodSecurity(),
		ShareProcessNamespace:         ptr.To(true), // the agent signals the server
		AutomountServiceAccountToken:  ptr.To(false),
		TerminationGracePeriodSeconds: ptr.To[int64](shutdownSeconds),
		EnableServiceLinks:            ptr.To(false),
		InitContainers:                []corev1.Container{kube.BinaryContainer(s.Images)},
		Containers:                    []corev1.Container{s.serverContainer(), s.agentContainer()},
		Volumes: []corev1.Volume{
			kube.ConfigVolume(s.Params.Name, agentConfigFile),
			s.serverFilesVolume(),
			kube.SecretsVolume(s.Params.Name, wire.AccountAdmin, wire.AgentTokenFile), // the agent's
			s.accountsVolume(),
			kube.BinVolume(),
			kube.EmptyDir("run", corev1.StorageMediumMemory, "16Mi"),
			kube.EmptyDir("tmp", corev1.StorageMediumDefault, ""),
		},
	}
	if s.Identity != "" {
		pod.ServiceAccountName = s.Identity
		pod.Volumes = append(pod.Volumes, identityVolume())
	}
	return pod
}

func (s Spec) serverContainer() corev1.Container {
	resources := s.Spec.Resources
	if resources.Requests == nil && resources.Limits == nil {
		resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("512Mi")}
	}
	c := corev1.Container{
		Name: "server", Image: s.Images.Server, ImagePullPolicy: corev1.PullPolicy(s.Images.PullPolicy),
		Command:         []string{wire.BinDir + "/replab", "server", "--config", wire.ConfigDir + "/" + serverConfigFile},
		Env:             append(append(podEnv(), corev1.EnvVar{Name: "TMPDIR", Value: RunDir}), s.Env...),
		Ports:           s.Ports,
		SecurityContext: kube.ContainerSecurity(),
		Resources:       resources,
		VolumeMounts: []corev1.VolumeMount{
			kube.Mount("bin", wire.BinDir), kube.Mount("server-config", wire.ConfigDir), kube.Mount("accounts", wire.SecretsDir),
			folder(kube.MountWritable(volume, volumeDir), serverFolder), folder(kube.Mount(volume, holdsDir), agentFolder+"/"+holdsFolder),
			kube.MountWritable("run", RunDir), kube.MountWritable("tmp", TmpDir),
		},
	}
	if s.Identity != "" {
		c.VolumeMounts = append(c.VolumeMounts, kube.Mount(identity, identityDir))
	}
	if s.NamedUser {
		c.VolumeMounts = append(c.VolumeMounts, folder(kube.Mount("server-config", usersPath), UsersFile))
	}
	return c
}

func (s Spec) agentContainer() corev1.Container {
	c := kube.Container(s.Images, "agent")
	c.Command = []string{wire.BinDir + "/replab"} // the copy, which nobody may read: see agent.CopyCommand
	c.Env = podEnv()
	c.Ports = []corev1.ContainerPort{{Name: "agent", ContainerPort: wire.PortAgent}}
	kube.Metered(&c)
	c.ReadinessProbe = kube.HTTPProbe(wire.AgentPathReady, wire.PortAgent, 2)
	c.LivenessProbe = kube.HungProbe(wire.AgentPathHealth, wire.PortAgent)
	c.Resources = kube.Requests("10m", "24Mi", "128Mi")
	c.VolumeMounts = append(c.VolumeMounts,
		kube.Mount("bin", wire.BinDir), folder(kube.MountWritable(volume, stateDir), agentFolder), kube.Mount("run", RunDir))
	if len(s.Spec.Links) > 0 { // what it reads from a queue must not wait for the server's share of the processors
		c.Resources = kube.Requests("200m", "24Mi", "128Mi")
	}
	if partitions(s.Faults) || len(s.Spec.Links) > 0 {
		allowNetAdmin(&c)
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

// allowNetAdmin lets the agent change the pod's packet filter. Kubernetes gives an added capability to root alone, so
// the agent starts as root with nothing else, and goes on as the pod's user with NET_ADMIN.
func allowNetAdmin(c *corev1.Container) {
	c.Args = append(c.Args, kube.FlagRunAs, strconv.Itoa(kube.UserID))
	c.SecurityContext.RunAsUser, c.SecurityContext.RunAsNonRoot = ptr.To[int64](0), ptr.To(false)
	c.SecurityContext.Capabilities.Add = []corev1.Capability{"NET_ADMIN", "SETGID", "SETUID"}
}

func podEnv() []corev1.EnvVar {
	return []corev1.EnvVar{Field(wire.EnvPodName, "metadata.name"), Field(wire.EnvPodUID, "metadata.uid")}
}

// Field has a variable tell what a field of the pod is.
func Field(variable, path string) corev1.EnvVar {
	return corev1.EnvVar{Name: variable, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}}
}
