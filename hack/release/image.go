package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// imagePlatforms are those that there is an image for.
var imagePlatforms = []platform{{"linux", "amd64"}, {"linux", "arm64"}}

// images writes one OCI layout, as a tar, with an index of an image for each platform.
func (r *release) images() error {
	index := v1.ImageIndex(empty.Index)
	for _, p := range imagePlatforms {
		binary, err := compile(p, r.version, "./cmd/replab")
		if err != nil {
			return err
		}
		if err := r.check(p, binary); err != nil {
			return err
		}
		image, err := imageOf(p, r.when, binary)
		if err != nil {
			return fmt.Errorf("image of %s: %w", p, err)
		}
		index = with(index, p, image)
	}
	digest, err := index.Digest()
	if err != nil {
		return err
	}
	name := "ghcr.io/" + strings.ToLower(r.repository) + ":" + r.version // registries take no capitals
	r.image = name + "@" + digest.String()
	content, err := archived(index, name, r.when)
	if err != nil {
		return err
	}
	return r.write("replab_"+r.version+"_image.tar", content)
}

func with(index v1.ImageIndex, p platform, image v1.Image) v1.ImageIndex {
	return mutate.AppendManifests(index, mutate.IndexAddendum{Add: plain{image}, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: p.os, Architecture: p.arch}}})
}

// plain is an image that the index gives no artifactType: tools may pass over those that have one.
type plain struct{ v1.Image }

// ArtifactType is what package partial looks for.
func (plain) ArtifactType() (string, error) { return "", nil }

// imageOf a binary is what the Dockerfile makes of it: nothing else is in the image.
func imageOf(p platform, when time.Time, binary []byte) (v1.Image, error) {
	content, err := tarred(when, []file{{"replab", 0o755, binary}})
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	image, err := mutate.AppendLayers(mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON), layer)
	if err != nil {
		return nil, err
	}
	sum, err := layer.DiffID()
	if err != nil {
		return nil, err
	}
	return mutate.ConfigFile(image, &v1.ConfigFile{
		OS:           p.os,
		Architecture: p.arch,
		Created:      v1.Time{Time: when.UTC()},
		RootFS:       v1.RootFS{Type: "layers", DiffIDs: []v1.Hash{sum}},
		History:      []v1.History{{Created: v1.Time{Time: when.UTC()}, CreatedBy: "COPY /replab /replab"}},
		Config: v1.Config{
			User:       "65532:65532",
			Entrypoint: []string{"/replab"},
			Env:        []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
		},
	})
}

// archived is the index as a layout in a tar, which registries' tools push, and containerd and Docker import under its name.
func archived(index v1.ImageIndex, name string, when time.Time) ([]byte, error) {
	folder, err := os.MkdirTemp("", "replab-release-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	path, err := layout.Write(folder, empty.Index)
	if err != nil {
		return nil, err
	}
	if err := path.AppendIndex(index, layout.WithAnnotations(map[string]string{"io.containerd.image.name": name})); err != nil {
		return nil, err
	}
	var files []file
	err = filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(folder, path)
		files = append(files, file{filepath.ToSlash(name), 0o644, content})
		return err
	})
	if err != nil {
		return nil, err
	}
	return tarred(when, files)
}
