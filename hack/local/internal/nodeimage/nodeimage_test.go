package nodeimage

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"replab.dev/hack/local/internal/bins"
)

func TestBaseSpec(t *testing.T) {
	got, err := baseSpec([]byte(`{"ociVersion": "1.0.2", "process": {"cwd": "/", "rlimits": [{"type": "RLIMIT_NOFILE"}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	var spec struct {
		Process map[string]any
		Hooks   struct{ CreateContainer []struct{ Path string } }
	}
	if err := json.Unmarshal(got, &spec); err != nil {
		t.Fatal(err)
	}
	if spec.Process["cwd"] != "/" || spec.Process["rlimits"] != nil {
		t.Errorf("the process is %v", spec.Process)
	}
	if len(spec.Hooks.CreateContainer) != 1 || spec.Hooks.CreateContainer[0].Path != "/kind/bin/mount-product-files.sh" {
		t.Errorf("hooks %v", spec.Hooks)
	}
	if _, err := baseSpec([]byte("torn")); err == nil {
		t.Error("half a file was accepted")
	}
}

func TestKubeLayerHasAllNames(t *testing.T) {
	var layer bytes.Buffer
	if err := writeKube(&layer, strings.NewReader("program"), 7); err != nil {
		t.Fatal(err)
	}
	var names []string
	for r := tar.NewReader(&layer); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, h.Name)
	}
	for _, name := range append(bins.Links(bins.Kube), bins.Kube) {
		if !slices.Contains(names, "usr/local/bin/"+name) {
			t.Errorf("%s is missing from %q", name, names)
		}
	}
}

// kind applies these to each new cluster.
func TestManifestsAreYAML(t *testing.T) {
	paths, err := fs.Glob(files, "files/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("%q, %v", paths, err)
	}
	for _, path := range paths {
		text, err := files.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for document := range strings.SplitSeq(string(text), "\n---\n") {
			var object struct{ APIVersion, Kind string }
			if err := yaml.Unmarshal([]byte(document), &object); err != nil || object.APIVersion == "" || object.Kind == "" {
				t.Errorf("%s: %+v, %v", path, object, err)
			}
		}
	}
}
