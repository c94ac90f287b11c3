// Package proxysql follows what the servers say of themselves by SQL, and reads statements: which are reads that a replica may answer.
package proxysql

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/kube"
	"replab.dev/internal/proxy"
	"replab.dev/internal/topology"
	"replab.dev/internal/wire"
)

const (
	templateFile = "proxysql.cnf" // without the passwords, which are no ConfigMap's business
	launchFile   = "launch.json"
	runDir       = "/run/replab" // in memory: the whole configuration, and the database that ProxySQL makes of it
)

// maxConnectTimeout is ProxySQL's error for a statement without a connection to a server, which it sent nowhere (unless it repeated it).
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

// Hostgroups. Who is in which is ProxySQL's own finding, once a server has told of itself.
const (
	writers = iota
	readers
	backupWriters // of Galera: members that could be writers
	offline       // of Galera
)

// clients are the accounts that come through the proxy: the app's, and that of the probe of the lag.
func clients() []string { return []string{wire.AccountApp, wire.AccountProbe} }

// accounts whose passwords the configuration holds.
func accounts() []string { return append(clients(), wire.AccountMonitor) }

func retries(p proxy.Params) int32 {
	if p.Spec.ProxySQL == nil {
		return 0
	}
	return p.Spec.ProxySQL.QueryRetries
}

// A check has an open connection and waits for one answer, also of who opens one and logs in.
const (
	checkTrips   = 1
	connectTrips = 5
)

// monitorConnect is the default of monitor_connect_timeout, in milliseconds.
const monitorConnect = 600

// longer is a timeout in milliseconds where nodes are at a distance, with so many round trips to wait for.
func longer(ms, trips int64, p proxy.Params) string {
	return strconv.FormatInt(ms+trips*p.RoundTrip.Milliseconds(), 10)
}

// settings are the mysql_variables that decide how soon a failure is noticed. Those beyond routing.check are shorter than a failover.
func settings(p proxy.Params) map[string]string {
	interval, fall := strconv.FormatInt(p.Spec.Check.IntervalMilliseconds, 10), strconv.Itoa(int(p.Spec.Check.Fall))
	s := map[string]string{
		"monitor_ping_interval":     interval,
		"monitor_ping_timeout":      longer(500, checkTrips, p),
		"monitor_ping_max_failures": fall,
		// Addresses of pods change: the proxy's own default is to ask after a minute, and to believe an answer for five.
		"monitor_local_dns_cache_ttl":              "1000",
		"monitor_local_dns_cache_refresh_interval": "1000",
		"connect_timeout_server":                   longer(1000, connectTrips, p),
		"connect_timeout_server_max":               longer(2000, 2*connectTrips, p), // a statement for which no server is found fails after that
		"shun_recovery_time_sec":                   "1",
		"poll_timeout":                             "100",
		"query_retries_on_failure":                 strconv.Itoa(int(retries(p))),
	}
	if p.RoundTrip > 0 {
		s["monitor_connect_timeout"] = longer(monitorConnect, connectTrips, p)
	}
	if p.Routes.Sign == topology.SignMembership {
		s["monitor_galera_healthcheck_interval"] = interval
		s["monitor_galera_healthcheck_timeout"] = longer(500, checkTrips, p)
		s["monitor_galera_healthcheck_max_timeout_count"] = fall
	} else {
		s["monitor_read_only_interval"] = interval
		s["monitor_read_only_timeout"] = longer(500, checkTrips, p)
		s["monitor_read_only_max_timeout_count"] = fall
		s["monitor_writer_is_also_reader"] = strconv.FormatBool(p.Routes.Several) // else reads: Replicas would be of the one writer too
	}
	return s
}

// config is ProxySQL's configuration. Its administration listens inside of the pod alone; /metrics has no password, so the network policy closes
// it.
func config(p proxy.Params) string {
	variables := settings(p)
	var timing strings.Builder
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		fmt.Fprintf(&timing, "  %s=%s\n", name, variables[name])
	}
	return fmt.Sprintf(`datadir="%s"

admin_variables=
{
  admin_credentials="replab:@secret:%s@"
  mysql_ifaces="127.0.0.1:6032"
  restapi_enabled=true
  restapi_port=%d
}

mysql_variables=
{
  interfaces="0.0.0.0:%d;0.0.0.0:%d"
  default_authentication_plugin="caching_sha2_password"
  monitor_username="%s"
  monitor_password="@secret:%s@"
  monitor_history=600000
%s}

%s
mysql_users:
(
%s)

mysql_query_rules:
(
%s)
`, runDir, wire.AccountMonitor, wire.PortProxyStats, wire.PortProxyWrites, wire.PortProxyReads,
		wire.AccountMonitor, wire.AccountMonitor, timing.String(), servers(p), users(), rules(p))
}

