package proxysql

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/proxy"
	"replab.dev/internal/topology"
	"replab.dev/internal/wire"
)

func params(change func(*proxy.Params)) proxy.Params {
	p := proxy.Params{
		Name: "x", Namespace: "ns", ClusterDomain: "cluster.local", Images: v1alpha1.ImagesStatus{Replab: "replab:1", Proxy: "proxysql:1"},
		Spec:   v1alpha1.RoutingSpec{Check: v1alpha1.RoutingCheck{IntervalMilliseconds: 250, Fall: 2, Rise: 1}},
		Nodes:  []wire.Node{{Name: "x-db-0", Host: "n0"}, {Name: "x-db-1", Host: "n1"}, {Name: "x-db-2", Host: "n2"}},
		Routes: topology.Routes{Port: 3306}, ReadsReplicas: true,
	}
	if change != nil {
		change(&p)
	}
	return p
}

func retrying(p *proxy.Params) { p.Spec.ProxySQL = &v1alpha1.ProxySQLSpec{QueryRetries: 1} }

func galera(p *proxy.Params) { p.Routes.Sign = topology.SignMembership }

func file(p proxy.Params) string { return files(p)[templateFile] }

func TestNothingIsSentTwiceUnlessItIsAskedFor(t *testing.T) {
	for _, c := range []struct {
		name    string
		change  func(*proxy.Params)
		retries string
		notSent []uint16
		hides   bool
	}{
		{"by default", nil, "query_retries_on_failure=0\n", []uint16{9001}, false},
		{"when asked for", retrying, "query_retries_on_failure=1\n", nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := params(c.change)
			if text := file(p); !strings.Contains(text, c.retries) || regexp.MustCompile(`[^_]retries=`).MatchString(text) {
				t.Errorf("want %s in\n%s", c.retries, text)
			}
			// What may be sent again is no promise, and comes from whom nobody knows.
			if paths := paths(p); cmp.Diff(c.notSent, paths.NotSent) != "" || paths.SendsTwice != c.hides {
				t.Errorf("paths are %+v", paths)
			}
			// Asking for a variable keeps a connection on its server, which then has nothing sent again.
			if shared := strings.Contains(file(p), "multiplex=2"); shared != c.hides {
				t.Errorf("connections are shared: %t\n%s", shared, file(p))
			}
		})
	}
}

// statements that the app and the probe send, as the proxy reads them: with ? for values.
var statements = []struct {
	port      int
	statement string
	to        int
}{
	{wire.PortProxyWrites, "INSERT INTO users (write_id, first_name, last_name, birthdate, biography, city, password) VALUES (?,?,?,?,?,?,?)", writers},
	{wire.PortProxyWrites, "INSERT INTO probe_writes (id, payload) VALUES (?,?)", writers},
	{wire.PortProxyWrites, "SELECT @@hostname", writers},
	{wire.PortProxyReads, "SELECT @@hostname", readers},
	{wire.PortProxyReads, "SELECT id, first_name, last_name, birthdate, biography, city FROM users WHERE id = ?", readers},
	{wire.PortProxyReads, "SELECT id, first_name, last_name, birthdate, biography, city FROM users FORCE INDEX (name) WHERE last_name LIKE ? ESCAPE ? ORDER BY id LIMIT ?", readers},
	{wire.PortProxyReads, "SELECT password FROM users WHERE id = ?", readers},
	{wire.PortProxyWrites, "SELECT * FROM `users`", readers}, // an app of the user's own, which leaves the split to the proxy
	{wire.PortProxyWrites, "SELECT id FROM users WHERE id = ? FOR UPDATE", writers},
	{wire.PortProxyReads, "select id from users where id = ? for share", writers},
	{wire.PortProxyWrites, "UPDATE users SET city = ? WHERE id IN (SELECT id FROM users WHERE id = ?)", writers},
	{wire.PortProxyWrites, "SELECT * FROM users_of_another", writers},
	{wire.PortProxyWrites, "SELECT GTID_SUBTRACT(?,@@GLOBAL.gtid_executed)", writers},
	{wire.PortProxyWrites, "BEGIN", writers},
}

var row = regexp.MustCompile(`rule_id=\d+, active=1, match_digest="(.*)", destination_hostgroup=(\d), apply=1(, proxy_port=(\d+))?`)

// to is where a statement goes by the rules of a file: the first that matches decides, else the account's default.
func to(text string, port int, statement string) int {
	for _, r := range row.FindAllStringSubmatch(text, -1) {
		if (r[4] == "" || r[4] == map[int]string{wire.PortProxyWrites: "3306", wire.PortProxyReads: "3307"}[port]) &&
			regexp.MustCompile("(?i)"+r[1]).MatchString(statement) {
			return int(r[2][0] - '0')
		}
	}
	return writers
}

func TestReadsOfUsersGoToTheReplicasAndAllElseToTheWriter(t *testing.T) {
	for name, change := range map[string]func(*proxy.Params){"nothing sent twice": nil, "sent again": retrying} {
		text := file(params(change))
		for _, s := range statements {
			if got := to(text, s.port, s.statement); got != s.to {
				t.Errorf("%s: %s at port %d goes to hostgroup %d, want %d\n%s", name, s.statement, s.port, got, s.to, text)
			}
		}
	}
	text := file(params(func(p *proxy.Params) { p.ReadsReplicas = false }))
	for _, s := range statements {
		if got := to(text, s.port, s.statement); got != writers {
			t.Errorf("reads: Primary: %s goes to hostgroup %d", s.statement, got)
		}
	}
}

