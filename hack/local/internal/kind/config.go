package kind

import (
	"errors"
	"os"
	"runtime"

	"sigs.k8s.io/yaml"
)

// oldCgroups lets the kubelet start on cgroup v1, which it refuses otherwise.
const oldCgroups = "kind: KubeletConfiguration\nfailCgroupV1: false\n"

// configure completes a configuration for the machine, and counts its nodes.
func configure(text []byte, cgroupV1 bool) (config []byte, nodes int, err error) {
	var c map[string]any
	if err := yaml.Unmarshal(text, &c); err != nil {
		return nil, 0, err
	}
	if c["kind"] != "Cluster" {
		return nil, 0, errors.New("this is no configuration of kind: it must have kind: Cluster")
	}
	nodes = 1 // without a list
	if list, ok := c["nodes"].([]any); ok {
		nodes = len(list)
	}
	if cgroupV1 {
		patches, _ := c["kubeadmConfigPatches"].([]any)
		c["kubeadmConfigPatches"] = append(patches, oldCgroups)
	}
	config, err = yaml.Marshal(c)
	return config, nodes, err
}

// cgroupV1 tells whether this machine has the old control groups. On other
// systems Docker brings a Linux that has the new ones.
func cgroupV1() bool {
	_, err := os.Stat("/sys/fs/cgroup/cgroup.controllers")
	return runtime.GOOS == "linux" && errors.Is(err, os.ErrNotExist)
}
