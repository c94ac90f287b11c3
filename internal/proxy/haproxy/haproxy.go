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

// Traits implements proxy.Driver. HAProxy asks the nodes for their roles. Its frontend stats knows two paths, and both only read.
func (Driver) Traits() proxy.Traits { return proxy.Traits{NeedsImage: true, Metrics: true} }

// System implements proxy.Driver.
func (Driver) System(p proxy.Params) proxy.System {
	return proxy.System{
		Paths: proxy.PodPaths(p), Objects: objects(p), Files: map[string]string{configFile: config(p)}, Settings: settings(p),
	}
}

func settings(p proxy.Params) map[string]string {
	check := p.Spec.Check
	return map[string]string{
		"inter": fmt.Sprintf("%dms", check.IntervalMilliseconds), "fall": strconv.Itoa(int(check.Fall)), "rise": strconv.Itoa(int(check.Rise)),
		"retries": retries, "timeout connect": longer(connectTimeout, p), "timeout check": longer(checkTimeout, p), "hold valid": holdNames,
	}
}

func objects(p proxy.Params) []kube.Object {
	return proxy.PodObjects(p, proxy.Pod{
		Container: corev1.Container{
			Name:           "haproxy",
			Command:        []string{"haproxy", "-db", "-f", wire.ConfigDir + "/" + configFile},
			ReadinessProbe: kube.HTTPProbe("/healthz", wire.PortProxyStats, 2),
			Resources:      kube.Requests("10m", "32Mi", "256Mi"),
			VolumeMounts:   []corev1.VolumeMount{kube.Mount("config", wire.ConfigDir)},
		},
		Volumes: []corev1.Volume{kube.ConfigVolume(p.Name, configFile)},
		Metrics: Driver{}.Traits().Metrics,
	})
}
