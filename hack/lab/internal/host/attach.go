package host

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/vishvananda/netlink"
)

// results is where the CNI library remembers what it made for each pod. It knows
// no other place.
const results = "/var/lib/cni/results/replab-*"

// attachPods puts the pods' ends back on the bridge. They come off it when the
// bridge is removed while pods run, and those would be alone for the rest of
// their lives.
func attachPods(bridge netlink.Link) error {
	paths, err := filepath.Glob(results)
	if err != nil {
		return err
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // the pod went away just now
		}
		for _, name := range hostEnds(text) {
			if err := attach(name, bridge); err != nil {
				return fmt.Errorf("attach %s to bridge %s: %w", name, bridge.Attrs().Name, err)
			}
		}
	}
	return nil
}

func attach(name string, bridge netlink.Link) error {
	end, err := netlink.LinkByName(name)
	if err != nil || end.Type() != "veth" || end.Attrs().MasterIndex == bridge.Attrs().Index {
		return nil
	}
	if err := netlink.LinkSetMaster(end, bridge); err != nil {
		return err
	}
	// As the CNI plugin does: a pod must reach itself through its Service.
	return netlink.LinkSetHairpin(end, true)
}

// hostEnds returns the interfaces of a result that lie on the node, without the
// bridge.
func hostEnds(text []byte) []string {
	var cached struct {
		Result struct {
			Interfaces []struct {
				Name    string `json:"name"`
				Sandbox string `json:"sandbox"`
			} `json:"interfaces"`
		} `json:"result"`
	}
	if json.Unmarshal(text, &cached) != nil {
		return nil
	}
	var names []string
	// The first is the bridge itself.
	for i, link := range cached.Result.Interfaces {
		if i > 0 && link.Sandbox == "" {
			names = append(names, link.Name)
		}
	}
	return names
}
