package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"time"
)

// platform that the plugin is released for.
type platform struct{ os, arch string }

var platforms = []platform{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}}

func (p platform) String() string { return p.os + "/" + p.arch }

// binary is the plugin's file, by whose name kubectl finds it.
func (p platform) binary() string {
	if p.os == "windows" {
		return "kubectl-replab.exe"
	}
	return "kubectl-replab"
}

// file of an archive.
type file struct {
	name    string
	mode    int64
	content []byte
}

// archive of a platform.
type archive struct {
	platform platform
	name     string
	content  []byte
}

func (a archive) sum() string { return fmt.Sprintf("%x", sha256.Sum256(a.content)) }

// pack makes an archive as people of the platform can open it. The same files and time give the same bytes.
func pack(p platform, version string, when time.Time, files []file) (archive, error) {
	name := fmt.Sprintf("kubectl-replab_%s_%s_%s", version, p.os, p.arch)
	if p.os == "windows" {
		content, err := zipped(when, files)
		return archive{p, name + ".zip", content}, err
	}
	content, err := tarred(when, files)
	return archive{p, name + ".tar.gz", content}, err
}

func tarred(when time.Time, files []file) ([]byte, error) {
	var out bytes.Buffer
	packed := gzip.NewWriter(&out)
	w := tar.NewWriter(packed)
	for _, f := range files {
		header := &tar.Header{Typeflag: tar.TypeReg, Name: f.name, Mode: f.mode, Size: int64(len(f.content)), ModTime: when.UTC(), Format: tar.FormatUSTAR}
		if err := w.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	if err := packed.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func zipped(when time.Time, files []file) ([]byte, error) {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, f := range files {
		entry, err := w.CreateHeader(&zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: when.UTC()})
		if err != nil {
			return nil, err
		}
		if _, err := entry.Write(f.content); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// checksums in the form that sha256sum -c reads.
func checksums(all []archive) []byte {
	var out bytes.Buffer
	for _, a := range all {
		fmt.Fprintf(&out, "%s  %s\n", a.sum(), a.name)
	}
	return out.Bytes()
}
