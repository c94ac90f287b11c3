// Package charts_test renders the chart with Helm and the kustomize bases with kubectl, compares them, and gives the
// objects to a real API server.
package charts_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	"replab.dev/test/kubetest"
	"replab.dev/test/unit"
)

func TestMain(m *testing.M) {
	os.Exit(kubetest.Main(m))
}

// objects by "Kind name".
type objects map[string]*unstructured.Unstructured

// render is `helm template` of the chart as `make install` names it.
func render(t *testing.T, args ...string) objects {
	t.Helper()
	out, err := helm(t, args...)
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, out)
}

// helm renders the chart; the error holds what Helm said.
func helm(t *testing.T, args ...string) ([]byte, error) { return helmAs(t, "replab", args...) }

func helmAs(t *testing.T, release string, args ...string) ([]byte, error) {
	t.Helper()
	binary, chart := helmBinary(t), filepath.Join(kubetest.Root(), "charts", "replab")
	words := append([]string{"template", release, chart, "--namespace", "replab-system", "--kube-version", "1.34.0"}, args...)
	once, _ := rendered.LoadOrStore(strings.Join(words, "\x00"), sync.OnceValues(func() ([]byte, error) { return run(binary, words...) }))
	return once.(func() ([]byte, error))()
}

// rendered is what Helm has made of the chart, by its arguments: half a second each, and many tests begin with the same.
var rendered sync.Map

// kustomize builds a folder of config.
func kustomize(t *testing.T, folder string) objects {
	t.Helper()
	out, err := run(kubectlBinary(t), "kustomize", filepath.Join(kubetest.Root(), "config", folder))
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, out)
}

func run(name string, args ...string) ([]byte, error) {
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return nil, errors.New(stderr.String())
	}
	return stdout.Bytes(), nil
}

func parse(t *testing.T, text []byte) objects {
	t.Helper()
	found := objects{}
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
	for {
		object := map[string]any{}
		err := decoder.Decode(&object)
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(object) == 0 {
			continue
		}
		u := &unstructured.Unstructured{Object: object}
		key := u.GetKind() + " " + u.GetName()
		if found[key] != nil {
			t.Fatalf("%s is there twice", key)
		}
		found[key] = u
	}
}

// helmBinary is REPLAB_HELM, what `make test` has built, or the one in PATH.
func helmBinary(t *testing.T) string {
	t.Helper()
	built, _ := filepath.Glob(filepath.Join(kubetest.Root(), "bin", "helm-*"))
	return need(t, "helm", "REPLAB_REQUIRE_HELM", append([]string{os.Getenv("REPLAB_HELM")}, built...))
}

func kubectlBinary(t *testing.T) string {
	t.Helper()
	return need(t, "kubectl", "REPLAB_REQUIRE_ENVTEST", []string{filepath.Join(kubetest.Assets(), "kubectl")})
}

func need(t *testing.T, name, required string, candidates []string) string {
	t.Helper()
	unit.Leave(t)
	for _, path := range candidates {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	if os.Getenv(required) != "" {
		t.Fatalf("there is no %s although %s is set: run `make test`, which builds it", name, required)
	}
	t.Skipf("there is no %s here: run `make test`, which builds it", name)
	return ""
}
