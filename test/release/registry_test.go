package release_test

import (
	"cmp"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"replab.dev/test/freeport"
	"replab.dev/test/kubetest"
)

// publication of a release in a registry of its own, which stands for ghcr.io.
type publication struct {
	dist, version, digest string
	repository            string // whose release dist is: OWNER/NAME
	registry, kubeconfig  string
}

func published(t *testing.T) publication {
	t.Helper()
	p := publication{dist: filepath.Join(kubetest.Root(), "dist"), registry: registry(t), kubeconfig: kubetest.Kubeconfig(t)}
	p.repository = strings.ToLower(cmp.Or(os.Getenv("GITHUB_REPOSITORY"), "owner/replab")) // as the Makefile has it
	built, err := filepath.Glob(filepath.Join(p.dist, "replab_*_image.tar"))
	if err != nil || len(built) != 1 {
		t.Fatalf("%s has %d images, want one: make release VERSION=v0.1.0 DRY_RUN=1: %v", p.dist, len(built), err)
	}
	p.version = strings.TrimSuffix(strings.TrimPrefix(filepath.Base(built[0]), "replab_"), "_image.tar")
	folder := t.TempDir()
	if err := os.Symlink(p.dist, filepath.Join(folder, "dist")); err != nil {
		t.Fatal(err)
	}
	p.step(t, folder, "Push the image", "docker://$image", "docker://${image/ghcr.io/"+p.registry+"}",
		"skopeo copy", "skopeo --insecure-policy copy --dest-tls-verify=false")
	p.step(t, folder, "Push the charts", "oci://ghcr.io", "oci://"+p.registry, "helm push", "'"+os.Getenv("REPLAB_HELM")+"' push --plain-http")
	p.digest = string(read(t, filepath.Join(folder, "digest")))
	return p
}

// step runs what the workflow does, after the replacements, given in pairs: they take it to the registry, without TLS.
func (p publication) step(t *testing.T, folder, name string, replacements ...string) {
	t.Helper()
	var workflow struct {
		Jobs map[string]struct {
			Steps []struct{ Name, Run string }
		}
	}
	if err := yaml.Unmarshal(read(t, filepath.Join(kubetest.Root(), ".github", "workflows", "release.yaml")), &workflow); err != nil {
		t.Fatal(err)
	}
	var script string
	for _, s := range workflow.Jobs["publish"].Steps {
		if s.Name == name {
			script = s.Run
		}
	}
	for i := 0; i < len(replacements); i += 2 {
		if !strings.Contains(script, replacements[i]) {
			t.Fatalf("the step %q has no %q:\n%s", name, replacements[i], script)
		}
		script = strings.ReplaceAll(script, replacements[i], replacements[i+1])
	}
	cmd := exec.Command("bash", "-e", "-o", "pipefail", "-c", script)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "GITHUB_REPOSITORY="+p.repository, "GITHUB_REPOSITORY_OWNER="+path.Dir(p.repository), "GITHUB_REF_NAME="+p.version, "GITHUB_OUTPUT="+filepath.Join(folder, "output"))
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", name, err, said)
	}
}

// registry starts Debian's docker-registry, and returns its address.
func registry(t *testing.T) string {
	t.Helper()
	address, folder := freeport.Address(t), t.TempDir()
	config := filepath.Join(folder, "config.yml")
	text := fmt.Sprintf("version: 0.1\nstorage: {filesystem: {rootdirectory: %s}}\nhttp: {addr: %s}\n", filepath.Join(folder, "storage"), address)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Getenv("REPLAB_REGISTRY"), "serve", config)
	cmd.Stdout, cmd.Stderr = t.Output(), t.Output()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it keeps nothing
		_ = cmd.Wait()
	})
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		response, err := http.Get("http://" + address + "/v2/")
		if err == nil {
			response.Body.Close()
			return address
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

func (p publication) chart(name string) string {
	return "oci://" + p.registry + "/" + path.Dir(p.repository) + "/charts/" + name
}

func (p publication) chartVersion() string { return strings.TrimPrefix(p.version, "v") }

// image that the charts and install.yaml name.
func (p publication) image() string {
	return "ghcr.io/" + p.repository + ":" + p.version + "@" + p.digest
}

func (p publication) kubectl(t *testing.T, args ...string) string {
	t.Helper()
	return run(t, kubetest.Root(), filepath.Join(kubetest.Assets(), "kubectl"), append(args, "--kubeconfig", p.kubeconfig)...)
}

// helm with the registry, which has no TLS.
func (p publication) helm(t *testing.T, args ...string) string {
	t.Helper()
	switch args[0] {
	case "pull", "push", "template", "install", "upgrade":
		args = append(args, "--plain-http")
	}
	return run(t, kubetest.Root(), os.Getenv("REPLAB_HELM"), append(args, "--kubeconfig", p.kubeconfig)...)
}
