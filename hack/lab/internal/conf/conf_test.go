package conf

import (
	"net"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"replab.dev/hack/lab/internal/layout"
)

var lab = layout.Layout{Checkout: "/w", Dir: "/w/.lab"}

func TestRenderedFilesAreComplete(t *testing.T) {
	all, err := Render(lab)
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range all {
		if !strings.HasPrefix(path, lab.Dir+"/") {
			t.Errorf("%s is outside the lab's folder", path)
		}
		if strings.Contains(string(text), "<no value>") || strings.Contains(string(text), "{{") {
			t.Errorf("%s is not filled in:\n%s", path, text)
		}
		if strings.HasSuffix(path, ".yaml") {
			for _, doc := range strings.Split(string(text), "\n---\n") {
				var object map[string]any
				if err := yaml.UnmarshalStrict([]byte(doc), &object); err != nil {
					t.Errorf("%s: %v\n%s", path, err, doc)
				}
			}
		}
	}
}

func TestContainerdIsApartFromAnyOther(t *testing.T) {
	all, err := Render(lab)
	if err != nil {
		t.Fatal(err)
	}
	text := string(all[lab.Conf("containerd.toml")])
	for _, want := range []string{
		`root = "/w/.lab/data/containerd"`, `state = "/w/.lab/run/containerd"`, `address = "/w/.lab/run/containerd.sock"`,
		`conf_dir = "/w/.lab/conf/cni"`, "netns_mounts_under_state_dir = true", "restrict_oom_score_adj = true",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("containerd.toml lacks %s", want)
		}
	}
}

func TestAddressesFit(t *testing.T) {
	_, pods, err := net.ParseCIDR(PodCIDR)
	if err != nil {
		t.Fatal(err)
	}
	_, services, err := net.ParseCIDR(ServiceCIDR)
	if err != nil {
		t.Fatal(err)
	}
	for address, within := range map[string]*net.IPNet{NodeIP: pods, FirstPodIP: pods, ServiceIP: services, DNSIP: services} {
		if !within.Contains(net.ParseIP(address)) {
			t.Errorf("%s is not in %s", address, within)
		}
	}
	if pods.Contains(services.IP) || services.Contains(pods.IP) {
		t.Errorf("%s and %s overlap", pods, services)
	}
}

func TestOnlyTheAdministratorIsMaster(t *testing.T) {
	for _, leaf := range Certificates(lab).Leaves {
		for _, group := range leaf.Groups {
			if group == "system:masters" && leaf.Name != Admin {
				t.Errorf("%s is in %s", leaf.Name, group)
			}
		}
	}
}
