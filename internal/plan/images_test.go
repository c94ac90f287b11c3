package plan

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/wire"
	"replab.dev/test/experiment"
)

func TestImages(t *testing.T) {
	catalogue := wire.Images{
		Replab: "replab:1", K6: "k6:1", PullPolicy: "Never", Proxies: map[string]string{"HAProxy": "haproxy:1"},
		Servers: map[string]string{"MySQL": "mysql:1", "Async/MySQL": "mysql-async:1", "PostgreSQL": "postgres:1", "Patroni/PostgreSQL": "patroni:1", "ZalandoOperator/PostgreSQL": "spilo:1"},
	}
	for _, c := range []struct {
		name   string
		change func(*v1alpha1.ReplicationExperimentSpec)
		want   v1alpha1.ImagesStatus
		failed string
	}{
		{
			"the catalogue's", func(*v1alpha1.ReplicationExperimentSpec) {},
			v1alpha1.ImagesStatus{Replab: "replab:1", Server: "mysql:1", Proxy: "haproxy:1", K6: "k6:1", PullPolicy: "Never"},
			"",
		},
		{
			"one for a type of topology goes before the engine's",
			func(s *v1alpha1.ReplicationExperimentSpec) { s.Topology.Type = v1alpha1.TopologyAsync },
			v1alpha1.ImagesStatus{Replab: "replab:1", Server: "mysql-async:1", Proxy: "haproxy:1", K6: "k6:1", PullPolicy: "Never"},
			"",
		},
		{
			"one for another operator goes before those for the type and the engine",
			func(s *v1alpha1.ReplicationExperimentSpec) {
				s.Topology.Type, s.Topology.Patroni = v1alpha1.TopologyPatroni, &v1alpha1.PatroniSpec{Provider: v1alpha1.ProviderZalando}
			},
			v1alpha1.ImagesStatus{Replab: "replab:1", Server: "spilo:1", Proxy: "haproxy:1", K6: "k6:1", PullPolicy: "Never"},
			"",
		},
		{
			"which is nobody else's",
			func(s *v1alpha1.ReplicationExperimentSpec) { s.Topology.Type = v1alpha1.TopologyPatroni },
			v1alpha1.ImagesStatus{Replab: "replab:1", Server: "patroni:1", Proxy: "haproxy:1", K6: "k6:1", PullPolicy: "Never"},
			"",
		},
		{
			"the experiment's own, and no proxy",
			func(s *v1alpha1.ReplicationExperimentSpec) {
				s.Topology.Image, s.Load.Image, s.Routing.Proxy = "mine:2", "k6:2", v1alpha1.ProxyNone
			},
			v1alpha1.ImagesStatus{Replab: "replab:1", Server: "mine:2", K6: "k6:2", PullPolicy: "Never"},
			"",
		},
		{
			"a server that the catalogue does not have",
			func(s *v1alpha1.ReplicationExperimentSpec) { s.Topology.Engine = v1alpha1.EngineMariaDB },
			v1alpha1.ImagesStatus{},
			"no image of MariaDB for topology.type SemiSync: set topology.image",
		},
		{
			"a server for one type that the catalogue does not have, where the engine's own cannot be one",
			func(s *v1alpha1.ReplicationExperimentSpec) {
				s.Topology.Type, s.Topology.Engine = v1alpha1.TopologyGalera, v1alpha1.EngineMySQL
			},
			v1alpha1.ImagesStatus{},
			"no image of MySQL for topology.type Galera: set topology.image",
		},
		{
			"a proxy of the experiment's own image",
			func(s *v1alpha1.ReplicationExperimentSpec) { s.Routing.Image = "haproxy:2" },
			v1alpha1.ImagesStatus{Replab: "replab:1", Server: "mysql:1", Proxy: "haproxy:2", K6: "k6:1", PullPolicy: "Never"},
			"",
		},
		{
			"a proxy that the catalogue does not have",
			func(s *v1alpha1.ReplicationExperimentSpec) { s.Routing.Proxy = v1alpha1.ProxyProxySQL },
			v1alpha1.ImagesStatus{},
			"no image for routing.proxy ProxySQL: set routing.image",
		},
		{
			"a proxy that this operator does not know",
			func(s *v1alpha1.ReplicationExperimentSpec) { s.Routing.Proxy = "MaxScale" },
			v1alpha1.ImagesStatus{},
			"routing.proxy MaxScale is not supported by this operator",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := experiment.Load(t, "semisync")
			c.change(&x.Spec)
			got, err := Images(&x.Spec, catalogue)
			switch {
			case c.failed != "" && (err == nil || !strings.Contains(err.Error(), c.failed)):
				t.Errorf("error %v, want %q", err, c.failed)
			case c.failed == "" && err != nil:
				t.Error(err)
			case c.failed == "":
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestAProxyWithoutAnImageIsRefused(t *testing.T) {
	x := experiment.Load(t, "semisync")
	_, err := Images(&x.Spec, wire.Images{Servers: map[string]string{"MySQL": "mysql:1"}})
	if want := "no image for routing.proxy HAProxy: set routing.image, or images.proxies"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
}
