// Package nodeimage brings the image of kind's nodes into the Docker engine: it
// is pulled, or assembled from Go modules and Debian packages where no registry
// is within reach.
package nodeimage

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"replab.dev/hack/local/internal/bins"
	"replab.dev/hack/local/internal/image"
	"replab.dev/hack/local/internal/layout"
	"replab.dev/hack/local/internal/preflight"
	"replab.dev/hack/local/internal/registry"
	"replab.dev/hack/local/internal/say"
)

const (
	// folder is of the root file system below hack/images.
	folder = "node"
	// released is kind's image of the version in hack/local/kube/go.mod, as the release notes of kind list it.
	released = "kindest/node:v1.34.11@sha256:44e222ee2132dab25ff87301682f89eb82c7880ea3a1bf543bfe9708fd08d67d"
	// own is the name of assembled images, without their tags.
	own = "replab.local/node"
	// recipe is part of what an image is made of: raise it when assemble.go makes
	// another image of the same files.
	recipe = 1
)

//go:embed files
var files embed.FS

// Ensure returns the reference of a node image that the engine has: one that is
// there already or can be pulled; else an assembled one.
func Ensure(l layout.Layout) (string, error) {
	version, err := bins.Version(l, bins.Kube)
	if err != nil {
		return "", err
	}
	if ref, ok := available(version, registry.Reachable()); ok {
		return ref, nil
	}
	return assembled(l, version)
}

// available finds or pulls kind's image. With an assembled image there, an earlier
// pull failed: then only a registry that answers is tried.
func available(version string, reachable bool) (ref string, ok bool) {
	for _, ref := range []string{released, "kindest/node:" + version} {
		if present(ref) {
			return ref, true
		}
	}
	if have, err := assembledImages(); !reachable && err == nil && len(have) > 0 {
		return "", false
	}
	err := pull(released, pullPatience(reachable))
	if err != nil && reachable {
		say.Line("%s cannot be pulled: %s", released, err)
	}
	return released, err == nil
}

func present(ref string) bool { return exec.Command("docker", "image", "inspect", ref).Run() == nil }

// pullPatience limits a pull. The engine may have a mirror or a proxy when no registry answers this process.
func pullPatience(reachable bool) time.Duration {
	if reachable {
		return 10 * time.Minute
	}
	return 15 * time.Second
}

func pull(ref string, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return say.Step("pull "+ref, func() error { return run(exec.CommandContext(ctx, "docker", "pull", "--quiet", ref)) })
}

// assembled returns the image of the present inputs, made if need be.
func assembled(l layout.Layout, version string) (string, error) {
	if err := preflight.Images(); err != nil {
		return "", fmt.Errorf("cannot pull %s, nor assemble a node image: %w", released, err)
	}
	var kube, debian error
	var lanes sync.WaitGroup
	lanes.Go(func() { kube = bins.Ensure(l, []string{bins.Kube}) })
	lanes.Go(func() { _, debian = image.Tarball(l, folder) })
	lanes.Wait()
	if err := errors.Join(kube, debian); err != nil {
		return "", err
	}
	base, err := baseFiles(l)
	if err != nil {
		return "", err
	}
	key, err := inputs(l, base)
	if err != nil {
		return "", err
	}
	ref := fmt.Sprintf("%s:%s-%s", own, version, key)
	if present(ref) {
		return ref, nil
	}
	a := assembling{Layout: l, root: l.Run("node"), base: base, version: version}
	if err := say.Step("assemble kind's node image "+ref, func() error { return a.make(ref) }); err != nil {
		return "", err
	}
	return ref, removeOthers(ref)
}

// baseFiles is the folder of kind's own files for nodes, in its module.
func baseFiles(l layout.Layout) (string, error) {
	out, err := exec.Command("go", "list", "-C", l.Source(), "-m", "-f", "{{.Dir}}", "sigs.k8s.io/kind").Output()
	dir := strings.TrimSpace(string(out))
	if err != nil || dir == "" {
		return "", errors.New("the sources of the module sigs.k8s.io/kind are missing: run go mod download in hack/local")
	}
	return dir + "/images/base/files", nil
}

// inputs names all that an image is made of. The module's folder has its version.
func inputs(l layout.Layout, base string) (string, error) {
	pause, err := filepath.Glob(l.Source("pause", "*.go"))
	if err != nil {
		return "", err
	}
	h := sha256.New()
	fmt.Fprintln(h, recipe, base)
	sources := []string{bins.Mark(l, bins.Kube), l.ImageSource(folder, "image.yaml"), l.ImageSource("pause", "image.yaml")}
	for _, path := range append(sources, pause...) {
		text, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%x\n", sha256.Sum256(text))
	}
	err = fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := files.ReadFile(path)
		fmt.Fprintf(h, "%s %x\n", path, sha256.Sum256(text))
		return err
	})
	return hex.EncodeToString(h.Sum(nil)[:4]), err
}

// removeOthers removes assembled images of other inputs. One that a cluster runs
// on stays.
func removeOthers(ref string) error {
	names, err := assembledImages()
	for _, name := range names {
		if name != ref {
			_ = exec.Command("docker", "image", "rm", name).Run()
		}
	}
	return err
}

// assembledImages are the names of those that the engine has.
func assembledImages() ([]string, error) {
	out, err := exec.Command("docker", "image", "list", "--format", "{{.Repository}}:{{.Tag}}", own).Output()
	return strings.Fields(string(out)), err
}

// run runs the command, and has its output in the error.
func run(cmd *exec.Cmd) error {
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", cmd.Args[0], err, bytes.TrimSpace(out))
	}
	return nil
}