// servers are all readers at first; the monitor finds the writer. Of Galera's members it is the heaviest that is fit: the first, as the agents name
// too.
func servers(p proxy.Params) string {
	hostgroup, weight := readers, 1
	if p.Routes.Sign == topology.SignMembership {
		hostgroup, weight = writers, 1000
	}
	var rows []string
	for _, n := range p.Nodes {
		rows = append(rows, fmt.Sprintf(`{ address="%s", port=%d, hostgroup=%d, weight=%d }`, n.Host, p.Routes.Port, hostgroup, weight))
		if hostgroup == writers {
			weight--
		}
	}
	text := table("mysql_servers", rows...)
	if hostgroup == readers {
		return text + table("mysql_replication_hostgroups",
			fmt.Sprintf(`{ writer_hostgroup=%d, reader_hostgroup=%d, check_type="read_only" }`, writers, readers))
	}
	most, alsoReaders := 1, 2 // 2: those that could be writers and are not
	if p.Spec.Writes == v1alpha1.WritesAll {
		most, alsoReaders = len(p.Nodes), 1
	}
	return text + table("mysql_galera_hostgroups", fmt.Sprintf(
		`{ writer_hostgroup=%d, backup_writer_hostgroup=%d, reader_hostgroup=%d, offline_hostgroup=%d, max_writers=%d, writer_is_also_reader=%d, max_transactions_behind=%d }`,
		writers, backupWriters, readers, offline, most, alsoReaders, 1_000_000)) // a member that has a queue is a member all the same
}

func users() string {
	var rows strings.Builder
	for i, account := range clients() {
		fmt.Fprintf(&rows, "  { username=\"%s\", password=\"@secret:%s@\", default_hostgroup=%d, default_schema=\"%s\" }%s\n",
			account, account, writers, wire.Database, comma(i, len(clients())))
	}
	return rows.String()
}

// rule sends statements that match to a hostgroup.
type rule struct {
	match string
	port  int // 0: any
	to    int
	more  string
}

// rules send reads of users to the replicas, and all else to the writer. A read connection's question for its server's name must go to the same
// server. Having been asked for a variable, ProxySQL keeps that server and repeats nothing, so the rule is left out where it is to repeat.
func rules(p proxy.Params) string {
	const hostname = "^SELECT @@hostname$"
	mixed := ""
	if retries(p) > 0 {
		mixed = ", multiplex=2"
	}
	all := []rule{{match: "^SELECT .*FOR (UPDATE|SHARE)", to: writers}}
	if p.ReadsReplicas {
		all = append(all,
			rule{match: "^SELECT .*FROM `?" + wire.UsersTable + "`?( |$)", to: readers},
			rule{match: hostname, port: wire.PortProxyReads, to: readers, more: mixed})
	}
	if mixed != "" {
		all = append(all, rule{match: hostname, to: writers, more: mixed})
	}
	var rows strings.Builder
	for i, r := range all {
		if r.port != 0 {
			r.more = fmt.Sprintf(", proxy_port=%d", r.port) + r.more
		}
		fmt.Fprintf(&rows, "  { rule_id=%d, active=1, match_digest=\"%s\", destination_hostgroup=%d, apply=1%s }%s\n", i+1, r.match, r.to, r.more, comma(i, len(all)))
	}
	return rows.String()
}

func table(name string, rows ...string) string {
	var text strings.Builder
	text.WriteString(name + ":\n(\n")
	for i, r := range rows {
		text.WriteString("  " + r + comma(i, len(rows)) + "\n")
	}
	return text.String() + ")\n\n"
}

// comma stands behind every row but the last.
func comma(i, rows int) string {
	if i < rows-1 {
		return ","
	}
	return ""
}
