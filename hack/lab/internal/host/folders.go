package host

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// leftovers are the files that the lab's components leave in hostFolders.
var leftovers = []string{
	"/var/lib/kubelet/device-plugins/*",
	"/var/lib/cni/results/replab-*",
	"/var/lib/cni/cache/results/replab-*",
}

// removeFolders removes the folders that did not exist before, as far as nobody
// else has put something there since.
func removeFolders(folders []string, lab string) error {
	for _, pattern := range leftovers {
		paths, _ := filepath.Glob(pattern)
		for _, path := range paths {
			if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
		}
	}
	if slices.Contains(folders, dockerKey) {
		_ = os.Remove(dockerKey)
	}
	removeLinks("/var/log/containers", lab)
	removeDeadSockets("/run/containerd/s")
	for _, folder := range folders {
		removeEmpty(folder)
	}
	return nil
}

// removeLinks removes the links to the logs of pods of this lab.
func removeLinks(folder, lab string) {
	entries, _ := os.ReadDir(folder)
	for _, e := range entries {
		path := filepath.Join(folder, e.Name())
		if to, err := os.Readlink(path); err == nil && strings.HasPrefix(to, lab+"/") {
			_ = os.Remove(path)
		}
	}
}

// removeDeadSockets removes sockets that nobody listens on: shims that were
// killed leave theirs, and the shims of another containerd answer on theirs.
func removeDeadSockets(folder string) {
	entries, _ := os.ReadDir(folder)
	for _, e := range entries {
		if e.Type()&fs.ModeSocket == 0 {
			continue
		}
		path := filepath.Join(folder, e.Name())
		c, err := net.Dial("unix", path)
		if err != nil {
			_ = os.Remove(path)
			continue
		}
		_ = c.Close()
	}
}

// removeEmpty removes a folder with the folders in it, unless one holds a file.
func removeEmpty(folder string) {
	var folders []string
	_ = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			folders = append(folders, path)
		}
		return nil
	})
	for i := len(folders) - 1; i >= 0; i-- {
		_ = os.Remove(folders[i]) // refuses what is not empty
	}
}
