package image

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"replab.dev/hack/lab/internal/conf"
	"replab.dev/hack/lab/internal/layout"
)

func TestParse(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		ok   bool
	}{
		"one source":           {"name: a\nbinary: {name: b, path: /b}\n", true},
		"no source":            {"name: a\n", false},
		"two sources":          {"name: a\nbinary: {name: b, path: /b}\ngo: {module: ., package: ./c, path: /c}\n", false},
		"no name":              {"binary: {name: b, path: /b}\n", false},
		"a field nobody knows": {"name: a\nbinary: {name: b, path: /b}\ncolour: red\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := parse("x", []byte(c.text)); (err == nil) != c.ok {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestDefinitions holds the real definitions against what relies on their names.
func TestDefinitions(t *testing.T) {
	l, err := layout.Find()
	if err != nil {
		t.Fatal(err)
	}
	all, err := Load(l)
	if err != nil {
		t.Fatal(err)
	}
	values, err := os.ReadFile(l.Source("values.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range all {
		if d.Folder == "pause" {
			if d.Name != conf.PauseImage {
				t.Errorf("containerd is configured with %s", conf.PauseImage)
			}
			continue
		}
		if !strings.Contains(string(values), d.Name) {
			t.Errorf("values.yaml does not name %s", d.Name)
		}
	}
}

func TestArchiveHoldsWhatItsIndexNames(t *testing.T) {
	layer := filepath.Join(t.TempDir(), "layer.tar")
	binary := filepath.Join(t.TempDir(), "binary")
	if err := os.WriteFile(binary, []byte("program"), 0o755); err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	if err := pack(binary, "/usr/bin/program", &packed); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(layer, packed.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	image, err := Definition{Name: "x:1", Config: Config{User: "7"}}.build(layer)
	if err != nil {
		t.Fatal(err)
	}
	var archive bytes.Buffer
	if err := writeArchive(&archive, "x:1", image); err != nil {
		t.Fatal(err)
	}
	files := untar(t, &archive)
	var index v1.IndexManifest
	if err := json.Unmarshal(files["index.json"], &index); err != nil {
		t.Fatal(err)
	}
	if got := index.Manifests[0].Annotations[nameAnnotation]; got != "x:1" {
		t.Errorf("the index names %q", got)
	}
	var manifest v1.Manifest
	if err := json.Unmarshal(files[blob(index.Manifests[0].Digest)], &manifest); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(files[blob(manifest.Layers[0].Digest)], packed.Bytes()) {
		t.Error("the layer is not what was packed")
	}
	if len(files[blob(manifest.Config.Digest)]) == 0 {
		t.Error("there is no configuration")
	}
}

func TestPackIsRepeatable(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "binary")
	if err := os.WriteFile(binary, []byte("program"), 0o755); err != nil {
		t.Fatal(err)
	}
	var a, b bytes.Buffer
	for _, to := range []*bytes.Buffer{&a, &b} {
		if err := pack(binary, "/program", to); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Error("the same binary made two different layers")
	}
	if names := slices.Sorted(maps.Keys(untar(t, &a))); !slices.Equal(names, []string{"program", "tmp/"}) {
		t.Errorf("got %q", names)
	}
}

func TestParseList(t *testing.T) {
	const out = `REF TYPE DIGEST SIZE PLATFORMS LABELS
replab.local/mysql:9.7 application/vnd.oci.image.manifest.v1+json sha256:ab 10.0 MiB linux/amd64 -
`
	got := parseList(out)
	if len(got) != 1 || got["replab.local/mysql:9.7"] != "sha256:ab" {
		t.Errorf("got %v", got)
	}
}

func TestLastError(t *testing.T) {
	const out = "I: installing\nE: Unable to locate package nope\nI: done\nE: mmdebstrap failed to run\n"
	if got := lastError([]byte(out)); got != "E: Unable to locate package nope" {
		t.Errorf("got %q", got)
	}
}

func untar(t *testing.T, in io.Reader) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for r := tar.NewReader(in); ; {
		h, err := r.Next()
		if err == io.EOF {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[h.Name] = b
	}
}
