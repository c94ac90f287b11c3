// Package release_test pushes what `make release DRY_RUN=1` built to a registry, by the steps of the workflow, and installs from there. It needs
// Debian's docker-registry and skopeo: `make release-check`.
package release_test

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"replab.dev/test/kubetest"
)

// asked names the variable without which nothing of this is run.
const asked = "REPLAB_RELEASE"

func TestMain(m *testing.M) {
	if os.Getenv(asked) == "" {
		os.Exit(m.Run())
	}
	os.Exit(kubetest.Main(m))
}

func TestAReleaseIsInstalledFromTheRegistry(t *testing.T) {
	if os.Getenv(asked) == "" {
		t.Skip(asked + " is not set: `make release-check` publishes to a registry of its own")
	}
	p := published(t)
	t.Run("the image is pulled as it was built", p.imageIsPulled)
	t.Run("the charts are pulled as they were built", p.chartsArePulled)
	t.Run("kubectl installs the operator", p.kubectlInstalls)
	t.Run("helm upgrades from the release before", p.helmUpgrades)
}

// imageIsPulled by the digests of all that the layout holds.
func (p publication) imageIsPulled(t *testing.T) {
	f, err := os.Open(filepath.Join(p.dist, "replab_"+p.version+"_image.tar"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	blobs := 0
	for r := tar.NewReader(f); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		sum, ok := strings.CutPrefix(header.Name, "blobs/sha256/")
		if !ok {
			continue
		}
		blobs++
		if got := fmt.Sprintf("%x", sha256.Sum256(p.pull(t, "sha256:"+sum))); got != sum {
			t.Errorf("%s is pulled as %s", sum, got)
		}
	}
	if blobs != 7 { // an index; a manifest, a configuration and a layer for each of two platforms
		t.Errorf("the layout has %d blobs, want 7", blobs)
	}
	if !bytes.Contains(p.pull(t, p.digest), []byte(`"architecture":"arm64"`)) {
		t.Errorf("the index %s has no image for arm64", p.digest)
	}
}

// pull a manifest or a blob.
func (p publication) pull(t *testing.T, digest string) []byte {
	t.Helper()
	for _, kind := range []string{"manifests", "blobs"} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+p.registry+"/v2/"+p.repository+"/"+kind+"/"+digest, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header["Accept"] = []string{"application/vnd.oci.image.index.v1+json", "application/vnd.oci.image.manifest.v1+json"}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if response.StatusCode == http.StatusOK {
			return content
		}
	}
	t.Fatalf("the registry has no %s", digest)
	return nil
}

func (p publication) chartsArePulled(t *testing.T) {
	charts, err := filepath.Glob(filepath.Join(p.dist, "*.tgz"))
	if err != nil || len(charts) == 0 {
		t.Fatalf("there is no chart: %v", err)
	}
	for _, built := range charts {
		name := strings.TrimSuffix(filepath.Base(built), "-"+p.chartVersion()+".tgz")
		folder := t.TempDir()
		p.helm(t, "pull", p.chart(name), "--version", p.chartVersion(), "--destination", folder)
		if !bytes.Equal(read(t, built), read(t, filepath.Join(folder, filepath.Base(built)))) {
			t.Errorf("%s is pulled otherwise", built)
		}
	}
	if text := p.helm(t, "template", "replab", p.chart("replab"), "--version", p.chartVersion()); strings.Count(text, p.image()) != 2 {
		t.Errorf("the operator and its experiments do not both run %s:\n%s", p.image(), text)
	}
}

func (p publication) kubectlInstalls(t *testing.T) {
	p.kubectl(t, "apply", "--server-side", "--filename", filepath.Join(p.dist, "install.yaml"))
	if got := p.operatorImage(t, "replab-system", "replab-operator"); got != p.image() {
		t.Errorf("the operator's image is %s, want %s", got, p.image())
	}
}

// helmUpgrades from the chart of the tag before, or of a hundred commits ago where there is none.
func (p publication) helmUpgrades(t *testing.T) {
	before, err := output(kubetest.Root(), "git", "describe", "--tags", "--abbrev=0", "--match", "v[0-9]*", "HEAD^")
	if err != nil {
		before = "HEAD~100"
	}
	folder := t.TempDir()
	run(t, kubetest.Root(), "bash", "-o", "pipefail", "-c", `git archive "$1" charts/replab experiments/single.yaml | tar --extract --directory "$2"`, "-", strings.TrimSpace(before), folder)
	const old = "0.0.0-before"
	p.helm(t, "package", filepath.Join(folder, "charts", "replab"), "--version", old, "--app-version", old, "--destination", folder)
	p.helm(t, "push", filepath.Join(folder, "replab-"+old+".tgz"), strings.TrimSuffix(p.chart(""), "/"))

	// The server has the CRDs of this commit: the older chart takes them over, and makes them as they were.
	p.helm(t, "install", "upgraded", p.chart("replab"), "--version", old, "--namespace", "upgraded", "--create-namespace", "--take-ownership", "--force-conflicts")
	if got := p.operatorImage(t, "upgraded", "upgraded-operator"); got != "replab:"+old {
		t.Errorf("the older operator's image is %s", got)
	}
	p.kubectl(t, "apply", "--namespace", "upgraded", "--filename", filepath.Join(folder, "experiments", "single.yaml"))
	created := p.kubectl(t, "get", "repx", "--namespace", "upgraded", "--output", "jsonpath={.items[*].metadata.uid}")

	p.helm(t, "upgrade", "upgraded", p.chart("replab"), "--version", p.chartVersion(), "--namespace", "upgraded")
	if got := p.operatorImage(t, "upgraded", "upgraded-operator"); got != p.image() {
		t.Errorf("the operator's image is %s after the upgrade, want %s", got, p.image())
	}
	if got := p.kubectl(t, "get", "repx", "--namespace", "upgraded", "--output", "jsonpath={.items[*].metadata.uid}"); got != created || got == "" {
		t.Errorf("experiments %q before the upgrade, %q after", created, got)
	}
	p.kubectl(t, "apply", "--dry-run=server", "--validate=strict", "--namespace", "upgraded", "--filename", filepath.Join(kubetest.Root(), "experiments", "semisync.yaml"))
}

func (p publication) operatorImage(t *testing.T, namespace, name string) string {
	t.Helper()
	return p.kubectl(t, "get", "deployment", name, "--namespace", namespace, "--output", "jsonpath={.spec.template.spec.containers[0].image}")
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func run(t *testing.T, folder, name string, args ...string) string {
	t.Helper()
	out, err := output(folder, name, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func output(folder, name string, args ...string) (string, error) {
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = folder, &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, stderr.String())
	}
	return stdout.String(), nil
}
