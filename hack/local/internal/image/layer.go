package image

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// plainLayer is a tar file as a layer, not compressed: it never travels, and
// packing would take longer than all the rest. The library's own layers of files
// are always compressed.
type plainLayer struct {
	path string
	sum  v1.Hash
	size int64
}

var _ v1.Layer = plainLayer{}

func newPlainLayer(path string) (plainLayer, error) {
	info, err := os.Stat(path)
	if err != nil {
		return plainLayer{}, err
	}
	sum, err := fileSum(path)
	return plainLayer{path: path, sum: v1.Hash{Algorithm: "sha256", Hex: sum}, size: info.Size()}, err
}

// Digest is of the layer as it is stored.
func (l plainLayer) Digest() (v1.Hash, error) { return l.sum, nil }

// DiffID is of the tar; the same, since nothing is compressed.
func (l plainLayer) DiffID() (v1.Hash, error) { return l.sum, nil }

// Compressed is the layer as it is stored.
func (l plainLayer) Compressed() (io.ReadCloser, error) { return os.Open(l.path) }

// Uncompressed is the tar.
func (l plainLayer) Uncompressed() (io.ReadCloser, error) { return os.Open(l.path) }

// Size is of the layer as it is stored.
func (l plainLayer) Size() (int64, error) { return l.size, nil }

// MediaType says that it is not compressed.
func (l plainLayer) MediaType() (types.MediaType, error) { return types.OCIUncompressedLayer, nil }

func fileSum(path string) (string, error) {
	in, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer in.Close()
	h := sha256.New()
	if _, err := io.Copy(h, in); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
