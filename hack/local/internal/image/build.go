package image

import (
	"fmt"
	"runtime"
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"replab.dev/hack/local/internal/layout"
)

// Build makes the image whose folder is named.
func Build(l layout.Layout, folder string) (v1.Image, error) {
	all, err := Load(l)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(d Definition) bool { return d.Folder == folder })
	if i < 0 {
		return nil, fmt.Errorf("there is no image %q", folder)
	}
	layers, err := all[i].layers(l)
	if err != nil {
		return nil, err
	}
	return all[i].build(layers...)
}

// FromLayers is an image of tars, the lowest first.
func FromLayers(c Config, layers ...string) (v1.Image, error) {
	return Definition{Config: c}.build(layers...)
}

// layers returns the tars of the image's layers, the lowest first, made if need be.
func (d Definition) layers(l layout.Layout) ([]string, error) {
	var lower []string
	if d.Extends != nil {
		var err error
		if lower, err = d.Extends.below.layers(l); err != nil {
			return nil, err
		}
	}
	own, err := d.layer(l)
	return append(lower, own), err
}

// layer returns the tar of the layer that is the image's own.
func (d Definition) layer(l layout.Layout) (string, error) {
	switch {
	case d.Debian != nil:
		return d.tarball(l)
	case d.Go != nil:
		binary, err := d.compile(l)
		if err != nil {
			return "", err
		}
		return d.layerFile(l, binary, d.Go.Path)
	case d.Extends != nil:
		return d.layerFile(l, l.ImageSource(d.Folder, d.Extends.File), d.Extends.Path)
	default:
		return d.layerFile(l, l.Bin(d.Binary.Name), d.Binary.Path)
	}
}

// build describes the image around its layers.
func (d Definition) build(layers ...string) (v1.Image, error) {
	var content []v1.Layer
	var sums []v1.Hash
	for _, path := range layers {
		layer, err := newPlainLayer(path)
		if err != nil {
			return nil, err
		}
		content, sums = append(content, layer), append(sums, layer.sum)
	}
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err := mutate.AppendLayers(base, content...)
	if err != nil {
		return nil, err
	}
	return mutate.ConfigFile(image, &v1.ConfigFile{
		Architecture: runtime.GOARCH,
		OS:           "linux",
		RootFS:       v1.RootFS{Type: "layers", DiffIDs: sums},
		Config: v1.Config{
			User:       d.Config.User,
			Entrypoint: d.Config.Entrypoint,
			Env:        []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
		},
	})
}
