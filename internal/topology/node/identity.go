package node

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

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
