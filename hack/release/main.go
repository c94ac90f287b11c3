// Command release builds into one folder all that a tag publishes. The same commit and Go give the same bytes.
package main

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

func main() {
	r := release{said: os.Stdout}
	flag.StringVar(&r.version, "version", "", "of the release, such as v1.2.3")
	flag.StringVar(&r.repository, "repository", "", "on GitHub: OWNER/NAME")
	flag.StringVar(&r.out, "out", "dist", "folder to write to, which must not exist")
	flag.StringVar(&r.helm, "helm", "helm", "path of Helm 4")
	flag.StringVar(&r.cyclonedx, "cyclonedx", "cyclonedx-gomod", "path of cyclonedx-gomod")
	flag.Parse()
	if err := r.build(); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// release of the checkout that is the current folder.
type release struct {
	version, repository, out string
	helm, cyclonedx          string
	said                     io.Writer

	when  time.Time // of the commit: files bear it, and not the time of the build
	image string    // NAME:TAG@DIGEST, set by images
}

var (
	// versions that krew takes.
	versions     = regexp.MustCompile(`^v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`)
	repositories = regexp.MustCompile(`^[\w.-]+/[\w.-]+$`)
)

func (r *release) build() error {
	if !versions.MatchString(r.version) || !repositories.MatchString(r.repository) {
		return fmt.Errorf("-version is %q and -repository %q: write a version such as v1.2.3 or v1.2.3-rc.1, and OWNER/NAME", r.version, r.repository)
	}
	if err := os.Mkdir(r.out, 0o755); err != nil {
		return fmt.Errorf("make an empty folder for the release: %w", err)
	}
	var err error
	if r.when, err = commitTime(); err != nil {
		return err
	}
	for _, step := range []func() error{r.images, r.charts, r.install, r.plugins, r.sbom, r.notes, r.checksums} {
		if err := step(); err != nil {
			return err
		}
	}
	fmt.Fprintf(r.said, "image    %s\n", r.image)
	return nil
}

// url of the folder that the release's files can be fetched from.
func (r *release) url() string {
	return "https://github.com/" + r.repository + "/releases/download/" + r.version
}

func (r *release) write(name string, content []byte) error {
	return os.WriteFile(filepath.Join(r.out, name), content, 0o644)
}

// skip tells what this machine cannot build or check. In CI, where tags are released, that is an error.
func (r *release) skip(what string, err error) error {
	if os.Getenv("CI") != "" {
		return fmt.Errorf("%s: %w", what, err)
	}
	line, _, _ := strings.Cut(strings.TrimSpace(err.Error()), "\n")
	fmt.Fprintf(r.said, "skipped: %s: %s\n", what, line)
	return nil
}

// checksums of all files, in the form that sha256sum -c reads.
func (r *release) checksums() error {
	files, err := os.ReadDir(r.out)
	if err != nil {
		return err
	}
	var sums strings.Builder
	for _, f := range files {
		content, err := os.ReadFile(filepath.Join(r.out, f.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(content), f.Name())
		fmt.Fprintf(r.said, "%8d  %s\n", len(content), filepath.Join(r.out, f.Name()))
	}
	return r.write("SHA256SUMS", []byte(sums.String()))
}

// commitTime is that of the checkout's commit.
func commitTime() (time.Time, error) {
	text, err := output("git", "log", "-1", "--format=%cI")
	if err != nil {
		return time.Time{}, err
	}
	return time.Parse(time.RFC3339, strings.TrimSpace(string(text)))
}

// output of a command. The error holds what it said, its last line first.
func output(name string, args ...string) ([]byte, error) {
	return finished(exec.Command(name, args...))
}

func finished(cmd *exec.Cmd) ([]byte, error) {
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %s%s", strings.Join(cmd.Args, " "), err, said.String(), out)
	}
	return out, nil
}
