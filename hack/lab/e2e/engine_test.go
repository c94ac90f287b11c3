package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"replab.dev/hack/lab/internal/layout"
	"replab.dev/hack/lab/internal/proc"
)

// TestEngine starts a Docker engine of our own, kills it, and ends it: the machine must be as before.
func TestEngine(t *testing.T) {
	if os.Getenv("ENGINE_E2E") == "" {
		t.Skip("starts and ends a Docker engine on this machine: set ENGINE_E2E=1 to run it")
	}
	if out, err := exec.Command("dpkg-query", "--show", "--showformat=${db:Status-Status}", "docker.io").Output(); err != nil || string(out) != "installed" {
		t.Fatal("docker.io is not installed: its package would count as left behind")
	}
	if exec.Command("docker", "version").Run() == nil {
		t.Fatal("a Docker engine answers: none of our own is started beside it")
	}
	binary := buildLab(t)
	t.Setenv("LAB_DIR", t.TempDir()) // its own data: images and networks outlive an engine
	l, err := layout.Find()
	if err != nil {
		t.Fatal(err)
	}
	m := machine{T: t, at: l, binary: binary}
	// As an engine that ended left it.
	m.run("iptables", "-t", "nat", "-N", "DOCKER")
	t.Cleanup(func() {
		m.run("iptables", "-t", "nat", "-F", "DOCKER")
		m.run("iptables", "-t", "nat", "-X", "DOCKER")
	})
	m.run("iptables", "-t", "nat", "-A", "DOCKER", "-s", "192.0.2.1/32", "-j", "RETURN")
	t.Cleanup(func() { m.lab("engine", "down", "--purge") })
	before := take(t, l.Engine())
	m.lab("engine", "up")
	m.lab("engine", "up") // finds nothing to do
	m.container("first")
	if err := syscall.Kill(m.engine(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	m.lab("engine", "up")
	m.container("second")
	m.lab("engine", "down")
	compare(t, before, take(t, l.Engine()))
	if left, err := filepath.Glob(l.Engine("*")); err != nil || !slices.Equal(left, []string{l.Engine("data")}) {
		t.Errorf("left in the engine's folder: %q, %v", left, err)
	}
	m.lab("engine", "down") // a second one finds nothing to do
}

// engine is the number of the engine's process.
func (m machine) engine() int {
	m.Helper()
	table := proc.Table{Lab: m.at.Engine(), Dir: m.at.Engine("daemons")}
	id, running := table.Find("dockerd")
	if !running {
		m.Fatal("the engine does not run")
	}
	return id.PID
}

// container leaves a privileged container running, on a network of its own and with a port, as kind's nodes are.
func (m machine) container(name string) {
	m.Helper()
	root := m.TempDir()
	build := exec.Command("go", "build", "-o", filepath.Join(root, "pause"), "../pause")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		m.Fatalf("%s\n%s", err, out)
	}
	docker := "/usr/bin/docker --host unix://" + m.at.Engine("docker.sock")
	m.run("bash", "-euxo", "pipefail", "-c", strings.Join([]string{
		"tar -C " + root + " -c . | " + docker + " import - lab-e2e:" + name,
		docker + " network create " + name,
		docker + " run --detach --privileged --network " + name + " --publish 127.0.0.1::80 --volume /lib/modules:/lib/modules:ro lab-e2e:" + name + " /pause",
	}, "\n"))
}
