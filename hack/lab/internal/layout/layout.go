// Package layout names every file and folder that the lab makes. All of them
// lie below one folder, so that looking there shows all there is.
package layout

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// longest is how long the lab's folder may be: the names of the sockets below
// it are up to 45 bytes, and the kernel takes 107 bytes in all.
const longest = 60

// Layout is where one lab lies.
type Layout struct {
	// Checkout is the root of the source tree.
	Checkout string
	// Dir is the lab's folder: LAB_DIR, or .lab of the checkout.
	Dir string
}

// Find returns the lab of the checkout that the working directory is in.
func Find() (Layout, error) {
	wd, err := os.Getwd()
	if err != nil {
		return Layout{}, err
	}
	checkout, err := checkoutOf(wd)
	if err != nil {
		return Layout{}, err
	}
	dir := os.Getenv("LAB_DIR")
	if dir == "" {
		dir = filepath.Join(checkout, ".lab")
	}
	dir, err = filepath.Abs(dir)
	if err != nil {
		return Layout{}, err
	}
	if len(dir) > longest {
		return Layout{}, fmt.Errorf("%s is too long a path for the sockets below it: set LAB_DIR to a folder of at most %d bytes", dir, longest)
	}
	return Layout{Checkout: checkout, Dir: dir}, nil
}

func checkoutOf(dir string) (string, error) {
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "hack", "lab", "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("run this inside the checkout of replab: hack/lab/go.mod was not found in any folder above")
		}
	}
}

func (l Layout) below(parts ...string) string {
	return filepath.Join(append([]string{l.Dir}, parts...)...)
}

// What survives lab-down: it was expensive to make.

// Bin is one binary of the lab; with no name, their folder.
func (l Layout) Bin(name string) string { return l.below("bin", name) }

// Images is where the images' root file systems are kept.
func (l Layout) Images(parts ...string) string {
	return l.below(append([]string{"images"}, parts...)...)
}

// Rootfs is where an image's root file system is unpacked for tests.
func (l Layout) Rootfs(name string) string { return l.below("rootfs", name) }

// Engine is where a Docker engine of our own lies. Its images outlive it.
func (l Layout) Engine(parts ...string) string {
	return l.below(append([]string{"engine"}, parts...)...)
}

// What exists while the lab is up.

// KindImages says where the images of the cluster of kind come from.
func (l Layout) KindImages() string { return l.below("kind.images") }

// KindKubeconfig is the administrator's of the cluster of kind.
func (l Layout) KindKubeconfig() string { return l.below("kind.kubeconfig") }

// Kubeconfig is the administrator's.
func (l Layout) Kubeconfig() string { return l.below("kubeconfig") }

// PKI is one file of the certificates and keys.
func (l Layout) PKI(name string) string { return l.below("pki", name) }

// Conf is one configuration file.
func (l Layout) Conf(parts ...string) string { return l.below(append([]string{"conf"}, parts...)...) }

// Log is the log of one daemon.
func (l Layout) Log(name string) string { return l.below("log", name) }

// Data is what has to outlive a reboot: etcd, containerd's images, the kubelet.
func (l Layout) Data(parts ...string) string { return l.below(append([]string{"data"}, parts...)...) }

// Volumes is where the persistent volumes lie.
func (l Layout) Volumes() string { return l.below("volumes") }

// Run is what a reboot makes worthless: process records, sockets, mounts.
func (l Layout) Run(parts ...string) string { return l.below(append([]string{"run"}, parts...)...) }

// ContainerdSocket is where our own containerd listens.
func (l Layout) ContainerdSocket() string { return l.Run("containerd.sock") }

// Source is one folder of hack/lab.
func (l Layout) Source(parts ...string) string {
	return filepath.Join(append([]string{l.Checkout, "hack", "lab"}, parts...)...)
}

// ImageSource is one folder of hack/images.
func (l Layout) ImageSource(parts ...string) string {
	return filepath.Join(append([]string{l.Checkout, "hack", "images"}, parts...)...)
}
