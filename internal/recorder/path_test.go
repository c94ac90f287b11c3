package recorder

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/load/k6"
	"replab.dev/internal/seed"
	"replab.dev/internal/wire"
	"replab.dev/test/benchmark"
	"replab.dev/test/freeport"
	"replab.dev/test/unit"
)

// path is what the load of an experiment goes through, each part a process of its own: the app and what is behind it. A
// recorder is put before it for one round at a time.
type path struct {
	t *testing.T
	database
	k6        string
	script    string
	writes    wire.Endpoint
	reads     wire.Endpoint
	app       wire.Endpoint
	processes map[string][]int // of the app and what is behind it, by part: of each server the first one
	// instruments are the processors of k6 and the recorder, nil for all.
	instruments *unix.CPUSet
}

const seededUsers = 10_000

// Parts of a path.
const (
	partK6       = "k6"
	partRecorder = "recorder"
	partApp      = "app"
	partProxy    = "proxy"
	partServers  = "servers"
)

// apart gives the two halves processors of their own, as on a cluster with nodes enough.
func (p *path) apart() {
	p.t.Helper()
	instruments, system := benchmark.Halves(p.t)
	for _, pids := range p.processes {
		for _, pid := range pids {
			benchmark.PinTree(p.t, pid, system)
		}
	}
	p.instruments = &instruments
}

func newPath(t *testing.T, d database) *path {
	t.Helper()
	p := &path{t: t, database: d, k6: findK6(t), processes: map[string][]int{partServers: d.servers}, script: filepath.Join(t.TempDir(), "load.js")}
	if err := os.WriteFile(p.script, []byte(k6.Script()), 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

// findK6 and findHAProxy look below .local, and on the machine.
func findK6(t *testing.T) string {
	t.Helper()
	unit.Leave(t)
	for _, name := range []string{os.Getenv("REPLAB_K6"), filepath.Join(local(), "bin", "k6"), "k6"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	const message = "no k6 here: run `make local-bin`, install it, or name one in REPLAB_K6"
	if os.Getenv("REPLAB_REQUIRE_K6") == "" && os.Getenv(benchmark.Env) == "" {
		t.Skip(message)
	}
	t.Fatal(message)
	return ""
}

func findHAProxy(t *testing.T) []string {
	root := filepath.Join(local(), "rootfs", "haproxy")
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

func local() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..", ".local")
}

// begin seeds the users and starts the app.
func (p *path) begin(writes, reads wire.Endpoint) {
	p.t.Helper()
	p.seed(writes, reads)
	p.startApp(v1alpha1.PasswordSHA256)
}

func (p *path) seed(writes, reads wire.Endpoint) {
	p.t.Helper()
	p.writes, p.reads = writes, reads
	err := seed.Run(p.t.Context(), wire.SeedConfig{
		Engine: p.engine, Writes: writes, SecretDir: p.secrets, Users: seededUsers, Seed: 1, Locale: "en", PasswordHash: v1alpha1.PasswordSHA256,
	}, p.loader)
	if err != nil {
		p.t.Fatal(err)
	}
	p.catchUp()
}

func (p *path) startApp(hash v1alpha1.PasswordHash) {
	p.t.Helper()
	app, social := startSocial(p.t, wire.SocialConfig{
		Engine: p.engine, SecretDir: p.secrets, Writes: p.writes, Reads: p.reads, PasswordHash: hash,
	})
	p.app, p.processes = app, maps.Clone(p.processes)
	p.processes[partApp] = []int{social.Process.Pid}
}

// startHAProxy routes to the servers as the plan's configuration does while every node is healthy.
func (p *path) startHAProxy(argv []string) (writes, reads wire.Endpoint) {
	p.t.Helper()
	var replicas string
	for _, n := range p.nodes[min(1, len(p.nodes)-1):] { // a single server takes the reads too
		replicas += fmt.Sprintf("  server %s %s\n", n.Name, n.Host)
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
  server primary %s
listen reads
  bind 127.0.0.1:%d
  balance leastconn
%s`, writes.Port, p.nodes[0].Host, reads.Port, replicas)
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		p.t.Fatal(err)
	}
	cmd := exec.Command(argv[0], append(argv[1:], "-db", "-f", file)...)
	cmd.Stderr = p.t.Output()
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = errors.Join(cmd.Process.Kill(), cmd.Wait()) })
	p.processes[partProxy] = []int{cmd.Process.Pid}
	eventually(p.t, "HAProxy listens", func() bool {
		c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", reads.Port))
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	return writes, reads
}
