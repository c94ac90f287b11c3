// Package e2e proves on the machine itself that the cluster comes up on an engine of
// its own, heals, and leaves nothing behind. It runs only when asked to.
package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"replab.dev/hack/local/internal/layout"
	"replab.dev/hack/local/internal/proc"
)

const enable = "LOCAL_E2E"

// node is the container of the cluster's only node.
const node = "replab-control-plane"

// TestCluster is one test, since each part continues where the one before ended.
func TestCluster(t *testing.T) {
	if os.Getenv(enable) == "" {
		t.Skip("takes a cluster of this machine up and down: set " + enable + "=1 to run it")
	}
	if exec.Command("docker", "version").Run() == nil {
		t.Fatal("a Docker engine answers: none of our own is started beside it")
	}
	l, err := layout.Find()
	if err != nil {
		t.Fatal(err)
	}
	m := machine{T: t, at: l, binary: build(t)}
	if len(processes(l.Engine())) > 0 {
		t.Fatal("the cluster is up: take it down first, with make cluster-down")
	}
	// Installs Debian's packages if need be: what they leave is theirs.
	m.local("engine", "up")
	m.local("engine", "down")
	// As an engine that ended left it, if none did.
	if exec.Command("iptables", "-t", "nat", "-N", "DOCKER").Run() == nil {
		t.Cleanup(func() { m.run("iptables", "-t", "nat", "-X", "DOCKER") })
	}
	rule := []string{"DOCKER", "-s", "192.0.2.1/32", "-j", "RETURN"}
	m.run("iptables", slices.Concat([]string{"-t", "nat", "-A"}, rule)...)
	t.Cleanup(func() { m.run("iptables", slices.Concat([]string{"-t", "nat", "-D"}, rule)...) })
	before := take(t, l.Engine())

	t.Cleanup(func() { m.local("down") }) // if the test fails
	m.local("up")
	m.local("images", "--from", "packages", "--only", "haproxy")
	m.workload()
	m.step("an engine that was killed", func() { m.kill(m.engine()) })
	m.step("a node that was stopped", func() { m.docker("stop", "--time", "1", node) })
	m.step("a machine on which everything was killed, and records were lost", func() {
		m.forget()
		m.killAll()
	})

	// As a container's network leaves it, until the kernel takes it away.
	m.run("ip", "link", "add", "veth0e2e000", "type", "veth", "peer", "name", "veth0e2e001")
	m.local("down")
	compare(t, before, take(t, l.Engine()))
	if left, err := filepath.Glob(l.Engine("*")); err != nil || !slices.Equal(left, []string{l.Engine("data")}) {
		t.Errorf("left in the engine's folder: %q, %v", left, err)
	}
	// The cleanup's finds nothing to do.
}

type machine struct {
	*testing.T
	at     layout.Layout
	binary string
}

func build(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "local")
	if out, err := exec.Command("go", "build", "-o", path, "..").CombinedOutput(); err != nil {
		t.Fatalf("build local: %s\n%s", err, out)
	}
	return path
}

// step breaks something, brings the cluster up, and sees that the workload is served
// again.
func (m machine) step(name string, breakIt func()) {
	m.Helper()
	m.Logf("healing: %s", name)
	breakIt()
	m.local("up")
	m.served()
}

func (m machine) local(args ...string) {
	m.Helper()
	m.Logf("local %s:\n%s", args[0], m.run(m.binary, args...))
}

func (m machine) docker(args ...string) string {
	m.Helper()
	return m.run("/usr/bin/docker", append([]string{"--host", "unix://" + m.at.Engine("docker.sock")}, args...)...)
}

func (m machine) run(name string, args ...string) string {
	m.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = m.at.Checkout
	out, err := cmd.CombinedOutput()
	if err != nil {
		m.Fatalf("%s %v: %s\n%s", name, args, err, out)
	}
	return string(out)
}

func (m machine) kubectl(args ...string) (string, error) {
	out, err := exec.Command(m.at.Bin("kubectl"), append([]string{"--kubeconfig", m.at.Kubeconfig()}, args...)...).CombinedOutput()
	return string(out), err
}

// workload starts a pod without rights that writes to a volume, with a Service.
func (m machine) workload() {
	m.Helper()
	if out, err := m.kubectl("apply", "-f", "testdata/workload.yaml"); err != nil {
		m.Fatalf("%s\n%s", err, out)
	}
	m.served()
}

// served waits until the pod answers under its Service's name, through cluster
// DNS and kube-proxy, and has its volume.
func (m machine) served() {
	m.Helper()
	var out string
	var err error
	for end := time.Now().Add(3 * time.Minute); time.Now().Before(end); time.Sleep(time.Second) { // between two tries
		out, err = m.kubectl("exec", "-n", "cluster-e2e", "web", "--", "bash", "-ec",
			"touch /data/mark; . /etc/web/get.sh")
		if err == nil && strings.Contains(out, "served") {
			return
		}
	}
	m.Fatalf("the workload is not served: %v\n%s", err, out)
}

func (m machine) table() proc.Table {
	return proc.Table{Owner: m.at.Engine(), Dir: m.at.Engine("daemons")}
}

// engine is the number of the engine's process.
func (m machine) engine() int {
	m.Helper()
	id, running := m.table().Find("dockerd")
	if !running {
		m.Fatal("the engine does not run")
	}
	return id.PID
}

func (m machine) kill(pid int) {
	m.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		m.Fatal(err)
	}
}

func (m machine) forget() {
	m.Helper()
	if err := os.Remove(m.at.Engine("daemons", "dockerd.json")); err != nil {
		m.Fatal(err)
	}
}

// killAll kills the engine and its shims, and leaves their mounts and interfaces behind.
func (m machine) killAll() {
	m.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) { // between two looks
		left := m.table().Marked("")
		if len(left) == 0 {
			return
		}
		if time.Now().After(end) {
			m.Fatalf("killed, and they still run after a minute: %+v", left)
		}
		for _, id := range left {
			_ = syscall.Kill(id.PID, syscall.SIGKILL)
		}
	}
}
