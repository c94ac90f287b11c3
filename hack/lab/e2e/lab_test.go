// Package e2e proves on the machine itself that the lab comes up, heals and
// leaves nothing behind. It takes the lab down, so it runs only when asked to.
package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"replab.dev/hack/lab/internal/layout"
	"replab.dev/hack/lab/internal/proc"
)

const enable = "LAB_E2E"

// TestLab is one test, since each part continues where the one before ended.
func TestLab(t *testing.T) {
	if os.Getenv(enable) == "" {
		t.Skip("takes the lab of this machine up and down: set " + enable + "=1 to run it")
	}
	l, err := layout.Find()
	if err != nil {
		t.Fatal(err)
	}
	m := machine{T: t, at: l, binary: buildLab(t)}
	if len(processes(l.Dir)) > 0 {
		t.Fatal("the lab is up: take it down first, with make lab-down")
	}
	before := take(t, l.Dir)
	m.lab("up")
	m.workload()

	m.step("daemons that were killed, records that were lost", func() {
		m.kill("kube-apiserver", "kubelet", "containerd")
		m.forget("etcd", "coredns")
	})
	m.step("a bridge that is gone", func() { m.run("ip", "link", "delete", "replab0") })
	m.step("a machine on which everything was killed", m.killAll)
	m.step("a machine that was restarted", func() {
		m.killAll()
		m.run("ip", "link", "delete", "replab0")
		m.write(l.Run("boot"), "00000000-0000-0000-0000-000000000000")
	})

	m.lab("down")
	compare(t, before, take(t, l.Dir))
	m.lab("down") // a second one finds nothing to do
}

type machine struct {
	*testing.T
	at     layout.Layout
	binary string
}

func buildLab(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "lab")
	cmd := exec.Command("go", "build", "-o", path, "..")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build lab: %s\n%s", err, out)
	}
	return path
}

// step breaks something, brings the lab up, and sees that the workload is served
// again.
func (m machine) step(name string, breakIt func()) {
	m.Helper()
	m.Logf("healing: %s", name)
	breakIt()
	m.lab("up")
	m.served()
}

func (m machine) lab(args ...string) {
	m.Helper()
	m.Logf("lab %s:\n%s", args[0], m.run(m.binary, args...))
}

func (m machine) run(name string, args ...string) string {
	m.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
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
	cmd := exec.Command(m.at.Bin("kubectl"), "--kubeconfig", m.at.Kubeconfig(), "apply", "-f", "testdata/workload.yaml")
	if out, err := cmd.CombinedOutput(); err != nil {
		m.Fatalf("%s\n%s", err, bytes.TrimSpace(out))
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
		out, err = m.kubectl("exec", "-n", "lab-e2e", "web", "--", "bash", "-ec",
			"touch /data/mark; . /etc/web/get.sh")
		if err == nil && strings.Contains(out, "served") {
			return
		}
	}
	m.Fatalf("the workload is not served: %v\n%s", err, out)
}

func (m machine) record(name string) proc.Identity {
	m.Helper()
	b, err := os.ReadFile(m.at.Run("daemons", name+".json"))
	if err != nil {
		m.Fatal(err)
	}
	var id proc.Identity
	if err := json.Unmarshal(b, &id); err != nil {
		m.Fatal(err)
	}
	return id
}

func (m machine) kill(names ...string) {
	m.Helper()
	for _, name := range names {
		if err := syscall.Kill(m.record(name).PID, syscall.SIGKILL); err != nil {
			m.Fatal(err)
		}
	}
}

func (m machine) forget(names ...string) {
	m.Helper()
	for _, name := range names {
		if err := os.Remove(m.at.Run("daemons", name+".json")); err != nil {
			m.Fatal(err)
		}
	}
}

// killAll kills daemons and shims, and leaves their mounts and interfaces behind.
func (m machine) killAll() {
	m.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) { // between two looks
		left := (proc.Table{Lab: m.at.Dir}).Marked("")
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

func (m machine) write(path, text string) {
	m.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		m.Fatal(err)
	}
}
