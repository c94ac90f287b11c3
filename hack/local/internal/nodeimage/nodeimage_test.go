package nodeimage

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"replab.dev/hack/local/internal/bins"
	"replab.dev/hack/local/internal/layout"
	"replab.dev/hack/local/internal/standin"
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

func TestReleasedImageHasThePinnedVersion(t *testing.T) {
	l, err := layout.Find()
	if err != nil {
		t.Fatal(err)
	}
	version, err := bins.Version(l, bins.Kube)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(released, "kindest/node:"+version+"@sha256:") {
		t.Errorf("the image is %s, and hack/local/kube/go.mod pins %s", released, version)
	}
}

func TestPullIsTriedWithoutAReachableRegistry(t *testing.T) {
	const version = "v1.2.3"
	for name, c := range map[string]struct {
		docker    string // what succeeds, as a pattern of sh
		reachable bool
		want      string
	}{
		"the released image is there":   {docker: `"image inspect "*@sha256:*`, want: released},
		"its tag is there":              {docker: `"image inspect kindest/node:v1.2.3"`, want: "kindest/node:v1.2.3"},
		"a registry answers":            {docker: `"pull --quiet "*@sha256:*`, reachable: true, want: released},
		"the engine has a mirror":       {docker: `"pull --quiet "*@sha256:*`, want: released},
		"an assembled one is there":     {docker: `"pull "*|"image list "*`},
		"assembled, a registry answers": {docker: `"pull "*|"image list "*`, reachable: true, want: released},
		"nothing":                       {docker: "none"},
	} {
		t.Run(name, func(t *testing.T) {
			standin.Commands(t, map[string]string{"docker": "case \"$*\" in " + c.docker + ") echo " + own + ":x;; *) exit 1;; esac"})
			if ref, ok := available(version, c.reachable); ok != (c.want != "") || ok && ref != c.want {
				t.Errorf("got %q, %v; want %q", ref, ok, c.want)
			}
		})
	}
}

func TestPullEndsWithItsPatience(t *testing.T) {
	standin.Commands(t, map[string]string{"docker": "exec sleep 600"})
	begin := time.Now()
	if pull("x", 50*time.Millisecond) == nil || time.Since(begin) > time.Minute {
		t.Errorf("an engine that does not end was waited for, for %s", time.Since(begin))
	}
	if pullPatience(true) <= pullPatience(false) {
		t.Error("a registry that answers gets no more time than one that does not")
	}
}

// TestPatternsMatchKindsFiles holds what is replaced and read against the files of the pinned kind.
func TestPatternsMatchKindsFiles(t *testing.T) {
	l, err := layout.Find()
	if err != nil {
		t.Fatal(err)
	}
	base, err := baseFiles(l)
	if err != nil {
		t.Fatal(err)
	}
	config, err := os.ReadFile(filepath.Join(base, "etc/containerd/config.toml"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := containerdConfig(config); err != nil || bytes.Equal(got, config) {
		t.Errorf("the configuration is unchanged: %v", err)
	}
	if got, err := sandboxImage(config); err != nil || !strings.Contains(got, "/pause:") {
		t.Errorf("the sandbox image is %q: %v", got, err)
	}
	if got, err := storageManifest("v1"); err != nil || !strings.Contains(got, provisioner("v1")) {
		t.Errorf("the manifest is %s: %v", got, err)
	}
}

func TestPatternsThatMissFail(t *testing.T) {
	if _, err := containerdConfig([]byte("version = 9\n")); err == nil {
		t.Error("a configuration without the score is accepted")
	}
	if got, err := sandboxImage([]byte("version = 9\n")); err == nil {
		t.Errorf("a configuration without a sandbox image has %q", got)
	}
	if got, err := replaced("text", "missing", "new"); err == nil {
		t.Errorf("a replacement that misses gives %q", got)
	}
}

func TestInputsFollowThePauseProgram(t *testing.T) {
	l := layout.Layout{Checkout: t.TempDir(), Dir: t.TempDir()}
	sum := func(program string) string {
		t.Helper()
		for path, text := range map[string]string{
			bins.Mark(l, bins.Kube): "kube", l.ImageSource(folder, "image.yaml"): "node", l.ImageSource("pause", "image.yaml"): "pause",
			l.Source("pause", "main.go"): program,
		} {
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		key, err := inputs(l, "base")
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	first := sum("package main")
	if sum("package main") != first {
		t.Error("nothing changed and the inputs did")
	}
	if sum("package main // changed") == first {
		t.Error("another pause program makes the same inputs")
	}
}
