// Package proxy has what may stand between app and nodes. A driver is pure: it names its objects and files, and the app's way to the nodes.
package proxy

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/kube"
	"replab.dev/internal/topology"
	"replab.dev/internal/wire"
)

// Driver is one kind of proxy.
type Driver interface {
	// Traits are the same in every experiment.
	Traits() Traits
	// System is what is deployed, and what others must know of it.
	System(Params) System
}

// Traits of a kind of proxy.
type Traits struct {
	// NeedsImage: System.Objects run Params.Images.Proxy.
	NeedsImage bool
	// Metrics: Prometheus may ask its pod at wire.PortProxyStats, which allows nothing else.
	Metrics bool
	// RolesByLabel: nodes are found by labels of their pods, which the topology keeps current.
	RolesByLabel bool
}

// System is the proxy of one experiment.
type System struct {
	Paths Paths
	// Objects run it.
	Objects []kube.Object
	// Files are the configuration files of its processes, by name, for the experiment's ConfigMap.
	Files map[string]string
	// Settings decide when it notices a node's state, and what it does with a statement. The results show them.
	Settings map[string]string
}

// Paths lead to the nodes.
type Paths struct {
	Writes wire.Endpoint // of the app, and of the probe of the lag
	Reads  wire.Endpoint // of the app
	Seed   wire.Endpoint // by which the users are loaded, while the first node is the writer
	// NotSent are the numbers of errors that certainly are the proxy's own, which has sent nothing of a statement to any server.
	NotSent []uint16
	// SendsTwice: a statement whose server was lost may be sent to another one.
	SendsTwice bool
}

// Params are what a driver builds from.
type Params struct {
	Name      string // of the experiment; object names begin with it
	Namespace string
	Labels    map[string]string // of every object
	Spec      v1alpha1.RoutingSpec
	Nodes     []wire.Node
	// Routes are how the topology has its nodes found.
	Routes topology.Routes
	Images v1alpha1.ImagesStatus
	// RoundTrip is the longest between the proxy and a node, by topology.links: timeouts are longer by what they have to wait for it.
	RoundTrip time.Duration
	// ReadsReplicas: reads go elsewhere than writes.
	ReadsReplicas bool
	// ClusterDomain is the DNS suffix of Services, such as cluster.local.
	ClusterDomain string
}

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
	spec := corev1.PodSpec{
		SecurityContext: kube.PodSecurity(), AutomountServiceAccountToken: ptr.To(false), EnableServiceLinks: ptr.To(false),
		TerminationGracePeriodSeconds: ptr.To[int64](2),
		InitContainers:                pod.Init, Containers: []corev1.Container{c}, Volumes: pod.Volumes,
	}
	kube.Measured(&spec, p.Images)
	return []kube.Object{
		kube.Service(meta, kube.Selector(meta), false, wire.PortProxyWrites, wire.PortProxyReads, wire.PortMeasure),
		kube.Deployment(meta, 1, spec),
	}
}
