package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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

// plugins writes the plugin's archives, and the manifest by which krew installs them.
func (r *release) plugins() error {
	license, err := os.ReadFile("LICENSE")
	if err != nil {
		return fmt.Errorf("run it in the root of the repository: %w", err)
	}
	var built []archive
	for _, p := range platforms {
		binary, err := compile(p, r.version, "./cmd/kubectl-replab")
		if err != nil {
			return err
		}
		a, err := pack(p, r.version, r.when, []file{{p.binary(), 0o755, binary}, {"LICENSE", 0o644, license}})
		if err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		if err := r.write(a.name, a.content); err != nil {
			return err
		}
		built = append(built, a)
	}
	manifest, err := krewManifest(r.version, r.url(), built)
	if err != nil {
		return err
	}
	return r.write("replab.yaml", manifest)
}

// compile returns a program for a platform. The same commit and Go give the same bytes on every machine.
func compile(p platform, version, program string) ([]byte, error) {
	folder, err := os.MkdirTemp("", "replab-release-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "program")
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -X main.version="+version, "-o", path, program)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+p.os, "GOARCH="+p.arch)
	if _, err := finished(cmd); err != nil {
		return nil, fmt.Errorf("for %s: %w", p, err)
	}
	return os.ReadFile(path)
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
	if err != nil {
		return archive{}, err
	}
	content, err = gzipped(content)
	return archive{p, name + ".tar.gz", content}, err
}

func gzipped(content []byte) ([]byte, error) {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(content); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func tarred(when time.Time, files []file) ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
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
