// Package image assembles images and hands them to containerd. There is
// no registry and no image builder: a layer comes from Debian packages or is one
// static binary.
package image

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"sigs.k8s.io/yaml"

	"replab.dev/hack/local/internal/layout"
)

// Definition is one hack/images/*/image.yaml. Exactly one of Debian, Go, Binary
// and Extends says where the content comes from.
type Definition struct {
	// Folder is the name of the definition's folder, and of the image on the
	// command line.
	Folder string `json:"-"`
	// Name is the full reference that pods use.
	Name    string   `json:"name"`
	Debian  *Debian  `json:"debian,omitempty"`
	Go      *Go      `json:"go,omitempty"`
	Binary  *Binary  `json:"binary,omitempty"`
	Extends *Extends `json:"extends,omitempty"`
	Config  Config   `json:"config"`
	// Optional images are made only where they are asked for by name.
	Optional bool `json:"optional,omitempty"`

	text []byte
}

// Debian is a root file system of packages.
type Debian struct {
	Suite    string   `json:"suite"`
	Packages []string `json:"packages"`
	// Empty are folders whose content is thrown away.
	Empty []string `json:"empty,omitempty"`
}

// Go is a static binary compiled from a package of this checkout.
type Go struct {
	// Module is the module's folder below the checkout.
	Module  string `json:"module"`
	Package string `json:"package"`
	// Path is where the binary lies in the image.
	Path string `json:"path"`
	// Version is the variable that VERSION of the environment is written to.
	Version string `json:"version,omitempty"`
}

// Binary is one that package bins compiles.
type Binary struct {
	Name string `json:"name"`
	Path string `json:"path"`
}

// Extends is another image with a program of the definition's folder on top.
type Extends struct {
	// Image is the name of that image's folder.
	Image string `json:"image"`
	// File is the program's name, and Path where it lies in the image.
	File string `json:"file"`
	Path string `json:"path"`

	below *Definition
}

// Config is how a container of the image starts when a pod does not say.
type Config struct {
	User       string   `json:"user,omitempty"`
	Entrypoint []string `json:"entrypoint,omitempty"`
}

// Load reads all definitions.
func Load(l layout.Layout) ([]Definition, error) {
	paths, err := filepath.Glob(l.ImageSource("*", "image.yaml"))
	if err != nil {
		return nil, err
	}
	var all []Definition
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		d, err := parse(filepath.Base(filepath.Dir(path)), text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		all = append(all, d)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no image is defined below %s", l.ImageSource())
	}
	return all, link(all)
}

// link finds the images that others extend.
func link(all []Definition) error {
	for _, d := range all {
		if d.Extends == nil {
			continue
		}
		i := slices.IndexFunc(all, func(other Definition) bool { return other.Folder == d.Extends.Image && other.Extends == nil })
		if i < 0 {
			return fmt.Errorf("%s: cannot extend %q: choose an existing image without extends", d.Name, d.Extends.Image)
		}
		d.Extends.below = &all[i]
	}
	return nil
}

func parse(folder string, text []byte) (Definition, error) {
	d := Definition{Folder: folder, text: text}
	if err := yaml.UnmarshalStrict(text, &d); err != nil {
		return d, err
	}
	sources := 0
	for _, present := range []bool{d.Debian != nil, d.Go != nil, d.Binary != nil, d.Extends != nil} {
		if present {
			sources++
		}
	}
	if d.Name == "" || sources != 1 {
		return d, errors.New("needs a name, and exactly one of debian, go, binary and extends")
	}
	return d, nil
}

// key names the definition's text, for what is cached under it.
func (d Definition) key() string {
	sum := sha256.Sum256(d.text)
	return hex.EncodeToString(sum[:8])
}
