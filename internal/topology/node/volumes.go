package node

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/kube"
	"replab.dev/internal/wire"
)

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
