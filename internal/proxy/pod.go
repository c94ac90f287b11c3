package proxy

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"replab.dev/internal/kube"
	"replab.dev/internal/wire"
)

// suffix of the names of the objects of a proxy that runs in a pod.
const suffix = "-proxy"

// PodPaths are the ways to the nodes through a proxy that runs in a pod. The seed goes as the writes do.
func PodPaths(p Params) Paths {
	host := p.Name + suffix + "." + p.Namespace + ".svc." + p.ClusterDomain
	writes := wire.Endpoint{Host: host, Port: wire.PortProxyWrites}
	return Paths{Writes: writes, Reads: wire.Endpoint{Host: host, Port: wire.PortProxyReads}, Seed: writes}
}

// Pod is what differs between proxies that run in a pod.
type Pod struct {
	Container corev1.Container // without image, ports and security context
	Volumes   []corev1.Volume
	Init      []corev1.Container
	Metrics   bool // the port of figures is called as monitors know it
}

// PodObjects run a proxy in a pod, behind a Service.
func PodObjects(p Params, pod Pod) []kube.Object {
	meta := kube.Meta(p.Namespace, p.Name+suffix, kube.ComponentProxy, p.Labels)
	c := pod.Container
	c.Image, c.ImagePullPolicy = p.Images.Proxy, corev1.PullPolicy(p.Images.PullPolicy)
	c.SecurityContext, c.ReadinessProbe = kube.ContainerSecurity(), kube.Patient(c.ReadinessProbe)
	stats := "stats"
	if pod.Metrics {
		stats = wire.MetricsPortName
	}
	c.Ports = []corev1.ContainerPort{
		{Name: "writes", ContainerPort: wire.PortProxyWrites},
		{Name: "reads", ContainerPort: wire.PortProxyReads},
		{Name: stats, ContainerPort: wire.PortProxyStats},
	}
	return []kube.Object{
		kube.Service(meta, kube.Selector(meta), false, wire.PortProxyWrites, wire.PortProxyReads),
		kube.Deployment(meta, 1, corev1.PodSpec{
			SecurityContext: kube.PodSecurity(), AutomountServiceAccountToken: ptr.To(false), EnableServiceLinks: ptr.To(false),
			TerminationGracePeriodSeconds: ptr.To[int64](2),
			InitContainers:                pod.Init, Containers: []corev1.Container{c}, Volumes: pod.Volumes,
		}),
	}
}
