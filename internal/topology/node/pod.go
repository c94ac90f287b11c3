package node

import (
	"fmt"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
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
			kube.SecretsVolume(s.Params.Name, s.agentSecrets()...),
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

func (s Spec) agentSecrets() []string {
	if s.Server.Pair != nil { // it makes its server a replica of the other
		return []string{wire.AccountAdmin, wire.AccountReplication, wire.AgentTokenFile}
	}
	return []string{wire.AccountAdmin, wire.AgentTokenFile}
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
	if partitions(s.Faults) || len(s.Spec.Links) > 0 || s.Server.Pair != nil { // the bytes between the two are counted by the packet filter
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

// Folders of the node's volume, which outlives the pod. Each container mounts its own: the server's image is anybody's, and what
// runs in it must not write the notes of faults that the agent goes by.
const (
	volume       = "data"
	serverFolder = "server"
	agentFolder  = "agent"
	holdsFolder  = "holds" // in the agent's; the start wrapper reads it
)

func addStorage(set *appsv1.StatefulSet, s v1alpha1.StorageSpec) {
	spec := &set.Spec.Template.Spec
	switch s.Medium {
	case v1alpha1.MediumMemory:
		spec.Volumes = append(spec.Volumes, kube.EmptyDir(volume, corev1.StorageMediumMemory, s.Size.String()))
	case v1alpha1.MediumNode:
		spec.Volumes = append(spec.Volumes, kube.EmptyDir(volume, corev1.StorageMediumDefault, s.Size.String()))
	default:
		set.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{kube.Claim(volume, s.Size, s.ClassName, set.Labels)}
	}
}

// serverFilesVolume holds the configuration of the start wrapper and of the server.
func (s Spec) serverFilesVolume() corev1.Volume {
	names := append([]string{serverConfigFile}, s.Files...)
	if s.NamedUser {
		names = append(names, UsersFile)
	}
	v := kube.ConfigVolume(s.Params.Name, names...)
	v.Name = "server-config"
	return v
}

// accountsVolume holds the passwords that the start wrapper gives a new server, and no token: the server's image is anybody's.
func (s Spec) accountsVolume() corev1.Volume {
	v := kube.SecretsVolume(s.Params.Name, wire.Accounts()...)
	v.Name = "accounts"
	return v
}

// folder mounts one folder of a volume. The kubelet makes it, open to whom the volume is.
func folder(m corev1.VolumeMount, path string) corev1.VolumeMount {
	m.SubPath = path
	return m
}

// identity is the volume of what a client of the API server wants to find, at the place where it looks.
const (
	identity    = "identity"
	identityDir = "/var/run/secrets/kubernetes.io/serviceaccount"
)

// tokenSeconds that a token is good for. The kubelet renews it long before, and no server holds on to one that it has read.
const tokenSeconds = 3607

// identityVolume is what every pod would get with its ServiceAccount's token, for the containers that mount it.
func identityVolume() corev1.Volume {
	return corev1.Volume{Name: identity, VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
		DefaultMode: ptr.To[int32](0o440),
		Sources: []corev1.VolumeProjection{
			{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: corev1.ServiceAccountTokenKey, ExpirationSeconds: ptr.To[int64](tokenSeconds)}},
			{ConfigMap: &corev1.ConfigMapProjection{
				LocalObjectReference: corev1.LocalObjectReference{Name: "kube-root-ca.crt"}, // Kubernetes makes it in every namespace
				Items:                []corev1.KeyToPath{{Key: corev1.ServiceAccountRootCAKey, Path: corev1.ServiceAccountRootCAKey}},
			}},
			{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{{
				Path: corev1.ServiceAccountNamespaceKey, FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.namespace"},
			}}}},
		},
	}}}
}

// UsersFile is the list of users in the experiment's ConfigMap, where Spec.NamedUser wants one.
const UsersFile = "passwd"

const usersPath = "/etc/passwd"

// Users is a list with the user that a server runs as, whatever its number is.
func Users(user, group int64) string {
	return fmt.Sprintf("root:x:0:0:root:/root:/bin/sh\nreplab:x:%d:%d::%s:/bin/sh\n", user, group, TmpDir)
}
