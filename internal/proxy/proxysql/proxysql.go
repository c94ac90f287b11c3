// Package proxysql follows what the servers say of themselves by SQL, and reads statements: which are reads that a replica may answer.
package proxysql

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"replab.dev/internal/kube"
	"replab.dev/internal/proxy"
	"replab.dev/internal/wire"
)

const (
	templateFile = "proxysql.cnf" // without the passwords, which are no ConfigMap's business
	launchFile   = "launch.json"
	runDir       = "/run/replab" // in memory: the whole configuration, and the database that ProxySQL makes of it
)

// maxConnectTimeout is the error by which ProxySQL gives a statement up for which it got no connection to a server. It has sent the
// statement nowhere, unless it was to send it again: MySQL_Session.cpp, handler_again___status_CONNECTING_SERVER.
const maxConnectTimeout = 9001

// Driver implements proxy.Driver.
type Driver struct{}

// Traits implements proxy.Driver. ProxySQL asks the servers for their roles. Its REST API has no password and can do more than read.
func (Driver) Traits() proxy.Traits { return proxy.Traits{NeedsImage: true} }

// System implements proxy.Driver.
func (Driver) System(p proxy.Params) proxy.System {
	return proxy.System{Paths: paths(p), Objects: objects(p), Files: files(p), Settings: settings(p)}
}

func files(p proxy.Params) map[string]string {
	launch, _ := json.MarshalIndent(wire.LaunchConfig{ // strings alone always marshal
		// --initial has the file win over what an earlier start left; without --no-version-check it calls home.
		Argv:     []string{"proxysql", "-f", "--initial", "--no-version-check", "-c", runDir + "/" + templateFile, "-D", runDir},
		Template: wire.ConfigDir + "/" + templateFile, File: runDir + "/" + templateFile, SecretDir: wire.SecretsDir,
	}, "", "  ")
	return map[string]string{templateFile: config(p), launchFile: string(launch)}
}

// paths of the app go through it. The seed goes past it, since it refuses LOAD DATA LOCAL.
func paths(p proxy.Params) proxy.Paths {
	paths := proxy.PodPaths(p)
	paths.Seed = wire.Endpoint{Host: p.Nodes[0].Host, Port: p.Routes.Port}
	if retries(p) > 0 {
		paths.SendsTwice = true
	} else {
		paths.NotSent = []uint16{maxConnectTimeout}
	}
	return paths
}

func objects(p proxy.Params) []kube.Object {
	return proxy.PodObjects(p, proxy.Pod{
		Container: corev1.Container{
			Name:    "proxysql",
			Command: []string{wire.BinDir + "/replab", "launch", "--config", wire.ConfigDir + "/" + launchFile},
			ReadinessProbe: &corev1.Probe{ // a client of its own protocol that says nothing would be logged each time
				ProbeHandler:  corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt(wire.PortProxyStats)}},
				PeriodSeconds: 2, TimeoutSeconds: 2, FailureThreshold: 3,
			},
			Resources: kube.Requests("10m", "96Mi", "384Mi"),
			VolumeMounts: []corev1.VolumeMount{
				kube.Mount("config", wire.ConfigDir), kube.Mount("secrets", wire.SecretsDir),
				kube.Mount(kube.BinVolume().Name, wire.BinDir), kube.MountWritable("run", runDir),
			},
		},
		Volumes: []corev1.Volume{
			kube.ConfigVolume(p.Name, launchFile, templateFile),
			kube.SecretsVolume(p.Name, accounts()...),
			kube.BinVolume(), kube.EmptyDir("run", corev1.StorageMediumMemory, "64Mi"),
		},
		Init: []corev1.Container{kube.BinaryContainer(p.Images)},
	})
}
