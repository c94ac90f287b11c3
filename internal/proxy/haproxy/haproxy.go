// Package haproxy follows the roles that the nodes report of themselves, by HTTP checks.
package haproxy

import (
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/kube"
	"replab.dev/internal/proxy"
	"replab.dev/internal/wire"
)

const (
	suffix     = "-proxy"
	configFile = "haproxy.cfg"
)

// Driver implements proxy.Driver.
type Driver struct{}

// Files implements proxy.Driver.
func (Driver) Files(p proxy.Params) map[string]string {
	return map[string]string{configFile: config(p)}
}

// Paths implements proxy.Driver.
func (Driver) Paths(p proxy.Params) proxy.Paths {
	writes := wire.Endpoint{Host: p.Host(suffix), Port: wire.PortProxyWrites}
	return proxy.Paths{Writes: writes, Reads: wire.Endpoint{Host: writes.Host, Port: wire.PortProxyReads}, Seed: writes}
}

// Settings implements proxy.Driver.
func (Driver) Settings(p proxy.Params) map[string]string {
	check := p.Spec.Check
	return map[string]string{
		"inter": fmt.Sprintf("%dms", check.IntervalMilliseconds), "fall": strconv.Itoa(int(check.Fall)), "rise": strconv.Itoa(int(check.Rise)),
		"retries": retries, "timeout connect": longer(connectTimeout, p), "timeout check": longer(checkTimeout, p), "hold valid": holdNames,
	}
}

// NeedsImage implements proxy.Driver.
func (Driver) NeedsImage() bool { return true }

// RolesByLabel implements proxy.Driver: the nodes are asked.
func (Driver) RolesByLabel() bool { return false }

// Objects implements proxy.Driver.
func (Driver) Objects(p proxy.Params) []client.Object {
	meta := kube.Meta(p.Namespace, p.Name+suffix, kube.ComponentProxy, p.Labels)
	return []client.Object{
		kube.Service(meta, kube.Selector(meta), false, wire.PortProxyWrites, wire.PortProxyReads),
		kube.Deployment(meta, 1, corev1.PodSpec{
			SecurityContext: kube.PodSecurity(), AutomountServiceAccountToken: ptr.To(false), EnableServiceLinks: ptr.To(false),
			TerminationGracePeriodSeconds: ptr.To[int64](2),
			Containers:                    []corev1.Container{container(p.Images)},
			Volumes:                       []corev1.Volume{kube.ConfigVolume(p.Name, configFile)},
		}),
	}
}

func container(images v1alpha1.ImagesStatus) corev1.Container {
	return corev1.Container{
		Name: "haproxy", Image: images.Proxy, ImagePullPolicy: corev1.PullPolicy(images.PullPolicy),
		Command: []string{"haproxy", "-db", "-f", wire.ConfigDir + "/" + configFile},
		Ports: []corev1.ContainerPort{
			{Name: "writes", ContainerPort: wire.PortProxyWrites},
			{Name: "reads", ContainerPort: wire.PortProxyReads},
			{Name: "stats", ContainerPort: wire.PortProxyStats},
		},
		ReadinessProbe:  kube.HTTPProbe("/healthz", wire.PortProxyStats, 2),
		SecurityContext: kube.ContainerSecurity(),
		Resources:       kube.Requests("10m", "32Mi", "256Mi"),
		VolumeMounts:    []corev1.VolumeMount{kube.Mount("config", wire.ConfigDir)},
	}
}
