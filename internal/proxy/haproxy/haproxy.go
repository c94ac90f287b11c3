// Package haproxy follows the roles that the nodes report of themselves, by HTTP checks.
package haproxy

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"replab.dev/api/v1alpha1"
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

// maxSessions at once.
const maxSessions = 4000

// What decides beside routing.check how soon a failure is noticed. Nothing is sent to a server twice.
const (
	retries        = "0"
	connectTimeout = 2 * time.Second
	checkTimeout   = time.Second // until a check that is connected has its answer
	holdNames      = "1s"        // for which a node's address is believed
)

// longer is a timeout where nodes are at a distance: each waits for one round trip.
func longer(timeout time.Duration, p proxy.Params) string {
	if ms := (timeout + p.RoundTrip).Milliseconds(); ms%1000 != 0 {
		return fmt.Sprintf("%dms", ms)
	}
	return fmt.Sprintf("%ds", int64((timeout + p.RoundTrip).Seconds()))
}

// servers of a backend.
func servers(p proxy.Params) string {
	var lines strings.Builder
	for _, n := range p.Nodes {
		fmt.Fprintf(&lines, "  server %s %s:%d check port %d\n", n.Name, n.Host, p.Routes.Port, p.Routes.CheckPort)
	}
	return lines.String()
}

// oneOfSeveral sends all writes to the first node, and to the next one once that is lost. There they stay: a node that is back takes none.
//
// The one entry that is in use says where. Each new session also holds an entry of its own until the server answers, and a full table drops the one
// in use: the next writes would go back to the first node. So the table has room for all sessions at once.
func oneOfSeveral(servers string) string {
	first, others, _ := strings.Cut(servers, "\n")
	return fmt.Sprintf("  stick-table type integer size %d\n  stick on int(1)\n%s\n%s", 2*maxSessions, first, strings.ReplaceAll(others, "\n", " backup\n"))
}

// config follows the roles that agents report. A node that loses its role loses its sessions. Without a replica the primary serves the reads.
func config(p proxy.Params) string {
	check, readers := p.Spec.Check, servers(p)
	writers := readers
	if p.Routes.Several && p.Spec.Writes != v1alpha1.WritesAll {
		writers = oneOfSeveral(readers)
	}
	backend := func(name, path, servers string) string {
		return fmt.Sprintf(`backend %s
  balance leastconn
  option httpchk OPTIONS %s
  http-check expect status 200
  default-server inter %dms fastinter %dms fall %d rise %d on-marked-down shutdown-sessions resolvers cluster init-addr libc,none
%s
`, name, path, check.IntervalMilliseconds, check.IntervalMilliseconds, check.Fall, check.Rise, servers)
	}
	return fmt.Sprintf(`global
  maxconn %d

resolvers cluster
  parse-resolv-conf
  hold valid %s
  hold nx 1s
  timeout resolve 500ms
  timeout retry 500ms

defaults
  mode tcp
  retries %s
  timeout connect %s
  timeout check %s
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
  maxconn 100
  bind :%d
  timeout client 10s
  monitor-uri /healthz
  http-request use-service prometheus-exporter if { path /metrics }
`, maxSessions, holdNames, retries, longer(connectTimeout, p), longer(checkTimeout, p), wire.PortProxyWrites, wire.PortProxyReads, backend("primary", p.Routes.WriterPath, writers),
		backend("replicas", p.Routes.ReaderPath, readers),
		wire.PortProxyStats)
}
