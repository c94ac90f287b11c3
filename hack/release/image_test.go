package main

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// TestTheImageIsAsTheDockerfileSays: the release does not run the Dockerfile.
func TestTheImageIsAsTheDockerfileSays(t *testing.T) {
	text, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	stages := strings.Split(string(text), "\nFROM ")
	last := stages[len(stages)-1]
	image, err := imageOf(platform{"linux", "arm64"}, when, []byte("binary"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	entrypoint, err := json.Marshal(got.Config.Entrypoint)
	if err != nil {
		t.Fatal(err)
	}
	want := "scratch\nCOPY --from=build /replab /replab\nUSER " + got.Config.User + "\nENTRYPOINT " + string(entrypoint)
	if strings.TrimSpace(last) != want {
		t.Errorf("the Dockerfile's last stage is\n%s\nand the image is\n%s", last, want)
	}
	if !regexp.MustCompile(`-trimpath -buildvcs=false -ldflags "-s -w -X main.version=`).Match(text) {
		t.Error("the Dockerfile builds with other flags than compile")
	}
	if got.Architecture != "arm64" || got.OS != "linux" || len(got.RootFS.DiffIDs) != 1 {
		t.Errorf("the image is %+v", got)
	}
	var files []file
	layers, err := image.Layers()
	if err != nil {
		t.Fatal(err)
	}
	content, err := layers[0].Compressed()
	if err != nil {
		t.Fatal(err)
	}
	defer content.Close()
	if files = untar(t, content); len(files) != 1 || files[0].name != "replab" || files[0].mode != 0o755 {
		t.Errorf("the image holds %v", files)
	}
}

// TestTheIndexTakesImagesForImages: with an artifactType, skopeo 1.9 pushes another index than it was given.
func TestTheIndexTakesImagesForImages(t *testing.T) {
	p := platform{"linux", "arm64"}
	image, err := imageOf(p, when, []byte("binary"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := with(empty.Index, p, image).IndexManifest()
	if err != nil || len(got.Manifests) != 1 {
		t.Fatalf("%+v: %v", got, err)
	}
	if m := got.Manifests[0]; m.ArtifactType != "" || m.Platform.Architecture != "arm64" || m.MediaType != types.OCIManifestSchema1 {
		t.Errorf("the index has %+v", m)
	}
}

func TestTheLayoutNamesTheIndexAndIsTheSameAgain(t *testing.T) {
	p := platform{"linux", "amd64"}
	image, err := imageOf(p, when, []byte("binary"))
	if err != nil {
		t.Fatal(err)
	}
	index := with(empty.Index, p, image)
	var before []byte
	for range 2 {
		content, err := archived(index, "registry.example/replab:v1.2.3", when)
		if err != nil {
			t.Fatal(err)
		}
		if before != nil && string(before) != string(content) {
			t.Error("the second layout differs")
		}
		before = content
	}
	packed, err := gzipped(before)
	if err != nil {
		t.Fatal(err)
	}
	digest, err := index.Digest()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range untar(t, strings.NewReader(string(packed))) {
		if f.name != "index.json" {
			continue
		}
		var top v1.IndexManifest
		if err := json.Unmarshal(f.content, &top); err != nil {
			t.Fatal(err)
		}
		if len(top.Manifests) != 1 || top.Manifests[0].Digest != digest || top.Manifests[0].Annotations["io.containerd.image.name"] != "registry.example/replab:v1.2.3" {
			t.Errorf("index.json names %+v, want %s", top.Manifests, digest)
		}
		return
	}
	t.Error("the layout has no index.json")
}
