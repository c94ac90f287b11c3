package nodeimage

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"replab.dev/hack/local/internal/bins"
	"replab.dev/hack/local/internal/image"
	"replab.dev/hack/local/internal/layout"
)

// assembling makes one image in a folder, as kind's images/base/Dockerfile and
// its `kind build node-image` do.
type assembling struct {
	layout.Layout
	// root is the node's root file system.
	root string
	// base has kind's files.
	base    string
	version string
}

func (a assembling) make(ref string) error {
	steps := []func() error{
		func() error { return image.UnpackTo(a.Layout, folder, a.root) },
		a.copyBase, a.units, a.configure, a.components, a.manifests,
		func() error { return run(a.inside("prepare.sh")) },
		a.spec, a.images,
		func() error { return a.importAs(ref) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return os.RemoveAll(a.root)
}

func (a assembling) in(path string) string { return filepath.Join(a.root, path) }

// copyBase copies kind's files with the modes that its Dockerfile gives them.
func (a assembling) copyBase() error {
	if err := run(exec.Command("cp", "--recursive", "--no-preserve=mode,ownership", a.base+"/.", a.root)); err != nil {
		return err
	}
	scripts, err := filepath.Glob(a.in("kind/bin/*"))
	if err != nil {
		return err
	}
	for _, path := range append(scripts, a.in("usr/local/bin/entrypoint")) {
		if err := os.Chmod(path, 0o755); err != nil {
			return err
		}
	}
	network, err := files.ReadFile("files/pod-network")
	if err != nil {
		return err
	}
	return os.WriteFile(a.in("kind/bin/pod-network"), network, 0o755)
}

// unwanted are units that make no sense in a container, as in kind's Dockerfile.
var unwanted = []string{
	"usr/lib/systemd/system/sysinit.target.wants/systemd-tmpfiles-setup.service",
	"usr/lib/systemd/system/multi-user.target.wants/*",
	"etc/systemd/system/*.wants/*",
	"usr/lib/systemd/system/local-fs.target.wants/*",
	"usr/lib/systemd/system/sockets.target.wants/*udev*",
	"usr/lib/systemd/system/sockets.target.wants/*initctl*",
	"usr/lib/systemd/system/basic.target.wants/*",
}

// units enables what a node runs, and nothing else.
func (a assembling) units() error {
	for _, pattern := range unwanted {
		paths, err := filepath.Glob(a.in(pattern))
		if err != nil {
			return err
		}
		for _, path := range paths {
			if err := os.Remove(path); err != nil {
				return err
			}
		}
	}
	if err := a.write("etc/systemd/system/pod-network.service", "pod-network.service"); err != nil {
		return err
	}
	links := map[string]string{
		"usr/sbin/init": "/usr/lib/systemd/systemd",
		// It would register things for the whole kernel.
		"etc/systemd/system/systemd-binfmt.service": "/dev/null",
	}
	for _, unit := range []string{"kubelet", "containerd", "undo-mount-hacks", "pod-network"} {
		links["etc/systemd/system/multi-user.target.wants/"+unit+".service"] = "/etc/systemd/system/" + unit + ".service"
	}
	return a.link(links)
}

// link makes symbolic links, by their paths.
func (a assembling) link(links map[string]string) error {
	for path, to := range links {
		if err := os.MkdirAll(filepath.Dir(a.in(path)), 0o755); err != nil {
			return err
		}
		if err := os.RemoveAll(a.in(path)); err != nil {
			return err
		}
		if err := os.Symlink(to, a.in(path)); err != nil {
			return err
		}
	}
	return nil
}

// write copies one of the embedded files.
func (a assembling) write(path, file string) error {
	text, err := files.ReadFile("files/" + file)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(a.in(path)), 0o755); err != nil {
		return err
	}
	return os.WriteFile(a.in(path), text, 0o644)
}

// configure leads kind's configuration to where Debian has its parts.
func (a assembling) configure() error {
	journald, err := os.OpenFile(a.in("etc/systemd/journald.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = journald.WriteString("ReadKMsg=no\n")
	if err := errors.Join(err, journald.Close()); err != nil {
		return err
	}
	config := a.in("etc/containerd/config.toml")
	text, err := os.ReadFile(config)
	if err != nil {
		return err
	}
	changed, err := containerdConfig(text)
	if err != nil {
		return fmt.Errorf("%s: %w", config, err)
	}
	if err := os.WriteFile(config, changed, 0o644); err != nil {
		return err
	}
	if err := os.WriteFile(a.in("kind/version"), []byte(a.version), 0o644); err != nil {
		return err
	}
	if err := os.MkdirAll(a.in("etc/kubernetes/manifests"), 0o755); err != nil {
		return err
	}
	return a.link(map[string]string{
		"opt/cni/bin":                           "/usr/lib/cni",
		"usr/local/bin/containerd":              "/usr/bin/containerd",
		"usr/local/bin/ctr":                     "/usr/bin/ctr",
		"usr/local/bin/containerd-shim-runc-v2": "/usr/bin/containerd-shim-runc-v2",
	})
}

// containerdConfig changes kind's: root may not lower the score everywhere, and nothing here relies on it.
func containerdConfig(text []byte) ([]byte, error) {
	changed, err := replaced(string(text), "restrict_oom_score_adj = false", "restrict_oom_score_adj = true")
	return []byte(changed), err
}

// replaced replaces the first occurrence of old, which must be there.
func replaced(text, old, with string) (string, error) {
	if !strings.Contains(text, old) {
		return "", fmt.Errorf("%q is missing, which is replaced by %q: adapt package nodeimage", old, with)
	}
	return strings.Replace(text, old, with, 1), nil
}

// components are Kubernetes' parts that run outside of containers.
func (a assembling) components() error {
	if err := run(exec.Command("cp", a.Bin(bins.Kube), a.in("usr/bin/kube"))); err != nil {
		return err
	}
	return a.link(map[string]string{"usr/bin/kubelet": "kube", "usr/bin/kubeadm": "kube", "usr/bin/kubectl": "kube"})
}

// manifests are what kind applies to a new cluster.
func (a assembling) manifests() error {
	if err := a.write("kind/manifests/default-cni.yaml", "default-cni.yaml"); err != nil {
		return err
	}
	text, err := storageManifest(a.version)
	if err != nil {
		return err
	}
	return os.WriteFile(a.in("kind/manifests/default-storage.yaml"), []byte(text), 0o644)
}

func storageManifest(version string) (string, error) {
	text, err := files.ReadFile("files/default-storage.yaml")
	if err != nil {
		return "", err
	}
	return replaced(string(text), "image: IMAGE", "image: "+provisioner(version))
}

// provisioner is the name of the image of the volumes' provisioner.
func provisioner(version string) string { return "replab.local/provisioner:" + version }

// inside runs an embedded script in the root file system.
func (a assembling) inside(script string) *exec.Cmd {
	text, err := files.ReadFile("files/" + script)
	if err != nil {
		panic(err) // it is embedded
	}
	inside, err := files.ReadFile("files/inside.sh")
	if err != nil {
		panic(err)
	}
	return exec.Command("unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", string(inside), "sh", a.root, string(text))
}

// spec writes what containers of pods start from.
func (a assembling) spec() error {
	text, err := os.ReadFile(a.in("tmp/spec.json"))
	if err != nil {
		return err
	}
	spec, err := baseSpec(text)
	if err != nil {
		return err
	}
	return os.WriteFile(a.in("etc/containerd/cri-base.json"), spec, 0o644)
}

// baseSpec changes containerd's default as kind's Dockerfile does with jq.
func baseSpec(text []byte) ([]byte, error) {
	var spec map[string]any
	if err := json.Unmarshal(text, &spec); err != nil {
		return nil, fmt.Errorf("read the output of ctr oci spec: %w", err)
	}
	if process, ok := spec["process"].(map[string]any); ok {
		delete(process, "rlimits")
	}
	spec["hooks"] = map[string]any{"createContainer": []any{map[string]any{"path": "/kind/bin/mount-product-files.sh"}}}
	return json.MarshalIndent(spec, "", "  ")
}

var sandboxSetting = regexp.MustCompile(`sandbox_image = "([^"]+)"`)

// images puts the control plane's images into the node's containerd.
func (a assembling) images() error {
	list, err := a.imageNames()
	if err != nil {
		return err
	}
	layer := a.in("tmp/kube.tar")
	if err := packKube(a.Layout, layer); err != nil {
		return err
	}
	var named []image.Named
	for _, name := range list {
		layers, config := []string{layer}, image.Config{}
		if strings.Contains(name, "/coredns:") {
			config.Entrypoint = []string{"/usr/local/bin/coredns"}
		}
		if strings.Contains(name, "/kube-proxy:") {
			layers = append(layers, a.in("tmp/proxy.tar"))
		}
		built, err := image.FromLayers(config, layers...)
		if strings.Contains(name, "/pause:") {
			built, err = image.Build(a.Layout, "pause")
		}
		if err != nil {
			return fmt.Errorf("image %s: %w", name, err)
		}
		named = append(named, image.Named{Name: name, Image: built})
	}
	cmd := a.inside("import.sh")
	in, out := io.Pipe()
	cmd.Stdin = in
	go func() { _ = out.CloseWithError(image.WriteArchive(out, named...)) }()
	if err := run(cmd); err != nil {
		return err
	}
	leftovers, err := filepath.Glob(a.in("tmp/*"))
	if err != nil {
		return err
	}
	for _, path := range leftovers {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	return nil
}

// imageNames are those that kubeadm and kind ask for.
func (a assembling) imageNames() ([]string, error) {
	out, err := exec.Command(a.Bin("kubeadm"), "config", "images", "list", "--kubernetes-version", a.version).Output()
	if err != nil {
		return nil, fmt.Errorf("kubeadm config images list: %w", err)
	}
	names := strings.Fields(string(out))
	config, err := os.ReadFile(a.in("etc/containerd/config.toml"))
	if err != nil {
		return nil, err
	}
	sandbox, err := sandboxImage(config)
	return append(names, sandbox, provisioner(a.version)), err
}

// sandboxImage reads containerd's configuration: it starts this image first in each pod.
func sandboxImage(config []byte) (string, error) {
	m := sandboxSetting.FindSubmatch(config)
	if m == nil {
		return "", errors.New("kind's configuration of containerd has no sandbox_image: adapt package nodeimage")
	}
	return string(m[1]), nil
}

func (a assembling) importAs(ref string) error {
	tar := exec.Command("tar", "--directory", a.root, "--numeric-owner", "--create", ".")
	docker := exec.Command("docker", "import",
		"--change", `ENTRYPOINT ["/usr/local/bin/entrypoint", "/sbin/init"]`, "--change", "ENV container=docker", "-", ref)
	pipe, err := tar.StdoutPipe()
	if err != nil {
		return err
	}
	docker.Stdin = pipe
	if err := tar.Start(); err != nil {
		return err
	}
	return errors.Join(run(docker), tar.Wait())
}
