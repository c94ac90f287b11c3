package witness

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"replab.dev/internal/dataset"
	"replab.dev/internal/k6"
	"replab.dev/internal/mysqltest"
	"replab.dev/internal/protocol"
	"replab.dev/internal/seed"
	"replab.dev/test/benchmark"
)

// path is what the load of an experiment goes through, each part a process of its own: the app and what is behind it. A
// witness is put before it for one round at a time.
type path struct {
	t         *testing.T
	k6        string
	script    string
	servers   []*mysqltest.Server // the primary first
	writes    protocol.Endpoint
	app       protocol.Endpoint
	secrets   string
	processes []int // of the app and what is behind it
}

// What the load is: that of the experiments, as a closed loop.
const (
	pathUsers    = 20
	pathSeconds  = 6
	seededUsers  = 10_000
	pathPairs    = 7
	shownServers = 3
)

// oneServer is the path with the least behind the app: whatever the witness costs shows most.
func oneServer(t *testing.T) *path {
	p := newPath(t, mysqltest.Start(t, "primary"))
	p.begin(p.servers[0].Endpoint(), p.servers[0].Endpoint())
	return p
}

// semiSyncPath is that of experiments/semisync.yaml: HAProxy, a primary and two replicas of which one acknowledges.
func semiSyncPath(t *testing.T) *path {
	haproxy := findHAProxy(t)
	var servers []*mysqltest.Server
	for i := range shownServers {
		servers = append(servers, mysqltest.Start(t, fmt.Sprintf("db-%d", i), mysqltest.SemiSync(1, 10*time.Second)))
	}
	p := newPath(t, servers...)
	for _, replica := range servers[1:] {
		replica.Replicate(servers[0])
	}
	servers[0].Exec("SET GLOBAL rpl_semi_sync_source_enabled=ON")
	writes, reads := p.startHAProxy(haproxy)
	p.begin(writes, reads)
	return p
}

