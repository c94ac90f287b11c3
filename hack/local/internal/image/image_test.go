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

	"replab.dev/hack/local/internal/layout"
)

func TestParse(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		ok   bool
	}{
		"one source":           {"name: a\nbinary: {name: b, path: /b}\n", true},
		"no source":            {"name: a\n", false},
		"two sources":          {"name: a\nbinary: {name: b, path: /b}\ngo: {module: ., package: ./c, path: /c}\n", false},
		"another image's too":  {"name: a\nextends: {image: b, file: c, path: /c}\n", true},
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
	var users strings.Builder // of the images, by their names: the chart's values, and what else is installed
	manifests, err := filepath.Glob(l.Source("*", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(manifests, filepath.Join(l.Checkout, "config", "packages", "values.yaml")) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		users.Write(text)
	}
	for _, d := range all {
		if slices.Contains([]string{"sysbench", "node", "pause"}, d.Folder) {
			if !d.Optional {
				t.Errorf("%s is brought to nodes, and no pod uses it", d.Name)
			}
			continue // benches run it from its root file system, and kind's nodes are made of it
		}
		if !strings.Contains(users.String(), d.Name) {
			t.Errorf("neither config/packages/values.yaml nor a manifest of hack/local names %s", d.Name)
		}
	}
}

// TestImageIsAsTheDockerfileSays: the local cluster does not run the Dockerfile.
func TestImageIsAsTheDockerfileSays(t *testing.T) {
	l, err := layout.Find()
	if err != nil {
		t.Fatal(err)
	}
	dockerfile, err := os.ReadFile(filepath.Join(l.Checkout, "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	stages := strings.Split(string(dockerfile), "\nFROM ")
	all, err := Load(l)
	if err != nil {
		t.Fatal(err)
	}
	d := all[slices.IndexFunc(all, func(d Definition) bool { return d.Folder == "replab" })]
	entrypoint, err := json.Marshal(d.Config.Entrypoint)
	if err != nil {
		t.Fatal(err)
	}
	want := "scratch\nCOPY --from=build /replab " + d.Go.Path + "\nUSER " + d.Config.User + "\nENTRYPOINT " + string(entrypoint)
	if last := strings.TrimSpace(stages[len(stages)-1]); last != want {
		t.Errorf("the Dockerfile's last stage is\n%s\nand the image is\n%s", last, want)
	}
	if !strings.Contains(string(dockerfile), " -o /replab "+d.Go.Package+"\n") {
		t.Errorf("the Dockerfile compiles another package than %s", d.Go.Package)
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
	if err := WriteArchive(&archive, Named{"x:1", image}, Named{"y:1", image}); err != nil {
		t.Fatal(err)
	}
	files := untar(t, &archive)
	var index v1.IndexManifest
	if err := json.Unmarshal(files["index.json"], &index); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"x:1", "y:1"} {
		if got := index.Manifests[i].Annotations[nameAnnotation]; got != want {
			t.Errorf("the index names %q, want %q", got, want)
		}
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
	if names := slices.Sorted(maps.Keys(untar(t, &a))); !slices.Equal(names, []string{"program"}) {
		t.Errorf("got %q", names)
	}
}

// TestAnImageMayExtendAnother: the other's layer is the lower one, and what the image is made of changes with either.
func TestAnImageMayExtendAnother(t *testing.T) {
	l := layout.Layout{Checkout: t.TempDir(), Dir: t.TempDir()}
	write := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(l.ImageSource("a", "image.yaml"), "name: a:1\nbinary: {name: a, path: /bin/a}\n")
	write(l.ImageSource("b", "image.yaml"), "name: b:1\noptional: true\nextends: {image: a, file: start, path: /bin/start}\n")
	write(l.Bin("a"), "program")
	made := func(start string) (string, []string) {
		t.Helper()
		write(l.ImageSource("b", "start"), start)
		all, err := Load(l)
		if err != nil {
			t.Fatal(err)
		}
		layers, err := all[1].layers(l)
		if err != nil {
			t.Fatal(err)
		}
		key, err := all[1].layersKey(layers)
		if err != nil {
			t.Fatal(err)
		}
		image, err := all[1].build(layers...)
		if err != nil {
			t.Fatal(err)
		}
		found, err := image.Layers()
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, layer := range found {
			in, err := layer.Uncompressed()
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, strings.Join(slices.Sorted(maps.Keys(untar(t, in))), " "))
			_ = in.Close()
		}
		if all[1].wanted(nil) || !all[1].wanted([]string{"b"}) || !all[0].wanted(nil) || all[0].wanted([]string{"b"}) {
			t.Error("an optional image is made where nobody asks for it, or another one is not")
		}
		return key, names
	}
	first, names := made("one")
	if want := []string{"bin/ bin/a", "bin/ bin/start"}; !slices.Equal(names, want) {
		t.Errorf("its layers hold %q, want %q", names, want)
	}
	if second, _ := made("two"); second == first {
		t.Error("another program makes the same image")
	}
	write(l.Bin("a"), "another program")
	if third, _ := made("one"); third == first {
		t.Error("another image below makes the same image")
	}
	write(l.ImageSource("b", "image.yaml"), "name: b:1\nextends: {image: c, file: start, path: /bin/start}\n")
	if _, err := Load(l); err == nil {
		t.Error("it may extend what is not there")
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
