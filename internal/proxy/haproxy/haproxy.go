// Package haproxy follows the roles that the nodes report of themselves, by HTTP checks.
package haproxy

import (
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"replab.dev/internal/kube"
	"replab.dev/internal/proxy"
	"replab.dev/internal/wire"
)

const configFile = "haproxy.cfg"

// Driver implements proxy.Driver.
type Driver struct{}

// Files implements proxy.Driver.
func (Driver) Files(p proxy.Params) map[string]string {
	return map[string]string{configFile: config(p)}
}

// Paths implements proxy.Driver.
func (Driver) Paths(p proxy.Params) proxy.Paths { return proxy.PodPaths(p) }

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

// Metrics implements proxy.Driver: its frontend stats knows two paths, and both only read.
func (Driver) Metrics() bool { return true }

// RolesByLabel implements proxy.Driver: the nodes are asked.
func (Driver) RolesByLabel() bool { return false }

// Objects implements proxy.Driver.
func (Driver) Objects(p proxy.Params) []kube.Object {
	return proxy.PodObjects(p, proxy.Pod{
		Container: corev1.Container{
			Name:           "haproxy",
			Command:        []string{"haproxy", "-db", "-f", wire.ConfigDir + "/" + configFile},
			ReadinessProbe: kube.HTTPProbe("/healthz", wire.PortProxyStats, 2),
			Resources:      kube.Requests("10m", "32Mi", "256Mi"),
			VolumeMounts:   []corev1.VolumeMount{kube.Mount("config", wire.ConfigDir)},
		},
		Volumes: []corev1.Volume{kube.ConfigVolume(p.Name, configFile)},
		Metrics: Driver{}.Metrics(),
	})
}
