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
			config, nodes, err := configure(text, cgroupV1)
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
	config, _, err := configure([]byte("kind: Cluster\nkubeadmConfigPatches: [mine]\n"), true)
	if err != nil || !strings.Contains(string(config), "- mine\n") || !strings.Contains(string(config), "failCgroupV1") {
		t.Errorf("got %s, %v", config, err)
	}
	if _, _, err := configure([]byte("kind: Pod\n"), true); err == nil {
		t.Error("another file is taken for a configuration")
	}
}
