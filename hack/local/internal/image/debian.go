package image

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"replab.dev/hack/local/internal/layout"
	"replab.dev/hack/local/internal/say"
)

// excluded is what no container reads. Copyright files stay, as their licences
// want it.
var excluded = []string{
	"/usr/share/doc/*", "/usr/share/man/*", "/usr/share/info/*", "/usr/share/locale/*", "/usr/share/lintian/*",
}

// tarball returns the root file system as a tar, made when it is missing or its
// definition changed.
func (d Definition) tarball(l layout.Layout) (string, error) {
	path := l.Images(d.Folder, d.key()+".tar")
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	what := fmt.Sprintf("assemble %s from Debian %s: %s", d.Name, d.Debian.Suite, strings.Join(d.Debian.Packages, " "))
	return path, say.Step(what, func() error { return d.bootstrap(l, path) })
}

func (d Definition) bootstrap(l layout.Layout, path string) error {
	// Other versions of this image are of no use any more.
	if err := os.RemoveAll(filepath.Dir(path)); err != nil {
		return err
	}
	// mmdebstrap mounts things below its folder: there cluster-down unmounts them.
	temp := l.Run("mmdebstrap")
	for _, dir := range []string{filepath.Dir(path), temp, l.Log("")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	next := path + ".next"
	cmd := exec.Command("mmdebstrap", d.Debian.arguments(next)...)
	cmd.Env = append(os.Environ(), "TMPDIR="+temp)
	out, err := cmd.CombinedOutput()
	log := l.Log("image-" + d.Folder + ".log")
	if werr := os.WriteFile(log, out, 0o644); werr != nil {
		return werr
	}
	var missing *exec.Error
	if errors.As(err, &missing) {
		return errors.New("the Debian package mmdebstrap is missing")
	}
	if err != nil {
		return fmt.Errorf("mmdebstrap: %s (all of it: %s)", lastError(out), log)
	}
	return os.Rename(next, path)
}

func (d Debian) arguments(target string) []string {
	args := []string{
		"--variant=minbase",
		"--format=tar",
		"--include=" + strings.Join(d.Packages, ","),
		// A suite in motion is re-signed often, and mirrors lag behind: the
		// signature counts here, its date does not.
		`--aptopt=Acquire::Check-Valid-Until "false"`,
	}
	for _, pattern := range excluded {
		args = append(args, "--dpkgopt=path-exclude="+pattern)
	}
	args = append(args, "--dpkgopt=path-include=/usr/share/doc/*/copyright")
	for _, folder := range d.Empty {
		args = append(args, `--customize-hook=find "$1`+folder+`" -mindepth 1 -delete`)
	}
	return append(args, d.Suite, target)
}

// lastError picks the line that says what went wrong out of mmdebstrap's output.
func lastError(out []byte) string {
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	for i := len(lines) - 1; i >= 0; i-- {
		if bytes.HasPrefix(lines[i], []byte("E: ")) && !bytes.Contains(lines[i], []byte("mmdebstrap failed")) {
			return string(lines[i])
		}
	}
	return string(lines[len(lines)-1])
}
