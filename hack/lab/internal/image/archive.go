package image

import (
	"archive/tar"
	"encoding/json"
	"io"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// nameAnnotation is what containerd takes an imported image's name from.
const nameAnnotation = "io.containerd.image.name"

// writeArchive writes the image as an OCI layout in one tar, straight from the
// layer's file: the large ones are not copied once more to be imported.
func writeArchive(w io.Writer, name string, image v1.Image) error {
	t := tar.NewWriter(w)
	if err := addBytes(t, "oci-layout", []byte(`{"imageLayoutVersion":"1.0.0"}`)); err != nil {
		return err
	}
	index, err := indexOf(name, image)
	if err != nil {
		return err
	}
	if err := addBytes(t, "index.json", index); err != nil {
		return err
	}
	if err := addMetadata(t, image); err != nil {
		return err
	}
	layers, err := image.Layers()
	if err != nil {
		return err
	}
	for _, layer := range layers {
		if err := addLayer(t, layer); err != nil {
			return err
		}
	}
	return t.Close()
}

func indexOf(name string, image v1.Image) ([]byte, error) {
	digest, err := image.Digest()
	if err != nil {
		return nil, err
	}
	size, err := image.Size()
	if err != nil {
		return nil, err
	}
	return json.Marshal(v1.IndexManifest{
		SchemaVersion: 2,
		MediaType:     types.OCIImageIndex,
		Manifests: []v1.Descriptor{{
			MediaType:   types.OCIManifestSchema1,
			Size:        size,
			Digest:      digest,
			Annotations: map[string]string{nameAnnotation: name},
		}},
	})
}

func addMetadata(t *tar.Writer, image v1.Image) error {
	manifest, err := image.RawManifest()
	if err != nil {
		return err
	}
	digest, err := image.Digest()
	if err != nil {
		return err
	}
	if err := addBytes(t, blob(digest), manifest); err != nil {
		return err
	}
	config, err := image.RawConfigFile()
	if err != nil {
		return err
	}
	name, err := image.ConfigName()
	if err != nil {
		return err
	}
	return addBytes(t, blob(name), config)
}

func addLayer(t *tar.Writer, layer v1.Layer) error {
	digest, err := layer.Digest()
	if err != nil {
		return err
	}
	size, err := layer.Size()
	if err != nil {
		return err
	}
	in, err := layer.Compressed()
	if err != nil {
		return err
	}
	defer in.Close()
	if err := t.WriteHeader(&tar.Header{Name: blob(digest), Mode: 0o644, Size: size}); err != nil {
		return err
	}
	_, err = io.Copy(t, in)
	return err
}

func addBytes(t *tar.Writer, name string, content []byte) error {
	if err := t.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(content))}); err != nil {
		return err
	}
	_, err := t.Write(content)
	return err
}

func blob(h v1.Hash) string { return "blobs/" + h.Algorithm + "/" + h.Hex }