func TestWhoIsTheWriterIsSeenAtTheServers(t *testing.T) {
	text := file(params(nil))
	for _, want := range []string{
		`{ address="n0", port=3306, hostgroup=1, weight=1 },`, `{ address="n2", port=3306, hostgroup=1, weight=1 }` + "\n",
		`mysql_replication_hostgroups:`, `{ writer_hostgroup=0, reader_hostgroup=1, check_type="read_only" }`,
		"monitor_read_only_interval=250\n", "monitor_read_only_max_timeout_count=2\n", "monitor_writer_is_also_reader=false\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
}

func TestGalerasWriterIsTheFirstFitMember(t *testing.T) {
	for writes, want := range map[v1alpha1.WriteTarget]string{
		v1alpha1.WritesPrimary: "max_writers=1, writer_is_also_reader=2,",
		v1alpha1.WritesAll:     "max_writers=3, writer_is_also_reader=1,",
	} {
		text := file(params(func(p *proxy.Params) {
			galera(p)
			p.Spec.Writes = writes
		}))
		for _, want := range []string{want, "mysql_galera_hostgroups:", `{ address="n0", port=3306, hostgroup=0, weight=1000 },`, `{ address="n2", port=3306, hostgroup=0, weight=998 }`, "monitor_galera_healthcheck_interval=250\n"} {
			if !strings.Contains(text, want) {
				t.Errorf("writes %s: no %s in\n%s", writes, want, text)
			}
		}
		if strings.Contains(text, "replication_hostgroups") || strings.Contains(text, "read_only") {
			t.Errorf("members are asked for what they are not\n%s", text)
		}
	}
}

func TestChecksAreAsTheSpecSaysAndTheResultsTell(t *testing.T) {
	p := params(func(p *proxy.Params) {
		p.Spec.Check = v1alpha1.RoutingCheck{IntervalMilliseconds: 1000, Fall: 5, Rise: 1}
	})
	text, settings := file(p), settings(p)
	if settings["monitor_ping_interval"] != "1000" || settings["monitor_ping_max_failures"] != "5" || settings["monitor_read_only_interval"] != "1000" {
		t.Errorf("settings are %v", settings)
	}
	for name, value := range settings {
		if !strings.Contains(text, "\n  "+name+"="+value+"\n") {
			t.Errorf("the results tell of %s=%s, which is not in\n%s", name, value, text)
		}
	}
}

// TestTimeoutsWaitForTheRoundTrips: nodes at a distance would else never be found.
func TestTimeoutsWaitForTheRoundTrips(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*proxy.Params)
		want   map[string]string
	}{
		"at no distance": {nil, map[string]string{
			"monitor_ping_timeout": "500", "monitor_read_only_timeout": "500", "connect_timeout_server": "1000", "connect_timeout_server_max": "2000", "monitor_connect_timeout": "",
		}},
		"87 ms away": {func(p *proxy.Params) { p.RoundTrip = 87 * time.Millisecond }, map[string]string{
			"monitor_ping_timeout": "587", "monitor_read_only_timeout": "587", "connect_timeout_server": "1435", "connect_timeout_server_max": "2870", "monitor_connect_timeout": "1035",
		}},
		"Galera's members": {func(p *proxy.Params) { galera(p); p.RoundTrip = time.Second }, map[string]string{"monitor_galera_healthcheck_timeout": "1500"}},
	} {
		settings := settings(params(c.change))
		for variable, want := range c.want {
			if settings[variable] != want {
				t.Errorf("%s: %s is %q, want %q", name, variable, settings[variable], want)
			}
		}
	}
}

func TestPasswordsAreInNoConfigMap(t *testing.T) {
	text := file(params(nil))
	passwords := regexp.MustCompile(`(?m)(password="|credentials="replab:)([^"]*)"`).FindAllStringSubmatch(text, -1)
	if len(passwords) != 4 {
		t.Fatalf("found %q in\n%s", passwords, text)
	}
	mounted := map[string]bool{}
	for _, a := range accounts() {
		mounted["@secret:"+a+"@"] = true
	}
	for _, p := range passwords {
		if !mounted[p[2]] {
			t.Errorf("%s is not the place of a mounted secret", p[0])
		}
	}
}

func TestTheSeedGoesPastIt(t *testing.T) {
	paths := paths(params(nil))
	want := proxy.Paths{
		Writes: wire.Endpoint{Host: "x-proxy.ns.svc.cluster.local", Port: wire.PortProxyWrites},
		Reads:  wire.Endpoint{Host: "x-proxy.ns.svc.cluster.local", Port: wire.PortProxyReads},
		Seed:   wire.Endpoint{Host: "n0", Port: 3306}, NotSent: []uint16{9001},
	}
	if diff := cmp.Diff(want, paths); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestWhatItWritesIsInMemory: its configuration and its database hold passwords.
func TestWhatItWritesIsInMemory(t *testing.T) {
	for _, o := range objects(params(nil)) {
		d, ok := o.(*appsv1.Deployment)
		if !ok {
			continue
		}
		inMemory := map[string]bool{}
		for _, v := range d.Spec.Template.Spec.Volumes {
			inMemory[v.Name] = v.EmptyDir != nil && v.EmptyDir.Medium == corev1.StorageMediumMemory
		}
		writable := 0
		for _, m := range d.Spec.Template.Spec.Containers[0].VolumeMounts {
			if m.ReadOnly {
				continue
			}
			writable++
			if !inMemory[m.Name] || m.MountPath != runDir {
				t.Errorf("it may write to %s at %s", m.Name, m.MountPath)
			}
		}
		if writable != 1 {
			t.Errorf("it may write to %d places", writable)
		}
		return
	}
	t.Fatal("no Deployment")
}
