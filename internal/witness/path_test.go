package witness

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"replab.dev/internal/engine/mysql"
	"replab.dev/internal/engine/mysql/mysqltest"
	"replab.dev/internal/load/k6"
	"replab.dev/internal/seed"
	"replab.dev/internal/wire"
	"replab.dev/test/benchmark"
	"replab.dev/test/freeport"
)

// path is what the load of an experiment goes through, each part a process of its own: the app and what is behind it. A
// witness is put before it for one round at a time.
type path struct {
	t         *testing.T
	k6        string
	script    string
	servers   []*mysqltest.Server // the primary first
	writes    wire.Endpoint
	app       wire.Endpoint
	secrets   string
	processes []int // of the app and what is behind it
	// instruments are the processors of k6 and the witness, nil for all.
	instruments *unix.CPUSet
}

const seededUsers = 10_000

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
	for i := range 3 {
		servers = append(servers, mysqltest.Start(t, fmt.Sprintf("db-%d", i), mysqltest.SemiSync(1, 10*time.Second)))
	}
	p := newPath(t, servers...)
	for _, replica := range servers[1:] {
		replica.Replicate(servers[0])
	}
	servers[0].Exec("SET GLOBAL rpl_semi_sync_source_enabled=ON")
	admin := servers[0].DB(wire.AccountAdmin, "")
	eventually(t, "both replicas acknowledge", func() bool {
		var name, clients string
		err := admin.QueryRow("SHOW GLOBAL STATUS LIKE 'Rpl_semi_sync_source_clients'").Scan(&name, &clients)
		return err == nil && clients == "2"
	})
	writes, reads := p.startHAProxy(haproxy)
	p.begin(writes, reads)
	return p
}

// apart gives the two halves processors of their own, as on a cluster with nodes enough.
func (p *path) apart() {
	p.t.Helper()
	instruments, system := benchmark.Halves(p.t)
	for _, pid := range p.processes {
		benchmark.Pin(p.t, pid, system)
	}
	p.instruments = &instruments
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
	for _, name := range []string{os.Getenv("REPLAB_K6"), filepath.Join(lab(), "bin", "k6"), "k6"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	const message = "no k6 here: run `make lab-bin`, install it, or name one in REPLAB_K6"
	if os.Getenv("REPLAB_REQUIRE_K6") == "" && os.Getenv(benchmark.Env) == "" {
		t.Skip(message)
	}
	t.Fatal(message)
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
		t.Fatal("no HAProxy here: run `make bench-processes`, or install it")
	}
	return []string{path}
}

func lab() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..", ".lab")
}

// begin seeds the users and starts the app.
func (p *path) begin(writes, reads wire.Endpoint) {
	p.t.Helper()
	p.writes = writes
	err := seed.Run(p.t.Context(), wire.SeedConfig{
		Engine: "MySQL", Writes: writes, SecretDir: p.secrets, Users: seededUsers, Seed: 1, Locale: "en", PasswordHashCost: 4,
	}, seed.Opens(mysql.NewLoader))
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
func (p *path) startHAProxy(argv []string) (writes, reads wire.Endpoint) {
	p.t.Helper()
	var replicas string
	for _, s := range p.servers[1:] {
		replicas += fmt.Sprintf("  server %s 127.0.0.1:%d\n", s.Name, s.Port)
	}
	writes, reads = endpoint(p.t, freeport.Address(p.t)), endpoint(p.t, freeport.Address(p.t))
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
