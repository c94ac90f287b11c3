package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// snapshot is what a cluster may not change for good, as sorted lines by topic.
type snapshot map[string][]string

// counters are what differs in iptables-save from one moment to the next.
var counters = regexp.MustCompile(`\[\d+:\d+\]`)

func take(t *testing.T, engine string) snapshot {
	t.Helper()
	return snapshot{
		"mounts":     read(t, "/proc/mounts"),
		"interfaces": names(t, "/sys/class/net"),
		"routes":     output("ip", "route", "show", "table", "all"),
		"iptables":   rules(output("iptables-save")),
		"ip6tables":  rules(output("ip6tables-save")),
		"tables":     output("nft", "list", "tables"),
		"settings": output("sysctl", "net.ipv4.ip_forward", "net.bridge", "kernel.panic", "kernel.panic_on_oops", "vm.overcommit_memory",
			"net.ipv4.conf.all.route_localnet", "net.ipv6.conf.all.forwarding", "net.ipv6.conf.default.forwarding"),
		"cgroups": cgroups(),
		"folders": existing("/var/lib/kubelet", "/var/log/containers", "/var/log/pods", "/var/lib/cni", "/run/containerd", "/run/netns", "/opt/containerd", "/opt/cni", "/etc/cni", "/usr/libexec/kubernetes",
			"/etc/docker/key.json", "/etc/docker", "/run/docker", "/var/lib/docker", "/lib/modules", "/usr/sbin/policy-rc.d"),
		"processes": processes(engine),
	}
}

// compare reports every line that appeared or went away.
func compare(t *testing.T, before, after snapshot) {
	t.Helper()
	for topic := range before {
		for _, line := range after[topic] {
			if !slices.Contains(before[topic], line) {
				t.Errorf("%s: left behind: %s", topic, line)
			}
		}
		for _, line := range before[topic] {
			if !slices.Contains(after[topic], line) {
				t.Errorf("%s: lost: %s", topic, line)
			}
		}
	}
}

func read(t *testing.T, path string) []string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(b)), "\n")
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

func output(name string, args ...string) []string {
	out, _ := exec.Command(name, args...).Output()
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

// rules keeps what says something: chains and rules, without their counters.
func rules(lines []string) []string {
	var kept []string
	for _, line := range lines {
		if strings.HasPrefix(line, ":") || strings.HasPrefix(line, "-A") {
			kept = append(kept, counters.ReplaceAllString(line, ""))
		}
	}
	return kept
}

// cgroups lists those that could be pods'. Others come and go on a machine that
// is in use.
func cgroups() []string {
	var found []string
	for _, pattern := range []string{"*", "*/*"} {
		paths, _ := filepath.Glob("/sys/fs/cgroup/" + pattern)
		for _, path := range paths {
			if base := filepath.Base(path); strings.Contains(base, "replab") || strings.Contains(base, "docker") || strings.Contains(base, "kubepods") {
				found = append(found, path)
			}
		}
	}
	return found
}

func existing(paths ...string) []string {
	var found []string
	for _, path := range paths {
		if _, err := os.Lstat(path); err == nil {
			found = append(found, path)
		}
	}
	return found
}

// processes lists those that belong to the engine: they name its folder in their
// command line or environment. A container's process does not, but its shim does, and
// the shim is its parent.
func processes(engine string) []string {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	var found []string
	for _, dir := range dirs {
		env, _ := os.ReadFile(filepath.Join(dir, "environ"))
		command, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		if strings.Contains(string(env), "REPLAB_ENGINE_DIR="+engine+"\x00") || strings.Contains(string(command), engine+"/run/") {
			found = append(found, strings.ReplaceAll(string(command), "\x00", " "))
		}
	}
	return found
}
