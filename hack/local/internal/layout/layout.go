// Package layout names every file and folder that is made for the cluster and the tests. All of them
// lie below one folder, so that looking there shows all there is.
package layout

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// longest is how long the folder may be: the names of the sockets below
// it are up to 45 bytes, and the kernel takes 107 bytes in all.
const longest = 60

// Layout is where all of them lie.
type Layout struct {
	// Checkout is the root of the source tree.
	Checkout string
	// Dir is their folder: LOCAL_DIR, or .local of the checkout.
	Dir string
}

// Find returns the layout of the checkout that the working directory is in.
func Find() (Layout, error) {
	wd, err := os.Getwd()
	if err != nil {
		return Layout{}, err
	}
	checkout, err := checkoutOf(wd)
	if err != nil {
		return Layout{}, err
	}
	dir := os.Getenv("LOCAL_DIR")
	if dir == "" {
		dir = filepath.Join(checkout, ".local")
	}
	dir, err = filepath.Abs(dir)
	if err != nil {
		return Layout{}, err
	}
	if len(dir) > longest {
		return Layout{}, fmt.Errorf("%s is too long a path for the sockets below it: set LOCAL_DIR to a folder of at most %d bytes", dir, longest)
	}
	return Layout{Checkout: checkout, Dir: dir}, nil
}

func checkoutOf(dir string) (string, error) {
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "hack", "local", "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("run this inside the checkout of replab: hack/local/go.mod was not found in any folder above")
		}
	}
}

func (l Layout) below(parts ...string) string {
	return filepath.Join(append([]string{l.Dir}, parts...)...)
}

// What survives make cluster-down: it was expensive to make.

// Bin is one binary; with no name, their folder.
func (l Layout) Bin(name string) string { return l.below("bin", name) }

// Images is where the images' root file systems are kept.
func (l Layout) Images(parts ...string) string {
	return l.below(append([]string{"images"}, parts...)...)
}

// Rootfs is where an image's root file system is unpacked for tests.
func (l Layout) Rootfs(name string) string { return l.below("rootfs", name) }

// Log is the log of one daemon.
func (l Layout) Log(name string) string { return l.below("log", name) }

// Engine is where a Docker engine of our own lies. Its images outlive it.
func (l Layout) Engine(parts ...string) string {
	return l.below(append([]string{"engine"}, parts...)...)
}

// RemoveCaches removes what survives, but for the engine's images.
func (l Layout) RemoveCaches() error {
	var errs []error
	for _, name := range []string{"bin", "images", "rootfs", "log", "templates", "vm", "registry", "promtool", "bench.log"} {
		errs = append(errs, os.RemoveAll(l.below(name)))
	}
	return errors.Join(errs...)
}

// What exists while the cluster is up.

// ImagesFrom says where the cluster's images come from.
func (l Layout) ImagesFrom() string { return l.below("images-from") }

// Kubeconfig is the administrator's.
func (l Layout) Kubeconfig() string { return l.below("kubeconfig") }

// Run is what is worthless after a command has ended.
func (l Layout) Run(parts ...string) string { return l.below(append([]string{"run"}, parts...)...) }

// Source is one folder of hack/local.
func (l Layout) Source(parts ...string) string {
	return filepath.Join(append([]string{l.Checkout, "hack", "local"}, parts...)...)
}

// ImageSource is one folder of hack/images.
func (l Layout) ImageSource(parts ...string) string {
	return filepath.Join(append([]string{l.Checkout, "hack", "images"}, parts...)...)
}
