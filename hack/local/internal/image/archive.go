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

// Named is an image and the name that it gets in a store.
type Named struct {
	Name  string
	Image v1.Image
}

// WriteArchive writes images as an OCI layout in one tar, straight from the
// layers' files: the large ones are not copied once more to be imported. What
// several of them share is written once.
func WriteArchive(w io.Writer, images ...Named) error {
	t := archive{tar.NewWriter(w), map[string]bool{}}
	if err := t.addBytes("oci-layout", []byte(`{"imageLayoutVersion":"1.0.0"}`)); err != nil {
		return err
	}
	index, err := indexOf(images)
	if err != nil {
		return err
	}
	if err := t.addBytes("index.json", index); err != nil {
		return err
	}
	for _, named := range images {
		if err := t.addMetadata(named.Image); err != nil {
			return err
		}
		layers, err := named.Image.Layers()
		if err != nil {
			return err
		}
		for _, layer := range layers {
			if err := t.addLayer(layer); err != nil {
				return err
			}
		}
	}
	return t.Close()
}

func indexOf(images []Named) ([]byte, error) {
	index := v1.IndexManifest{SchemaVersion: 2, MediaType: types.OCIImageIndex}
	for _, named := range images {
		digest, err := named.Image.Digest()
		if err != nil {
			return nil, err
		}
		size, err := named.Image.Size()
		if err != nil {
			return nil, err
		}
		index.Manifests = append(index.Manifests, v1.Descriptor{
			MediaType:   types.OCIManifestSchema1,
			Size:        size,
			Digest:      digest,
			Annotations: map[string]string{nameAnnotation: named.Name},
		})
	}
	return json.Marshal(index)
}

// archive is a tar that has each file once.
type archive struct {
	*tar.Writer
	has map[string]bool
}

func (t archive) addMetadata(image v1.Image) error {
	manifest, err := image.RawManifest()
	if err != nil {
		return err
	}
	digest, err := image.Digest()
	if err != nil {
		return err
	}
	if err := t.addBytes(blob(digest), manifest); err != nil {
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
	return t.addBytes(blob(name), config)
}

func (t archive) addLayer(layer v1.Layer) error {
	digest, err := layer.Digest()
	if err != nil || t.has[blob(digest)] {
		return err
	}
	t.has[blob(digest)] = true
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

func (t archive) addBytes(name string, content []byte) error {
	if t.has[name] {
		return nil
	}
	t.has[name] = true
	if err := t.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(content))}); err != nil {
		return err
	}
	_, err := t.Write(content)
	return err
}

func blob(h v1.Hash) string { return "blobs/" + h.Algorithm + "/" + h.Hex }
