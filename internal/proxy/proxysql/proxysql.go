// Package proxysql follows what the servers say of themselves by SQL, and reads statements: which are reads that a replica may answer.
package proxysql

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"replab.dev/internal/kube"
	"replab.dev/internal/proxy"
	"replab.dev/internal/wire"
)

const (
	suffix       = "-proxy"
	templateFile = "proxysql.cnf" // without the passwords, which are no ConfigMap's business
	launchFile   = "launch.json"
	runDir       = "/run/replab" // in memory: the whole configuration, and the database that ProxySQL makes of it
)

// maxConnectTimeout is the error by which ProxySQL gives a statement up for which it got no connection to a server. It has sent the
// statement nowhere, unless it was to send it again: MySQL_Session.cpp, handler_again___status_CONNECTING_SERVER.
const maxConnectTimeout = 9001

// Driver implements proxy.Driver.
type Driver struct{}

// Files implements proxy.Driver.
func (Driver) Files(p proxy.Params) map[string]string {
	launch, _ := json.MarshalIndent(wire.LaunchConfig{ // strings alone always marshal
		// --initial has the file win over what an earlier start left; without --no-version-check it calls home.
		Argv:     []string{"proxysql", "-f", "--initial", "--no-version-check", "-c", runDir + "/" + templateFile, "-D", runDir},
		Template: wire.ConfigDir + "/" + templateFile, File: runDir + "/" + templateFile, SecretDir: wire.SecretsDir,
	}, "", "  ")
	return map[string]string{templateFile: config(p), launchFile: string(launch)}
}

// Paths implements proxy.Driver. The seed goes past it, since it refuses LOAD DATA LOCAL.
func (Driver) Paths(p proxy.Params) proxy.Paths {
	host := p.Host(suffix)
	paths := proxy.Paths{
		Writes: wire.Endpoint{Host: host, Port: wire.PortProxyWrites},
		Reads:  wire.Endpoint{Host: host, Port: wire.PortProxyReads},
		Seed:   wire.Endpoint{Host: p.Nodes[0].Host, Port: p.Routes.Port},
	}
	if retries(p) > 0 {
		paths.SendsTwice = true
	} else {
		paths.NotSent = []uint16{maxConnectTimeout}
	}
	return paths
}

// NeedsImage implements proxy.Driver.
func (Driver) NeedsImage() bool { return true }

// RolesByLabel implements proxy.Driver: the servers are asked.
func (Driver) RolesByLabel() bool { return false }

// Objects implements proxy.Driver.
func (Driver) Objects(p proxy.Params) []client.Object {
	meta := kube.Meta(p.Namespace, p.Name+suffix, kube.ComponentProxy, p.Labels)
	return []client.Object{
		kube.Service(meta, kube.Selector(meta), false, wire.PortProxyWrites, wire.PortProxyReads),
		kube.Deployment(meta, 1, corev1.PodSpec{
			SecurityContext: kube.PodSecurity(), AutomountServiceAccountToken: ptr.To(false), EnableServiceLinks: ptr.To(false),
			TerminationGracePeriodSeconds: ptr.To[int64](2),
			InitContainers:                []corev1.Container{kube.CopyContainer(p.Images)},
			Containers:                    []corev1.Container{container(p)},
			Volumes: []corev1.Volume{
				kube.ConfigVolume(p.Name, launchFile, templateFile),
				kube.SecretsVolume(p.Name, accounts()...),
				kube.BinVolume(), kube.EmptyDir("run", corev1.StorageMediumMemory, "64Mi"),
			},
		}),
	}
}

func container(p proxy.Params) corev1.Container {
	return corev1.Container{
		Name: "proxysql", Image: p.Images.Proxy, ImagePullPolicy: corev1.PullPolicy(p.Images.PullPolicy),
		Command: []string{wire.BinDir + "/replab", "launch", "--config", wire.ConfigDir + "/" + launchFile},
		Ports: []corev1.ContainerPort{
			{Name: "writes", ContainerPort: wire.PortProxyWrites},
			{Name: "reads", ContainerPort: wire.PortProxyReads},
			{Name: "stats", ContainerPort: wire.PortProxyStats},
		},
		ReadinessProbe: &corev1.Probe{ // a client of its own protocol that says nothing would be logged each time
			ProbeHandler:  corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt(wire.PortProxyStats)}},
			PeriodSeconds: 2, TimeoutSeconds: 2, FailureThreshold: 3,
		},
		SecurityContext: kube.ContainerSecurity(),
		Resources:       kube.Requests("10m", "96Mi", "384Mi"),
		VolumeMounts: []corev1.VolumeMount{
			kube.Mount("config", wire.ConfigDir), kube.Mount("secrets", wire.SecretsDir),
			kube.Mount(kube.BinVolume().Name, wire.BinDir), kube.MountWritable("run", runDir),
		},
	}
}
