package kind

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"replab.dev/hack/local/internal/layout"
)

func TestConfigureTheFilesOfTheProject(t *testing.T) {
	l, err := layout.Find()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int{"one.yaml": 1, "three.yaml": 3} {
		text, err := os.ReadFile(filepath.Join(l.Checkout, "config", "kind", name))
		if err != nil {
			t.Fatal(err)
		}
		for _, cgroupV1 := range []bool{false, true} {
			config, nodes, err := configure(text, "/here/config/kind/patches", cgroupV1)
			if err != nil || nodes != want {
				t.Errorf("%s: %d nodes, want %d: %v", name, nodes, want, err)
			}
			if strings.Contains(string(config), "failCgroupV1: false") != cgroupV1 {
				t.Errorf("%s on cgroup v1 %v: got %s", name, cgroupV1, config)
			}
		}
	}
}

func TestConfigureKeepsPatches(t *testing.T) {
	config, _, err := configure([]byte("kind: Cluster\nkubeadmConfigPatches: [mine]\n"), "/here", true)
	if err != nil || !strings.Contains(string(config), "- mine\n") || !strings.Contains(string(config), "failCgroupV1") {
		t.Errorf("got %s, %v", config, err)
	}
	if _, _, err := configure([]byte("kind: Pod\n"), "/here", true); err == nil {
		t.Error("another file is taken for a configuration")
	}
}

// cluster-down deletes only a cluster with the mount.
func TestConfigureMountsPatchesInEachNode(t *testing.T) {
	for text, want := range map[string]int{
		"kind: Cluster\n": 1,
		"kind: Cluster\nnodes: [{role: control-plane}, {role: worker, extraMounts: [{hostPath: /a, containerPath: /b}]}]\n": 2,
	} {
		config, nodes, err := configure([]byte(text), "/here/config/kind/patches", false)
		if err != nil || nodes != want || strings.Count(string(config), "containerPath: /patches\n") != want ||
			strings.Count(string(config), "hostPath: /here/config/kind/patches\n") != want {
			t.Errorf("%s: %d nodes, %v\n%s", text, nodes, err, config)
		}
	}
	const others = "kind: Cluster\nnodes: [{extraMounts: [{hostPath: /mine, containerPath: /patches}]}]\n"
	if config, _, err := configure([]byte(others), "/here/config/kind/patches", false); err == nil {
		t.Errorf("another folder is mounted there: %s", config)
	}
}
