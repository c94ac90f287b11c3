package nodeimage

import (
	"archive/tar"
	"errors"
	"io"
	"os"
	"path"

	"replab.dev/hack/local/internal/bins"
	"replab.dev/hack/local/internal/layout"
)

// packKube writes the layer that all images of the control plane share: the one
// binary, under the names that their pods call.
func packKube(l layout.Layout, target string) error {
	in, err := os.Open(l.Bin(bins.Kube))
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.Create(target)
	if err != nil {
		return err
	}
	return errors.Join(writeKube(out, in, info.Size()), out.Close())
}

const binFolder = "usr/local/bin"

func writeKube(to io.Writer, kube io.Reader, size int64) error {
	w := tar.NewWriter(to)
	for _, dir := range []tar.Header{{Name: "tmp/", Mode: 0o1777}, {Name: "usr/", Mode: 0o755}, {Name: "usr/local/", Mode: 0o755}, {Name: binFolder + "/", Mode: 0o755}} {
		dir.Typeflag = tar.TypeDir
		if err := w.WriteHeader(&dir); err != nil {
			return err
		}
	}
	if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: path.Join(binFolder, bins.Kube), Mode: 0o755, Size: size}); err != nil {
		return err
	}
	if _, err := io.Copy(w, kube); err != nil {
		return err
	}
	for _, name := range bins.Links(bins.Kube) {
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: path.Join(binFolder, name), Linkname: bins.Kube}); err != nil {
			return err
		}
	}
	return w.Close()
}
