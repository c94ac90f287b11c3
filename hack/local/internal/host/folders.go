package host

import (
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
)

// removeFolders removes the folders that did not exist before, as far as nobody
// else has put something there since.
func removeFolders(folders []string) {
	if slices.Contains(folders, dockerKey) {
		_ = os.Remove(dockerKey)
	}
	removeDeadSockets("/run/containerd/s")
	for _, folder := range folders {
		removeEmpty(folder)
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
