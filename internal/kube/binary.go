package kube

import (
	corev1 "k8s.io/api/core/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/wire"
)

// BinVolume is where BinaryContainer puts the binary.
func BinVolume() corev1.Volume { return EmptyDir("bin", corev1.StorageMediumDefault, "200Mi") }

// BinaryContainer is an init container that brings replab's binary to containers whose images do not have it.
func BinaryContainer(images v1alpha1.ImagesStatus) corev1.Container {
	return corev1.Container{
		Name: "copy", Image: images.Replab, ImagePullPolicy: corev1.PullPolicy(images.PullPolicy),
		Command:         []string{"/replab"}, // whatever the image would run
		Args:            []string{"copy", "--to", wire.BinDir},
		SecurityContext: ContainerSecurity(),
		VolumeMounts:    []corev1.VolumeMount{MountWritable(BinVolume().Name, wire.BinDir)},
		Resources:       Requests("10m", "16Mi", "64Mi"),
	}
}
