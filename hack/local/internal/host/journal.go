// Package host changes the machine for a Docker engine and changes it back: kernel
// settings, bridges, iptables chains, cgroups, mounts and the few folders that the
// engine insists on outside its own.
package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"replab.dev/hack/local/internal/proc"
)

// Journal is what the machine was like before it was changed.
type Journal struct {
	// Boot is the boot that Sysctls and Tables were seen in: a reboot undoes
	// what was done to them.
	Boot string `json:"boot"`
	// Sysctls is the former value of each setting that the engine or a node
	// changes.
	Sysctls map[string]string `json:"sysctls"`
	// Tables are the netfilter tables that existed, as family and name.
	Tables []string `json:"tables"`
	// Links are the interfaces that existed, and Rules the rules of iptables, by
	// family.
	Links []string          `json:"links"`
	Rules map[string]string `json:"rules"`
	// Folders are those of hostFolders that did not exist.
	Folders []string `json:"folders"`
}

// sysctls are what pods need to reach each other through Services. The path is
// below /proc/sys.
var sysctls = map[string]string{
	"net/ipv4/ip_forward":                 "1",
	"net/bridge/bridge-nf-call-iptables":  "1",
	"net/bridge/bridge-nf-call-ip6tables": "1",
}

// otherSysctls are set by the engine, the kubelet and kube-proxy as they see fit.
var otherSysctls = []string{
	"kernel/panic",
	"kernel/panic_on_oops",
	"kernel/keys/root_maxbytes",
	"kernel/keys/root_maxkeys",
	"vm/overcommit_memory",
	"vm/panic_on_oom",
	"net/ipv4/conf/all/route_localnet",
	// The network of kind has IPv6.
	"net/ipv6/conf/all/forwarding",
	"net/ipv6/conf/default/forwarding",
}

// hostFolders are made by components whose code knows no other place for them.
// Parents come after their children, so that removal in this order works.
var hostFolders = []string{
	"/run/containerd/s",
	"/run/containerd/fifo",
	"/run/containerd/runc",
	"/run/containerd",
	"/run/netns",
	"/opt/containerd",
	dockerKey,
	"/etc/docker",
	"/run/docker",
	"/lib/modules",
}

// dockerKey is a file, by which an engine knows itself.
const dockerKey = "/etc/docker/key.json"

// OpenJournal reads the journal at path, or writes it when the engine starts from
// nothing. It must run before anything is changed. After a reboot, what a reboot
// undoes is looked at again.
func OpenJournal(path string) (Journal, error) {
	boot, err := proc.BootID()
	if err != nil {
		return Journal{}, err
	}
	j, err := ReadJournal(path)
	if err == nil && j.Boot == boot {
		return j, nil
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return Journal{}, err
	}
	if j.Folders == nil {
		j.Folders = absent(hostFolders)
	}
	j.Boot = boot
	j.Tables = tables()
	j.Rules = savedRules()
	if j.Links, err = links(); err != nil {
		return j, fmt.Errorf("list interfaces: %w", err)
	}
	j.Sysctls = currentSysctls()
	return j, j.write(path)
}

// currentSysctls leaves out net/bridge while its module is not loaded: the engine loads
// it, and nothing is restored then.
func currentSysctls() map[string]string {
	current := map[string]string{}
	for _, name := range slices.Concat(slices.Collect(maps.Keys(sysctls)), otherSysctls) {
		if value, err := readSysctl(name); err == nil {
			current[name] = value
		}
	}
	return current
}

// ReadJournal reads the journal at path.
func ReadJournal(path string) (Journal, error) {
	var j Journal
	b, err := os.ReadFile(path)
	if err != nil {
		return j, err
	}
	if err := json.Unmarshal(b, &j); err != nil {
		return j, fmt.Errorf("%s is damaged: %w", path, err)
	}
	// What is restored is what was changed, whatever the file says.
	known := append(slices.Collect(maps.Keys(sysctls)), otherSysctls...)
	maps.DeleteFunc(j.Sysctls, func(name, _ string) bool { return !slices.Contains(known, name) })
	j.Folders = slices.DeleteFunc(j.Folders, func(folder string) bool { return !slices.Contains(hostFolders, folder) })
	return j, nil
}

func (j Journal) write(path string) error {
	b, err := json.MarshalIndent(j, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(path+".next", append(b, '\n'), 0o644); err != nil {
		return err
	}
	return os.Rename(path+".next", path)
}

// SetSysctls sets what differs.
func SetSysctls() error {
	for name, want := range sysctls {
		if now, err := readSysctl(name); err != nil || now == want {
			// A kernel that has no such file has no such feature: bridge
			// traffic then stays on the bridge, and there is nothing to set.
			continue
		}
		if err := os.WriteFile(filepath.Join(procSys, name), []byte(want), 0o644); err != nil {
			return fmt.Errorf("set kernel setting %s: %w", strings.ReplaceAll(name, "/", "."), err)
		}
	}
	return nil
}

// Restore gives settings their former values and removes the folders that were
// not there and are empty.
func (j Journal) Restore() error {
	var errs []error
	boot, err := proc.BootID()
	if err == nil && boot == j.Boot {
		errs = append(errs, j.restoreSysctls(), removeTables(j.Tables))
	}
	removeFolders(j.Folders)
	return errors.Join(errs...)
}

// restoreSysctls goes by name, since the kernel copies forwarding of net/ipv6/conf/all to
// default.
func (j Journal) restoreSysctls() error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(j.Sysctls)) {
		if now, err := readSysctl(name); err == nil && now != j.Sysctls[name] {
			errs = append(errs, os.WriteFile(filepath.Join(procSys, name), []byte(j.Sysctls[name]), 0o644))
		}
	}
	return errors.Join(errs...)
}

var procSys = "/proc/sys" // tests have another

func readSysctl(name string) (string, error) {
	b, err := os.ReadFile(filepath.Join(procSys, name))
	return strings.TrimSpace(string(b)), err
}

func absent(paths []string) []string {
	missing := []string{}
	for _, p := range paths {
		if _, err := os.Lstat(p); errors.Is(err, os.ErrNotExist) {
			missing = append(missing, p)
		}
	}
	return missing
}
