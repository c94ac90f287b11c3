package image

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"

	"replab.dev/hack/local/internal/layout"
	"replab.dev/hack/local/internal/say"
)

// compile builds the Go package and returns the binary's path.
func (d Definition) compile(l layout.Layout) (string, error) {
	module := filepath.Join(l.Checkout, d.Go.Module)
	target := l.Images(d.Folder, "binary")
	flags := "-s -w"
	if version := os.Getenv("VERSION"); version != "" && d.Go.Version != "" {
		flags += " -X " + d.Go.Version + "=" + version
	}
	// No -trimpath: it would compile anew what the build cache has from everything else here.
	cmd := exec.Command("go", "build", "-buildvcs=false", "-ldflags="+flags, "-o", target, d.Go.Package)
	cmd.Dir = module
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOWORK=off", "GOGC=400") // as in package bins
	return target, say.Slow("compile "+d.Go.Package, func() error {
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("compile %s:\n%s", d.Go.Package, bytes.TrimSpace(out))
		}
		return nil
	})
}

// pack writes a layer that holds the binary.
// Times are left out, so that the same binary makes the same layer.
func pack(binary, at string, to io.Writer) error {
	in, err := os.Open(binary)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	w := tar.NewWriter(to)
	for _, dir := range parents(at) {
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: dir, Mode: 0o755}); err != nil {
			return err
		}
	}
	header := &tar.Header{Typeflag: tar.TypeReg, Name: strings.TrimPrefix(at, "/"), Mode: 0o755, Size: info.Size()}
	if err := w.WriteHeader(header); err != nil {
		return err
	}
	if _, err := io.Copy(w, in); err != nil {
		return err
	}
	return w.Close()
}

// parents lists the folders above an absolute path, the outermost first.
func parents(at string) []string {
	var dirs []string
	for dir := path.Dir(at); dir != "/" && dir != "."; dir = path.Dir(dir) {
		dirs = append([]string{strings.TrimPrefix(dir, "/") + "/"}, dirs...)
	}
	return dirs
}

// layerFile packs the binary into a file beside it and returns that.
func (d Definition) layerFile(l layout.Layout, binary, at string) (string, error) {
	if err := os.MkdirAll(l.Images(d.Folder), 0o755); err != nil {
		return "", err
	}
	target := l.Images(d.Folder, "layer.tar")
	next := target + ".next"
	out, err := os.Create(next)
	if err != nil {
		return "", err
	}
	if err := errors.Join(pack(binary, at, out), out.Close()); err != nil {
		return "", err
	}
	return target, os.Rename(next, target)
}
