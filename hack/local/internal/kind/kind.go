// Package kind makes the cluster of kind, brings images into it and removes it.
package kind

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"sigs.k8s.io/kind/pkg/cluster"
	"sigs.k8s.io/kind/pkg/cluster/nodes"
	"sigs.k8s.io/kind/pkg/cluster/nodeutils"
	kindexec "sigs.k8s.io/kind/pkg/exec"

	"replab.dev/hack/local/internal/engine"
	"replab.dev/hack/local/internal/layout"
	"replab.dev/hack/local/internal/nodeimage"
	"replab.dev/hack/local/internal/preflight"
	"replab.dev/hack/local/internal/say"
)

// Name is of the cluster.
const Name = "replab"

const patience = 3 * time.Minute

// Up makes the cluster of the configuration file, or repairs it, and returns when
// it can be used. While a new one is made, so are the images that are asked for.
func Up(l layout.Layout, file string, w Wish) error {
	begin := time.Now()
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	config, wanted, err := configure(text, filepath.Join(l.Checkout, patchesFolder), cgroupV1())
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if err := engine.Up(l); err != nil {
		return err
	}
	p := provider()
	existing, err := p.ListNodes(Name)
	if err != nil {
		return explain(err)
	}
	switch {
	case len(existing) == 0:
		var images error
		var lane sync.WaitGroup
		// Only named images are prepared here; preparing all takes longer than creating the cluster.
		if w.named() {
			lane.Go(func() { images = w.Prepare(l) })
		}
		err = create(l, p, config, wanted)
		lane.Wait()
		err = errors.Join(err, images)
	default:
		if err := ours(l, existing); err != nil {
			return err
		}
		if len(existing) != wanted {
			return fmt.Errorf("the cluster has %d nodes and %s asks for %d: run make cluster-down first", len(existing), file, wanted)
		}
		err = repair(l, p, existing, config)
	}
	if err != nil {
		return err
	}
	if err := usable(p); err != nil {
		return fmt.Errorf("%w: run make cluster-down cluster-up", err)
	}
	if err := p.ExportKubeConfig(Name, l.Kubeconfig(), false); err != nil {
		return explain(err)
	}
	if err := preflight.Kubectl(l); err != nil {
		return err
	}
	say.Line("The cluster is up after %.1f s. Next: export KUBECONFIG=%s", time.Since(begin).Seconds(), l.Kubeconfig())
	return nil
}

func provider() *cluster.Provider { return cluster.NewProvider(cluster.ProviderWithDocker()) }

func create(l layout.Layout, p *cluster.Provider, config []byte, nodes int) error {
	ref, err := nodeimage.Ensure(l)
	if err != nil {
		return err
	}
	return say.Step(fmt.Sprintf("create the cluster: nodes %d, image %s", nodes, ref), func() error {
		return explain(p.Create(Name,
			cluster.CreateWithRawConfig(config),
			cluster.CreateWithNodeImage(ref),
			cluster.CreateWithKubeconfigPath(l.Kubeconfig()),
			cluster.CreateWithDisplayUsage(false),
			cluster.CreateWithDisplaySalutation(false),
		))
	})
}

// repair starts the nodes. Where their creation was interrupted, it creates them anew.
func repair(l layout.Layout, p *cluster.Provider, existing []nodes.Node, config []byte) error {
	if err := start(existing); err != nil {
		return err
	}
	if anew, err := unfinished(existing); err != nil || !anew {
		return err
	}
	if err := p.Delete(Name, l.Kubeconfig()); err != nil {
		return explain(err)
	}
	return create(l, p, config, len(existing))
}

// ours refuses a cluster that was not made from this checkout: all clusters have one
// name. A node's mount of patches names the checkout. All that runs on an engine of the
// folder's own was made from there.
func ours(l layout.Layout, all []nodes.Node) error {
	if engine.Own(l) {
		return nil
	}
	const source = `{{range .Mounts}}{{if eq .Destination "` + patches + `"}}{{.Source}}{{end}}{{end}}`
	var elsewhere string
	for _, n := range all {
		out, err := docker("inspect", "--format", source, n.String())
		if err != nil {
			return err
		}
		checkout, made := strings.CutSuffix(out, "/"+patchesFolder)
		if made && checkout == l.Checkout {
			return nil
		}
		if made {
			elsewhere = checkout
		}
	}
	switch {
	case len(all) == 0:
		return nil
	case elsewhere != "":
		return fmt.Errorf("the cluster %s was made from %s: run make cluster-down there first", Name, elsewhere)
	}
	return fmt.Errorf("the cluster %s was not made by make cluster-up; to delete it: docker rm --force --volumes %s", Name, strings.Join(names(all), " "))
}