func newPath(t *testing.T, servers ...*mysqltest.Server) *path {
	p := &path{t: t, k6: findK6(t), servers: servers, secrets: mysqltest.SecretDir(t)}
	servers[0].Open()
	for _, s := range servers {
		p.processes = append(p.processes, s.Process().Pid)
	}
	p.script = filepath.Join(t.TempDir(), "load.js")
	if err := os.WriteFile(p.script, []byte(k6.Script()), 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

// findK6 and findHAProxy look for what the lab has, and on the machine.
func findK6(t *testing.T) string {
	for _, name := range []string{filepath.Join(lab(), "bin", "k6"), "k6"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("no k6 here: run `make lab-bin`, or install it")
	return ""
}

func findHAProxy(t *testing.T) []string {
	root := filepath.Join(lab(), "rootfs", "haproxy")
	if dir := os.Getenv("REPLAB_HAPROXY_ROOTFS"); dir != "" {
		root = dir
	}
	linker := filepath.Join(root, "lib64", "ld-linux-x86-64.so.2")
	if _, err := os.Stat(linker); err == nil {
		return []string{linker, "--library-path", filepath.Join(root, "usr/lib/x86_64-linux-gnu"), filepath.Join(root, "usr/sbin/haproxy")}
	}
	path, err := exec.LookPath("haproxy")
	if err != nil {
		t.Skip("no HAProxy here: run `make lab-rootfs`, or install it")
	}
	return []string{path}
}

func lab() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..", ".lab")
}

// begin seeds the users and starts the app.
func (p *path) begin(writes, reads protocol.Endpoint) {
	p.t.Helper()
	p.writes = writes
	err := seed.Run(p.t.Context(), protocol.SeedConfig{
		Engine: "MySQL", Writes: writes, SecretDir: p.secrets, Users: seededUsers, Seed: 1, Locale: "en", PasswordHashCost: 4,
	})
	if err != nil {
		p.t.Fatal(err)
	}
	for _, replica := range p.servers[1:] {
		replica.CatchUp(p.servers[0])
	}
	app, social := startSocial(p.t, writes, reads)
	p.app = app
	p.processes = append(p.processes, social.Process.Pid)
}

// startHAProxy routes to the servers as the plan's configuration does while every node is healthy.
func (p *path) startHAProxy(argv []string) (writes, reads protocol.Endpoint) {
	p.t.Helper()
	var replicas string
	for _, s := range p.servers[1:] {
		replicas += fmt.Sprintf("  server %s 127.0.0.1:%d\n", s.Name, s.Port)
	}
	writes, reads = endpoint(p.t, freeAddress(p.t)), endpoint(p.t, freeAddress(p.t))
	file := filepath.Join(p.t.TempDir(), "haproxy.cfg")
	config := fmt.Sprintf(`global
  maxconn 4000
defaults
  mode tcp
  retries 0
  timeout connect 2s
  timeout client 1h
  timeout server 1h
listen writes
  bind 127.0.0.1:%d
  server primary 127.0.0.1:%d
listen reads
  bind 127.0.0.1:%d
  balance leastconn
%s`, writes.Port, p.servers[0].Port, reads.Port, replicas)
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		p.t.Fatal(err)
	}
	cmd := exec.Command(argv[0], append(argv[1:], "-db", "-f", file)...)
	cmd.Stderr = p.t.Output()
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = errors.Join(cmd.Process.Kill(), cmd.Wait()) })
	p.processes = append(p.processes, cmd.Process.Pid)
	eventually(p.t, "HAProxy listens", func() bool {
		c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", reads.Port))
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	return writes, reads
}

// round is what one run of k6 found.
type round struct {
	perSecond float64 // requests
	cost      float64 // processor time of all processes for one request, in microseconds
	witness   float64 // of that, the witness's own
}

// direct puts the load on the app itself.
func (p *path) direct() round { return p.load(fmt.Sprintf("http://%s:%d", p.app.Host, p.app.Port), 0) }

// through puts a witness between that is fresh, as that of every experiment is.
func (p *path) through(configure func(*protocol.WitnessConfig)) round {
	cfg := protocol.WitnessConfig{
		Namespace: "default", StateMap: "witness", Listen: freeAddress(p.t), ListenControl: freeAddress(p.t),
		App: p.app, Writes: p.writes, SecretDir: p.secrets, LedgerPath: filepath.Join(p.t.TempDir(), "ledger"), Engine: "MySQL",
		Stages: []protocol.Stage{{Name: "steady"}}, DefaultStage: "steady", RequestTimeoutMilliseconds: 15_000,
	}
	configure(&cfg)
	cmd := startProcess(p.t, childConfig, cfg)
	eventually(p.t, "the witness serves", func() bool {
		c, err := net.Dial("tcp", cfg.Listen)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	r := p.load("http://"+cfg.Listen, cmd.Process.Pid)
	if err := errors.Join(cmd.Process.Signal(syscall.SIGTERM), cmd.Wait()); err != nil {
		p.t.Errorf("the witness ended: %v", err)
	}
	return r
}

// probing turns the probes on, at their defaults.
func (p *path) probing(c *protocol.WitnessConfig) {
	for _, s := range p.servers {
		c.Nodes = append(c.Nodes, protocol.Node{Name: s.Name, Host: fmt.Sprintf("127.0.0.1:%d", s.Port)})
	}
	c.SemiSync = true
	c.LagIntervalMilliseconds, c.LagPayloadBytes, c.AvailabilityIntervalMilliseconds = 20, []int64{100}, 20
}

func silent(*protocol.WitnessConfig) {}

// load runs k6 once; witness is the process that is part of the path besides, 0 for none.
func (p *path) load(url string, witness int) round {
	p.t.Helper()
	processes := p.processes
	if witness != 0 {
		processes = append(processes[:len(processes):len(processes)], witness)
	}
	p.restore()
	own := func() time.Duration {
		if witness == 0 {
			return 0
		}
		return benchmark.ProcessorTime(p.t, witness)
	}
	used, ownUsed := benchmark.ProcessorTime(p.t, processes...), own()
	summary, k6 := p.runK6(url)
	used, ownUsed = benchmark.ProcessorTime(p.t, processes...)-used+k6, own()-ownUsed
	n := float64(summary.Requests)
	return round{n / pathSeconds, float64(used.Microseconds()) / n, float64(ownUsed.Microseconds()) / n}
}

// restore takes back what earlier rounds wrote: every round begins on the same tables, and every witness with id 1.
func (p *path) restore() {
	p.t.Helper()
	p.servers[0].Exec(fmt.Sprintf("DELETE FROM social.users WHERE id > %d; TRUNCATE social.probe_writes", seededUsers))
	for _, replica := range p.servers[1:] {
		replica.CatchUp(p.servers[0])
	}
}

// runK6 returns what k6 counted, and the processor time that it used.
func (p *path) runK6(url string) (protocol.K6Summary, time.Duration) {
	p.t.Helper()
	users, err := dataset.New(1, "en")
	if err != nil {
		p.t.Fatal(err)
	}
	config, err := json.Marshal(protocol.LoadConfig{
		Stages: []protocol.LoadStage{{Name: "steady", DurationSeconds: pathSeconds, Users: pathUsers}},
		Mix:    map[string]int{"register": 1, "profile": 1, "search": 1}, Users: seededUsers, Prefixes: users.Prefixes(50),
	})
	if err != nil {
		p.t.Fatal(err)
	}
	file := filepath.Join(p.t.TempDir(), "summary.json")
	cmd := exec.Command(p.k6, "run", "--quiet", "--no-usage-report", "--address=", p.script)
	cmd.Env = append(os.Environ(), protocol.URLEnv+"="+url, protocol.LoadEnv+"="+string(config), protocol.SummaryEnv+"="+file)
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Fatalf("k6: %v\n%s", err, out)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		p.t.Fatal(err)
	}
	summary, err := k6.ParseSummary(text)
	// A read of a user that a replica does not have yet fails, as in an experiment.
	if err != nil || summary.Registered == 0 || summary.FailedRequests > summary.Requests/10 {
		p.t.Fatalf("k6: %d of %d requests failed, %v\n%s", summary.FailedRequests, summary.Requests, err, out)
	}
	return summary, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}
