package image

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"replab.dev/hack/local/internal/layout"
	"replab.dev/hack/local/internal/say"
)

// keyFile, beside the root file system, names the definition that it is of.
const keyFile = ".key"

// Unpack lays the root file system of an image out as a folder, so that tests can
// run its programs without a container.
func Unpack(l layout.Layout, folder string) error {
	d, err := packaged(l, folder)
	if err != nil {
		return err
	}
	tar, err := d.tarball(l)
	if err != nil {
		return err
	}
	target := l.Rootfs(folder)
	mark := target + keyFile
	if have, err := os.ReadFile(mark); err == nil && string(have) == d.key() {
		say.Line("%s is there already", target)
		return nil
	}
	return say.Step("unpack "+d.Name+" to "+target, func() error {
		if err := unpack(tar, target); err != nil {
			return err
		}
		return os.WriteFile(mark, []byte(d.key()), 0o644)
	})
}

// Tarball returns the root file system of an image as a tar, made if need be.
func Tarball(l layout.Layout, folder string) (string, error) {
	d, err := packaged(l, folder)
	if err != nil {
		return "", err
	}
	return d.tarball(l)
}

// UnpackTo lays the root file system of an image out as that folder, anew.
func UnpackTo(l layout.Layout, folder, target string) error {
	tar, err := Tarball(l, folder)
	if err != nil {
		return err
	}
	return unpack(tar, target)
}

// packaged finds an image of Debian packages by its folder.
func packaged(l layout.Layout, folder string) (Definition, error) {
	all, err := Load(l)
	if err != nil {
		return Definition{}, err
	}
	i := slices.IndexFunc(all, func(d Definition) bool { return d.Folder == folder && d.Debian != nil })
	if i < 0 {
		return Definition{}, fmt.Errorf("there is no image of Debian packages named %q", folder)
	}
	return all[i], nil
}

// unpack replaces the folder in one step, so that a test never meets half of it.
// The devices of the root file system are left out: nobody mounts this one.
func unpack(tar, target string) error {
	next := target + ".next"
	if err := os.RemoveAll(next); err != nil {
		return err
	}
	if err := os.MkdirAll(next, 0o755); err != nil {
		return err
	}
	out, err := exec.Command("tar", "-C", next, "-xpf", tar, "--exclude=./dev/*").CombinedOutput()
	if err != nil {
		return fmt.Errorf("tar: %w: %s", err, strings.TrimSpace(string(bytes.TrimSpace(out))))
	}
	if err := os.RemoveAll(target); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	return os.Rename(next, target)
}
