// Package conf writes the configuration of the lab's components. What the files
// say is a function of the layout alone, so a change shows in the fingerprint of
// the component that reads it.
package conf

import (
	"bytes"
	"embed"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"text/template"

	"replab.dev/hack/lab/internal/layout"
)

//go:embed files
var files embed.FS

// What the lab is like. The addresses are private ones that hardly anybody uses;
// host.CheckRoutes refuses to start where somebody does.
const (
	Bridge       = "replab0"
	NodeName     = "lab"
	NodeIP       = "10.213.0.1"
	NodePrefix   = "10.213.0.1/24"
	PodCIDR      = "10.213.0.0/24"
	FirstPodIP   = "10.213.0.10"
	ServiceCIDR  = "10.213.128.0/17"
	ServiceIP    = "10.213.128.1"
	DNSIP        = "10.213.128.10"
	Domain       = "cluster.local"
	CgroupRoot   = "/replab-lab"
	CNIBin       = "/usr/lib/cni"
	PauseImage   = "replab.local/pause:1"
	APIPort      = 6443
	DNSPort      = 10053
	DNSReadyPort = 10054
	EtcdPort     = 23079
	EtcdPeer     = 23080
	EtcdHealth   = 23081
)

// params is what the templates see.
type params struct {
	layout.Layout
	Bridge, NodeName, NodeIP, PodCIDR, FirstPodIP string
	DNSIP, Domain, CgroupRoot, CNIBin, PauseImage string
	APIPort, DNSPort, DNSReadyPort                int
}

func newParams(l layout.Layout) params {
	return params{
		Layout: l, Bridge: Bridge, NodeName: NodeName, NodeIP: NodeIP, PodCIDR: PodCIDR, FirstPodIP: FirstPodIP,
		DNSIP: DNSIP, Domain: Domain, CgroupRoot: CgroupRoot, CNIBin: CNIBin, PauseImage: PauseImage,
		APIPort: APIPort, DNSPort: DNSPort, DNSReadyPort: DNSReadyPort,
	}
}

// rendered is where each template goes.
var rendered = map[string][]string{
	"containerd.toml": {"containerd.toml"},
	"hosts.toml":      {"registries", "_default", "hosts.toml"},
	"lab.conflist":    {"cni", "10-replab.conflist"},
	"kubelet.yaml":    {"kubelet.yaml"},
	"kube-proxy.yaml": {"kube-proxy.yaml"},
	"Corefile":        {"Corefile"},
	"addons.yaml":     {"addons.yaml"},
}

// Render returns the text of every file by its path.
func Render(l layout.Layout) (map[string][]byte, error) {
	out := map[string][]byte{l.Conf("resolv.conf"): nil}
	for name, parts := range rendered {
		text, err := render(name, newParams(l))
		if err != nil {
			return nil, err
		}
		out[l.Conf(parts...)] = text
	}
	return out, nil
}

// Write writes every file, and the kubeconfigs from the certificates, which must
// exist.
func Write(l layout.Layout) error {
	all, err := Render(l)
	if err != nil {
		return err
	}
	for path, text := range all {
		if err := put(path, text, 0o644); err != nil {
			return err
		}
	}
	for _, c := range Clients {
		path := l.Conf(c.Leaf + ".kubeconfig")
		if c.Leaf == Admin {
			path = l.Kubeconfig()
		}
		if err := writeKubeconfig(l, c.Leaf, path); err != nil {
			return fmt.Errorf("write kubeconfig of %s: %w", c.Leaf, err)
		}
	}
	return nil
}

func writeKubeconfig(l layout.Layout, leaf, path string) error {
	data := struct {
		params
		User, CA, Certificate, Key string
	}{params: newParams(l), User: leaf}
	for name, field := range map[string]*string{
		"ca.crt": &data.CA, leaf + ".crt": &data.Certificate, leaf + ".key": &data.Key,
	} {
		b, err := os.ReadFile(l.PKI(name))
		if err != nil {
			return err
		}
		*field = base64.StdEncoding.EncodeToString(b)
	}
	text, err := render("kubeconfig.yaml", data)
	if err != nil {
		return err
	}
	return put(path, text, 0o600)
}

func render(name string, data any) ([]byte, error) {
	t, err := template.New(name).Option("missingkey=error").ParseFS(files, "files/"+name)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := t.Execute(&b, data); err != nil {
		return nil, fmt.Errorf("render %s: %w", name, err)
	}
	return b.Bytes(), nil
}

// put writes a file unless it says so already, in one step, so that a component
// that watches it never reads half of it.
func put(path string, text []byte, mode os.FileMode) error {
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, text) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	next := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".next")
	if err := os.WriteFile(next, text, mode); err != nil {
		return err
	}
	return os.Rename(next, path)
}
