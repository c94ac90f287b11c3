// Package image_test builds the Dockerfile with buildah, without a daemon, and looks at what comes of it. It takes minutes and needs buildah, and
// for the whole of the Dockerfile busybox-static: `make image-check`.
package image_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"replab.dev/test/kubetest"
)

// builder is a buildah with a storage of its own.
type builder struct {
	t      *testing.T
	folder string
}

func newBuilder(t *testing.T) builder {
	t.Helper()
	if os.Getenv("REPLAB_IMAGE") == "" {
		t.Skip("REPLAB_IMAGE is not set: `make image-check` builds the image")
	}
	if _, err := exec.LookPath("buildah"); err != nil {
		t.Fatal("there is no buildah: apt-get install buildah")
	}
	return builder{t, t.TempDir()}
}

func (b builder) buildah(args ...string) string {
	b.t.Helper()
	storage := []string{"--storage-driver", "vfs", "--root", filepath.Join(b.folder, "root"), "--runroot", filepath.Join(b.folder, "run")}
	out, err := run("buildah", append(storage, args...)...)
	if err != nil {
		b.t.Fatalf("buildah %s: %v", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(out)
}

func run(name string, args ...string) (string, error) {
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Dir = kubetest.Root()
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%w: %s%s", err, stdout.String(), stderr.String())
	}
	return stdout.String(), nil
}

// TestThePrebuiltBinaryBecomesTheImage by the target for machines that have no base image.
func TestThePrebuiltBinaryBecomesTheImage(t *testing.T) {
	b := newBuilder(t)
	binary := filepath.Join(kubetest.Root(), "dist", "replab-linux-"+runtime.GOARCH)
	if _, err := run("go", "build", "-ldflags", "-s -w -X main.version=v0.0.0-prebuilt", "-o", binary, "./cmd/replab"); err != nil {
		t.Fatal(err)
	}
	b.buildah("build", "--isolation", "chroot", "--target", "prebuilt", "--build-arg", "TARGETARCH="+runtime.GOARCH, "--tag", "replab:prebuilt", kubetest.Root())
	b.holdsTheBinaryAlone("replab:prebuilt", "v0.0.0-prebuilt")
}

// TestTheDockerfileBuilds with a stand-in for golang's image: a shell and the Go of this machine. What is in the real one is not looked at.
func TestTheDockerfileBuilds(t *testing.T) {
	b := newBuilder(t)
	text, err := os.ReadFile(filepath.Join(kubetest.Root(), "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	base := regexp.MustCompile(`(?m)^FROM --platform=\$BUILDPLATFORM (golang:\S+) AS build$`).FindSubmatch(text)
	if base == nil {
		t.Fatal("the Dockerfile has no stage that builds in golang's image")
	}
	b.goImage(string(base[1]))
	b.buildah("build", "--isolation", "chroot", "--pull=never", "--build-arg", "VERSION=v0.0.0-dockerfile",
		"--build-arg", "TARGETOS=linux", "--build-arg", "TARGETARCH="+runtime.GOARCH, "--build-arg", "BUILDPLATFORM=linux/"+runtime.GOARCH,
		"--volume", caches(t, "GOMODCACHE")+":/go/pkg/mod", "--volume", caches(t, "GOCACHE")+":/root/.cache/go-build", "--tag", "replab:dockerfile", kubetest.Root())
	b.holdsTheBinaryAlone("replab:dockerfile", "v0.0.0-dockerfile")
}

func caches(t *testing.T, name string) string {
	t.Helper()
	path, err := run("go", "env", name)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(path)
}

// goImage makes an image with what the Dockerfile needs of golang's.
func (b builder) goImage(name string) {
	b.t.Helper()
	container := b.buildah("from", "scratch")
	b.buildah("copy", container, "/bin/busybox", "/bin/busybox")
	b.buildah("copy", container, "/bin/busybox", "/bin/sh")
	b.buildah("copy", container, "/etc/ssl/certs/ca-certificates.crt", "/etc/ssl/certs/ca-certificates.crt")
	b.buildah("copy", container, caches(b.t, "GOROOT"), "/usr/local/go")
	b.buildah("config", "--env", "PATH=/usr/local/go/bin:/bin", "--env", "GOPATH=/go", "--env", "HOME=/root", "--env", "TMPDIR=/root/.cache/go-build",
		"--env", "GOPROXY="+caches(b.t, "GOPROXY"), "--env", "GOSUMDB="+caches(b.t, "GOSUMDB"), container)
	b.buildah("commit", "--rm", container, "docker.io/library/"+name)
}

// holdsTheBinaryAlone checks an image: the user, what is started, and that there is nothing else in it.
func (b builder) holdsTheBinaryAlone(image, version string) {
	b.t.Helper()
	var found struct {
		OCIv1 struct {
			Config struct {
				User       string
				Entrypoint []string
				Env        []string
			}
		}
	}
	if err := json.Unmarshal([]byte(b.buildah("inspect", "--type", "image", image)), &found); err != nil {
		b.t.Fatal(err)
	}
	if c := found.OCIv1.Config; c.User != "65532:65532" || !slices.Equal(c.Entrypoint, []string{"/replab"}) {
		b.t.Errorf("%s runs %v as %q", image, c.Entrypoint, c.User)
	}
	container := b.buildah("from", "--pull=never", image)
	folder := b.buildah("mount", container)
	var files []string
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files = append(files, strings.TrimPrefix(path, folder))
		return nil
	})
	if err != nil || !slices.Equal(files, []string{"/replab"}) {
		b.t.Errorf("%s holds %v: %v", image, files, err)
	}
	said, err := run("chroot", "--userspec=65532:65532", folder, "/replab", "version")
	if err != nil && !errors.Is(err, exec.ErrNotFound) || !strings.Contains(said, version) {
		b.t.Errorf("%s says %q: %v, want version %s", image, said, err, version)
	}
}