// unfinished tells whether the creation of the cluster was interrupted. docker's own
// failures also end with 1, so the answer of test is printed.
func unfinished(all []nodes.Node) (bool, error) {
	planes, err := nodeutils.ControlPlaneNodes(all)
	if err != nil || len(planes) == 0 {
		return false, explain(err)
	}
	out, err := docker("exec", planes[0].String(), "sh", "-c", "test -e /etc/kubernetes/admin.conf; echo $?")
	switch {
	case err != nil:
		return false, fmt.Errorf("%w: run make cluster-down cluster-up", err)
	case out == "0" || out == "1":
		return out == "1", nil
	}
	return false, fmt.Errorf("cannot see whether node %s was set up: test answers %q", planes[0], out)
}

// docker returns what the command prints, trimmed, and has its errors in the error.
func docker(args ...string) (string, error) {
	var failed *exec.ExitError
	out, err := exec.Command("docker", args...).Output()
	if errors.As(err, &failed) {
		err = fmt.Errorf("docker %s: %w: %s", args[0], err, strings.TrimSpace(string(failed.Stderr)))
	}
	return strings.TrimSpace(string(out)), err
}

func names(all []nodes.Node) []string {
	var names []string
	for _, n := range all {
		names = append(names, n.String())
	}
	return names
}

// start starts nodes that were stopped, by a restart of the machine or of the engine.
func start(all []nodes.Node) error {
	_, err := docker(append([]string{"start"}, names(all)...)...)
	return err
}

// checks are what must hold of a cluster before anything is installed in it. kind
// waits for nodes of the control plane alone.
var checks = [][]string{
	{"wait", "--for=condition=Ready", "nodes", "--all", "--timeout=5s"},
	{"--namespace", "kube-system", "rollout", "status", "deployment/coredns", "--timeout=5s"},
	{"--namespace", "local-path-storage", "wait", "--for=condition=Ready", "pods", "--all", "--timeout=5s"},
	{"--namespace", "default", "get", "serviceaccount", "default"},
	{"get", "storageclass", "standard"},
}

// usable waits until all checks pass.
func usable(p *cluster.Provider) error {
	all, err := p.ListInternalNodes(Name)
	if err != nil {
		return explain(err)
	}
	planes, err := nodeutils.ControlPlaneNodes(all)
	if err != nil || len(planes) == 0 {
		return errors.Join(explain(err), errors.New("the cluster has no control plane"))
	}
	return say.Slow("wait until the cluster can be used", func() error {
		for end := time.Now().Add(patience); ; time.Sleep(time.Second) {
			failed := check(planes[0])
			if failed == nil || time.Now().After(end) {
				return failed
			}
		}
	})
}

func check(plane nodes.Node) error {
	for _, args := range checks {
		args = append([]string{"exec", plane.String(), "kubectl", "--kubeconfig", "/etc/kubernetes/admin.conf"}, args...)
		if out, err := exec.Command("docker", args...).CombinedOutput(); err != nil {
			return fmt.Errorf("kubectl %s: %s", strings.Join(args[5:], " "), strings.TrimSpace(string(out)))
		}
	}
	return nil
}

// Down removes the cluster, and the engine if it is our own: with its images if
// they are to go too.
func Down(l layout.Layout, purge bool) error {
	reached, err := engine.Use(l)
	if err != nil {
		return err
	}
	if reached {
		if all, err := provider().ListNodes(Name); err == nil {
			if err := ours(l, all); err != nil {
				return err
			}
		}
		err := say.Slow("delete the cluster", func() error { return explain(provider().Delete(Name, l.Kubeconfig())) })
		if err != nil {
			say.Line("  could not delete the cluster: %s", err)
		}
	}
	if err := engine.Down(l, purge); err != nil {
		return err
	}
	for _, path := range []string{l.Kubeconfig(), l.ImagesFrom()} {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	say.Line("The cluster is down.")
	return nil
}

// explain adds what a failed command of kind printed.
func explain(err error) error {
	if failed := kindexec.RunErrorForError(err); failed != nil {
		return fmt.Errorf("%w\n%s", err, strings.TrimSpace(string(failed.Output)))
	}
	return err
}
