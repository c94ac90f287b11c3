package image

import (
	"runtime"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"replab.dev/hack/lab/internal/layout"
)

// layer returns the tar of the image's only layer, made if need be.
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
	default:
		return d.layerFile(l, l.Bin(d.Binary.Name), d.Binary.Path)
	}
}

// build describes the image around its layer.
func (d Definition) build(layer string) (v1.Image, error) {
	content, err := newPlainLayer(layer)
	if err != nil {
		return nil, err
	}
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err := mutate.AppendLayers(base, content)
	if err != nil {
		return nil, err
	}
	return mutate.ConfigFile(image, &v1.ConfigFile{
		Architecture: runtime.GOARCH,
		OS:           "linux",
		RootFS:       v1.RootFS{Type: "layers", DiffIDs: []v1.Hash{content.sum}},
		Config: v1.Config{
			User:       d.Config.User,
			Entrypoint: d.Config.Entrypoint,
			Env:        []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
		},
	})
}
