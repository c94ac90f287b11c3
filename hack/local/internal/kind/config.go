package kind

import (
	"errors"
	"fmt"
	"os"
	"runtime"

	"sigs.k8s.io/yaml"
)

// oldCgroups lets the kubelet start on cgroup v1, which it refuses otherwise.
const oldCgroups = "kind: KubeletConfiguration\nfailCgroupV1: false\n"

// patches is where nodes have patchesFolder of the checkout. By this mount a cluster is
// known as ours.
const (
	patches       = "/patches"
	patchesFolder = "config/kind/patches"
)

// configure completes a configuration for the machine, and counts its nodes. from is
// the path of the patches.
func configure(text []byte, from string, cgroupV1 bool) (config []byte, nodes int, err error) {
	var c map[string]any
	if err := yaml.Unmarshal(text, &c); err != nil {
		return nil, 0, err
	}
	if c["kind"] != "Cluster" {
		return nil, 0, errors.New("this is no configuration of kind: it must have kind: Cluster")
	}
	list, ok := c["nodes"].([]any)
	if !ok {
		list = []any{map[string]any{"role": "control-plane"}} // kind's default
	}
	for _, node := range list {
		if err := mount(node, from); err != nil {
			return nil, 0, err
		}
	}
	c["nodes"] = list
	if cgroupV1 {
		patches, _ := c["kubeadmConfigPatches"].([]any)
		c["kubeadmConfigPatches"] = append(patches, oldCgroups)
	}
	config, err = yaml.Marshal(c)
	return config, len(list), err
}

// mount adds the mount of patches to a node.
func mount(node any, from string) error {
	n, ok := node.(map[string]any)
	if !ok {
		return errors.New("a node is no object")
	}
	mounts, _ := n["extraMounts"].([]any)
	for _, m := range mounts {
		if m, ok := m.(map[string]any); ok && m["containerPath"] == patches {
			return fmt.Errorf("remove the mount of %s: make cluster-up mounts %s there", patches, patchesFolder)
		}
	}
	n["extraMounts"] = append(mounts, map[string]any{"hostPath": from, "containerPath": patches, "readOnly": true})
	return nil
}

// cgroupV1 tells whether this machine has the old control groups. On other
// systems Docker brings a Linux that has the new ones.
func cgroupV1() bool {
	_, err := os.Stat("/sys/fs/cgroup/cgroup.controllers")
	return runtime.GOOS == "linux" && errors.Is(err, os.ErrNotExist)
}
