package image

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"

	"replab.dev/hack/local/internal/layout"
	"replab.dev/hack/local/internal/say"
)

// Store is a node of kind, by the name of its container: its images of containerd, in the
// namespace that the kubelet looks in.
type Store string

// stamp remembers what an imported image was made of, so that a large layer need
// not be read again to know that nothing changed.
type stamp struct {
	Key    string `json:"key"`
	Digest string `json:"digest"`
}

// Prepare makes the layers of the images whose folders are named, or of all, so
// that EnsureAll finds them. It needs no store. Programs compile while packages
// are unpacked. Layers of binaries are left to EnsureAll.
func Prepare(l layout.Layout, only []string) error {
	all, err := Load(l)
	if err != nil {
		return err
	}
	var programs, packages error
	var lanes sync.WaitGroup
	lanes.Go(func() { programs = prepare(l, all, only, func(d Definition) bool { return d.Go != nil }) })
	lanes.Go(func() {
		packages = prepare(l, all, only, func(d Definition) bool { return d.Go == nil && d.Binary == nil })
	})
	lanes.Wait()
	return errors.Join(programs, packages)
}

func prepare(l layout.Layout, all []Definition, only []string, mine func(Definition) bool) error {
	for _, d := range all {
		if !d.wanted(only) || !mine(d) {
			continue
		}
		if _, err := d.layers(l); err != nil {
			return fmt.Errorf("image %s: %w", d.Name, err)
		}
	}
	return nil
}

// EnsureAll brings the images whose folders are named, or all, into each store.
func EnsureAll(l layout.Layout, only []string, stores ...Store) error {
	all, err := Load(l)
	if err != nil {
		return err
	}
	for _, name := range only {
		if !slices.ContainsFunc(all, func(d Definition) bool { return d.Folder == name }) {
			return fmt.Errorf("there is no image %q: the images are %s", name, strings.Join(folders(all), ", "))
		}
	}
	present := make([]map[string]string, len(stores))
	for i, s := range stores {
		if present[i], err = s.list(); err != nil {
			return err
		}
	}
	for _, d := range all {
		if !d.wanted(only) {
			continue
		}
		if err := d.ensure(l, stores, present); err != nil {
			return fmt.Errorf("image %s: %w", d.Name, err)
		}
	}
	return nil
}

// wanted tells whether an image is among those that are asked for: with none named, all that are not optional.
func (d Definition) wanted(only []string) bool {
	if len(only) == 0 {
		return !d.Optional
	}
	return slices.Contains(only, d.Folder)
}

func folders(all []Definition) []string {
	var names []string
	for _, d := range all {
		names = append(names, d.Folder)
	}
	return names
}

func (d Definition) ensure(l layout.Layout, stores []Store, present []map[string]string) error {
	layers, err := d.layers(l)
	if err != nil {
		return err
	}
	key, err := d.layersKey(layers)
	if err != nil {
		return err
	}
	mark := l.Images(d.Folder, "imported.json")
	old := readStamp(mark)
	for i, s := range stores {
		if old.Key == key && old.Digest == present[i][d.Name] && old.Digest != "" {
			continue
		}
		what := "import image " + d.Name
		if len(stores) > 1 {
			what += " into " + string(s)
		}
		err := say.Step(what, func() error {
			digest, err := d.load(s, layers)
			if err != nil {
				return err
			}
			return writeStamp(mark, stamp{Key: key, Digest: digest})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// layersKey names what the image is made of. The tar of packages is named
// after that; a binary has to be read.
func (d Definition) layersKey(layers []string) (string, error) {
	if d.Debian != nil {
		return d.key(), nil
	}
	key := d.key()
	if d.Extends != nil {
		below, err := d.Extends.below.layersKey(layers[:len(layers)-1])
		if err != nil {
			return "", err
		}
		key += "-" + below
	}
	sum, err := fileSum(layers[len(layers)-1])
	return key + "-" + sum, err
}

func (d Definition) load(s Store, layers []string) (string, error) {
	image, err := d.build(layers...)
	if err != nil {
		return "", err
	}
	digest, err := image.Digest()
	if err != nil {
		return "", err
	}
	err = s.load(func(w io.Writer) error { return WriteArchive(w, Named{d.Name, image}) })
	return digest.String(), err
}

// list returns the digest of every image by name.
func (s Store) list() (map[string]string, error) {
	out, err := s.command("images", "list").Output()
	if err != nil {
		return nil, fmt.Errorf("list images: is the cluster up? (make cluster-up): %w", err)
	}
	return parseList(string(out)), nil
}

// parseList reads the table that "ctr images list" prints.
func parseList(out string) map[string]string {
	present := map[string]string{}
	for line := range strings.SplitSeq(out, "\n") {
		fields := strings.Fields(line)
		if len(fields) > 2 && strings.Contains(fields[2], ":") {
			present[fields[0]] = fields[2]
		}
	}
	return present
}

func (s Store) load(write func(io.Writer) error) error {
	cmd := s.command("images", "import", "-")
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		return err
	}
	written := write(in)
	closed := in.Close()
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("ctr images import: %w: %s", err, bytes.TrimSpace(out.Bytes()))
	}
	return errors.Join(written, closed)
}

func (s Store) command(args ...string) *exec.Cmd {
	return exec.Command("docker", append([]string{"exec", "--interactive", string(s), "ctr", "--namespace", "k8s.io"}, args...)...)
}

func readStamp(path string) stamp {
	var st stamp
	if b, err := os.ReadFile(path); err == nil {
		_ = json.Unmarshal(b, &st) // a damaged stamp is as good as none
	}
	return st
}

func writeStamp(path string, st stamp) error {
	b, err := json.Marshal(st)
	if err != nil {
		return err
	}
	return os.WriteFile(path, b, 0o644)
}
