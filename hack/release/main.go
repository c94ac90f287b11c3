// Command release builds the archives of `kubectl replab` for all platforms, their checksums, and the manifest by which krew installs them.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

func main() {
	version := flag.String("version", "", "of the release, such as v1.2.3")
	url := flag.String("url", "", "of the folder that the archives can be fetched from")
	out := flag.String("out", "dist", "folder to write to")
	flag.Parse()
	if err := release(*version, *url, *out); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// versions that krew takes.
var versions = regexp.MustCompile(`^v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`)

func release(version, url, out string) error {
	if !versions.MatchString(version) || url == "" {
		return fmt.Errorf("-version is %q and -url %q: krew takes versions such as v1.2.3 and v1.2.3-rc.1, and needs to know where the archives are", version, url)
	}
	license, err := os.ReadFile("LICENSE")
	if err != nil {
		return fmt.Errorf("run it in the root of the repository: %w", err)
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	when, err := commitTime()
	if err != nil {
		return err
	}
	var built []archive
	for _, p := range platforms {
		binary, err := compile(p, version)
		if err != nil {
			return err
		}
		a, err := pack(p, version, when, []file{{p.binary(), 0o755, binary}, {"LICENSE", 0o644, license}})
		if err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		if err := os.WriteFile(filepath.Join(out, a.name), a.content, 0o644); err != nil {
			return err
		}
		built = append(built, a)
	}
	manifest, err := krewManifest(version, url, built)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(out, "replab.yaml"), manifest, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, "SHA256SUMS"), checksums(built), 0o644)
}

// compile returns the plugin for a platform. The same commit gives the same bytes on every machine.
func compile(p platform, version string) ([]byte, error) {
	folder, err := os.MkdirTemp("", "replab-release-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, p.binary())
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -X main.version="+version, "-o", path, "./cmd/kubectl-replab")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+p.os, "GOARCH="+p.arch)
	if said, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build kubectl-replab for %s: %w: %s", p, err, said)
	}
	return os.ReadFile(path)
}

// commitTime is what the archives' files bear, so that they do not differ by when they were made.
func commitTime() (time.Time, error) {
	text, err := exec.Command("git", "log", "-1", "--format=%cI").Output()
	if err != nil {
		return time.Time{}, fmt.Errorf("ask git for the time of the commit: %w", err)
	}
	return time.Parse(time.RFC3339, strings.TrimSpace(string(text)))
}
