package plan

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/kube"
	"replab.dev/internal/wire"
)

// ComponentProxy and ComponentSocial label the clients of the database: whom a partition from Clients cuts off.
// ComponentWitness labels the witness, which no fault hits.
const (
	ComponentProxy   = "proxy"
	ComponentSocial  = "social"
	ComponentWitness = "witness"

	proxySuffix = "-proxy"
	haproxyFile = "haproxy.cfg"
)

func (b *builder) usesHAProxy() bool { return b.spec.Routing.Proxy == v1alpha1.ProxyHAProxy }

func (b *builder) proxyObjects() []client.Object {
	if !b.usesHAProxy() {
		return nil
	}
	meta := kube.Meta(b.Namespace, b.Name+proxySuffix, ComponentProxy, b.Labels)
	return []client.Object{
		kube.Service(meta, kube.Selector(meta), false, wire.PortProxyWrites, wire.PortProxyReads),
		deployment(meta, 1, corev1.PodSpec{
			SecurityContext: kube.PodSecurity(), AutomountServiceAccountToken: ptr.To(false), EnableServiceLinks: ptr.To(false),
			TerminationGracePeriodSeconds: ptr.To[int64](2),
			Containers:                    []corev1.Container{b.haproxyContainer()},
			Volumes:                       []corev1.Volume{kube.ConfigVolume(b.Name, haproxyFile)},
		}),
	}
}

func (b *builder) haproxyContainer() corev1.Container {
	return corev1.Container{
		Name: "haproxy", Image: b.Images.HAProxy, ImagePullPolicy: corev1.PullPolicy(b.Images.PullPolicy),
		Command: []string{"haproxy", "-db", "-f", wire.ConfigDir + "/" + haproxyFile},
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

// haproxyConfig follows the roles that the nodes report of themselves. A node that loses its role loses its sessions
// too: a client of an old primary must not stay on it. Reads go to the primary when no replica is left.
func (b *builder) haproxyConfig() string {
	routes := b.driver.Routes(b.Params)
	var servers strings.Builder
	for _, n := range b.driver.Nodes(b.Params) {
		fmt.Fprintf(&servers, "  server %s %s:%d check port %d\n", n.Name, n.Host, routes.Port, routes.CheckPort)
	}
	backend := func(name, path string) string {
		return fmt.Sprintf(`backend %s
  balance leastconn
  option httpchk GET %s
  http-check expect status 200
  default-server inter 250ms fastinter 250ms fall 2 rise 1 on-marked-down shutdown-sessions resolvers cluster init-addr libc,none
%s
`, name, path, servers.String())
	}
	return fmt.Sprintf(`global
  maxconn 4000

resolvers cluster
  parse-resolv-conf
  hold valid 1s
  hold nx 1s
  timeout resolve 500ms
  timeout retry 500ms

defaults
  mode tcp
  retries 0
  timeout connect 2s
  timeout check 1s
  timeout client 1h
  timeout server 1h

frontend writes
  bind :%d
  default_backend primary

frontend reads
  bind :%d
  use_backend replicas if { nbsrv(replicas) gt 0 }
  default_backend primary

%s%sfrontend stats
  mode http
  bind :%d
  timeout client 10s
  monitor-uri /healthz
  http-request use-service prometheus-exporter if { path /metrics }
`, wire.PortProxyWrites, wire.PortProxyReads, backend("primary", routes.PrimaryPath), backend("replicas", routes.ReplicaPath),
		wire.PortProxyStats)
}

func deployment(meta metav1.ObjectMeta, replicas int32, pod corev1.PodSpec) *appsv1.Deployment {
	return &appsv1.Deployment{
		ObjectMeta: meta,
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To(replicas), Selector: &metav1.LabelSelector{MatchLabels: kube.Selector(meta)},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: meta.Labels}, Spec: pod},
		},
	}
}
