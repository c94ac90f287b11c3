package kind

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/yaml"

	"replab.dev/hack/local/internal/bins"
	"replab.dev/hack/local/internal/engine"
	"replab.dev/hack/local/internal/image"
	"replab.dev/hack/local/internal/layout"
	"replab.dev/hack/local/internal/preflight"
	"replab.dev/hack/local/internal/registry"
	"replab.dev/hack/local/internal/say"
)

// Public and Packages are where the images of databases, proxies and k6 come from.
const (
	Public   = "public"
	Packages = "packages"
)

// Wish is which images to bring.
type Wish struct {
	// From is Public or Packages; empty, it is decided by what can be pulled.
	From string
	// Only are the images' folders; empty, what Experiment needs.
	Only []string
	// Experiment is a file; empty, all images are brought.
	Experiment string
}

func (w Wish) named() bool { return len(w.Only) > 0 || w.Experiment != "" }

// Images brings images into all nodes. Of public ones that is the operator's own:
// nodes pull the others. The choice is written down for `make install`.
func Images(l layout.Layout, w Wish) error {
	reached, err := engine.Use(l)
	if err != nil {
		return err
	}
	all, err := provider().ListInternalNodes(Name)
	if !reached || err != nil || len(all) == 0 {
		return errors.Join(errors.New("the cluster is not up: run make cluster-up first"), explain(err))
	}
	// What was chosen before holds for what is brought later.
	if text, err := os.ReadFile(l.ImagesFrom()); err == nil && w.From == "" {
		w.From = strings.TrimSpace(string(text))
	}
	from, only, err := w.settle()
	if err != nil {
		return err
	}
	if err := w.Prepare(l); err != nil {
		return err
	}
	say.Line("Images: %s (IMAGES=%s or IMAGES=%s chooses)", from, Public, Packages)
	var stores []image.Store
	for _, n := range all {
		stores = append(stores, image.Store(n.String()))
	}
	if err := image.EnsureAll(l, only, stores...); err != nil {
		return err
	}
	return os.WriteFile(l.ImagesFrom(), []byte(from+"\n"), 0o644)
}

// Prepare makes what Images brings. It needs no cluster.
func (w Wish) Prepare(l layout.Layout) error {
	from, only, err := w.settle()
	if err != nil {
		return err
	}
	if from == Packages {
		if err := preflight.Images(); err != nil {
			return fmt.Errorf("cannot assemble images from packages: %w", err)
		}
	}
	var k6, images error
	var lanes sync.WaitGroup
	if len(only) == 0 || slices.Contains(only, bins.K6) {
		lanes.Go(func() { k6 = bins.Ensure(l, []string{bins.K6}) })
	}
	lanes.Go(func() { images = image.Prepare(l, only) })
	lanes.Wait()
	return errors.Join(k6, images)
}

// settle is where images come from and which are brought.
func (w Wish) settle() (from string, only []string, err error) {
	if w.Experiment != "" {
		if _, err := os.Stat(w.Experiment); err != nil {
			return "", nil, err
		}
	}
	if from, err = source(w.From, registry.Reachable); err != nil {
		return "", nil, err
	}
	switch {
	case len(w.Only) > 0:
		return from, w.Only, nil
	case from == Public:
		return from, []string{"replab"}, nil
	case w.Experiment != "":
		only, err = needs(w.Experiment)
	}
	return from, only, err
}

// source is where images come from.
func source(wish string, reachable func() bool) (string, error) {
	switch {
	case wish == Public || wish == Packages:
		return wish, nil
	case wish != "":
		return "", fmt.Errorf("IMAGES is %q and must be %s or %s", wish, Public, Packages)
	case reachable():
		return Public, nil
	}
	return Packages, nil
}

// servers are the folders of the images of database servers, by their engines.
var servers = map[string]string{"MySQL": "mysql", "MariaDB": "mariadb", "PostgreSQL": "patroni"}

// needs are the images that an experiment needs. The proxy is the default's; what
// Debian does not have is not brought.
func needs(file string) ([]string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var x struct {
		Kind string
		Spec struct {
			Topology struct{ Type, Engine string }
		}
	}
	if err := yaml.Unmarshal(text, &x); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if x.Kind == "ReplicationSuite" {
		return nil, nil // its variants may be of any kind: all
	}
	byType := map[string]string{"Patroni": "PostgreSQL", "Galera": "MariaDB"}
	server, ok := servers[cmp.Or(x.Spec.Topology.Engine, byType[x.Spec.Topology.Type], "MySQL")]
	if !ok {
		return nil, fmt.Errorf("%s: there is no image for the engine %q", file, x.Spec.Topology.Engine)
	}
	return []string{"replab", bins.K6, "haproxy", server}, nil
}
