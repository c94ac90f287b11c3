//go:build linux

package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// runtimeName is what dockerd calls the runtime.
const runtimeName = "norsrc"

// capability is what root lacks in many containers. A privileged container asks
// for all, and runc refuses to start it.
const capability = "CAP_SYS_RESOURCE"

// mayLowerScores tells whether this process has the capability.
func mayLowerScores() bool {
	var data [2]unix.CapUserData
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	return unix.Capget(&header, &data[0]) == nil && data[0].Effective&(1<<unix.CAP_SYS_RESOURCE) != 0
}

// IsRuntime tells whether this program was started as an OCI runtime, by the name
// that Up copies it to.
func IsRuntime(command string) bool { return filepath.Base(command) == "runtime" }

// Runtime rewrites what the container may, and becomes runc.
func Runtime(args []string) error {
	for _, path := range specs(args[1:]) {
		if err := rewrite(path); err != nil {
			return err
		}
	}
	runc, err := exec.LookPath("runc")
	if err != nil {
		return err
	}
	return syscall.Exec(runc, append([]string{"runc"}, args[1:]...), os.Environ())
}

// specs are the files that say what a process of this call may: of a container,
// or of one more process in it.
func specs(args []string) []string {
	var paths []string
	for i, arg := range args {
		flag, value, joined := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		if !strings.HasPrefix(arg, "-") {
			continue
		}
		if !joined && i+1 < len(args) {
			value = args[i+1]
		}
		switch flag {
		case "bundle", "b":
			paths = append(paths, filepath.Join(value, "config.json"))
		case "process", "p":
			paths = append(paths, value)
		}
	}
	return paths
}

func rewrite(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	changed, err := tame(text)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return os.WriteFile(path, changed, 0o600)
}

// tame takes from a container, or from a process, what needs the capability.
func tame(text []byte) ([]byte, error) {
	var spec map[string]any
	// Numbers stay as they are written: limits of memory are too large for a float.
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&spec); err != nil {
		return nil, err
	}
	process, ok := spec["process"].(map[string]any)
	if !ok {
		process = spec
	}
	if score, ok := process["oomScoreAdj"].(json.Number); ok && strings.HasPrefix(score.String(), "-") {
		process["oomScoreAdj"] = 0
	}
	sets, _ := process["capabilities"].(map[string]any)
	for kind, set := range sets {
		if names, ok := set.([]any); ok {
			sets[kind] = slices.DeleteFunc(names, func(name any) bool { return name == capability })
		}
	}
	return json.Marshal(spec)
}
