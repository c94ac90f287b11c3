package plan

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	corev1 "k8s.io/api/core/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/engine"
	"replab.dev/internal/engine/mariadb"
	"replab.dev/internal/engine/mysql"
	"replab.dev/internal/engine/postgres"
	"replab.dev/internal/kube"
	"replab.dev/internal/wire"
	"replab.dev/test/experiment"
)

var catalogue = wire.Images{Replab: "replab:test", K6: "k6:test", Servers: map[string]string{"MySQL": "mysql:test", "MariaDB": "mariadb:test", "PostgreSQL": "patroni:test", "Galera/MySQL": "xtradb:test"}, Proxies: map[string]string{"HAProxy": "haproxy:test", "ProxySQL": "proxysql:test"}}

func input(x *v1alpha1.ReplicationExperiment) Input {
	images, err := Images(&x.Spec, catalogue)
	if err != nil {
		panic(err)
	}
	return Input{
		Experiment: x, Images: images, ClusterDomain: "cluster.local", OperatorNamespace: "replab-system",
		Servers: engine.Lookup[engine.Server]{"MySQL": mysql.Server{}, "MariaDB": mariadb.Server{}, "PostgreSQL": postgres.Server{}},
	}
}

func build(t *testing.T, x *v1alpha1.ReplicationExperiment) Plan {
	t.Helper()
	p, err := Build(input(x))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func hash(t *testing.T, p Plan) string {
	t.Helper()
	h, err := p.Hash()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestTheSameExperimentGivesTheSamePlan(t *testing.T) {
	a, b := build(t, experiment.Load(t, "semisync")), build(t, experiment.Load(t, "semisync"))
	if hash(t, a) != hash(t, b) {
		t.Fatalf("hashes %s and %s differ", hash(t, a), hash(t, b))
	}
	x := experiment.Load(t, "semisync")
	x.Spec.Topology.Nodes++
	if hash(t, build(t, x)) == hash(t, a) {
		t.Fatal("another experiment has the same hash")
	}
}

// TestPodSecurity checks what the restricted standard asks, for every pod, and the one exception.
func TestPodSecurity(t *testing.T) {
	for _, c := range []struct {
		name      string
		exception string
	}{{"semisync", ""}, {"async-loss", "agent"}, {"semisync-proxysql", ""}} {
		for _, spec := range podSpecs(t, build(t, experiment.Load(t, c.name))) {
			if s := spec.SecurityContext; s == nil || !*s.RunAsNonRoot || s.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
				t.Errorf("%s: a pod does not keep to the restricted standard: %+v", c.name, s)
			}
			for _, container := range append(spec.InitContainers, spec.Containers...) {
				s := container.SecurityContext
				if container.Name == c.exception {
					if len(s.Capabilities.Add) == 0 {
						t.Errorf("%s: the agent has no right to cut its pod off", c.name)
					}
					continue
				}
				if s == nil || *s.AllowPrivilegeEscalation || !*s.ReadOnlyRootFilesystem || len(s.Capabilities.Add) > 0 || s.Capabilities.Drop[0] != "ALL" {
					t.Errorf("%s: container %s does not keep to the restricted standard", c.name, container.Name)
				}
			}
		}
	}
}

func TestSecretsAreNeverInConfigurationArgumentsOrEnvironment(t *testing.T) {
	for _, spec := range podSpecs(t, build(t, experiment.Load(t, "semisync"))) {
		for _, c := range append(spec.InitContainers, spec.Containers...) {
			for _, e := range c.Env {
				if e.ValueFrom != nil && e.ValueFrom.SecretKeyRef != nil {
					t.Errorf("container %s has a secret in its environment", c.Name)
				}
			}
		}
		for _, v := range spec.Volumes {
			if v.Secret != nil && len(v.Secret.Items) == 0 {
				t.Errorf("a pod mounts every secret of the experiment: name the ones it needs")
			}
		}
	}
}

func podSpecs(t *testing.T, p Plan) []corev1.PodSpec {
	t.Helper()
	objects := append([]kube.Object{p.Seed, p.Load[0]}, p.Deploy...)
	var specs []corev1.PodSpec
	for _, o := range objects {
		text, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		var w struct {
			Spec struct {
				Template *corev1.PodTemplateSpec `json:"template"`
			} `json:"spec"`
		}
		if json.Unmarshal(text, &w) == nil && w.Spec.Template != nil {
			specs = append(specs, w.Spec.Template.Spec)
		}
	}
	if len(specs) < 6 {
		t.Fatalf("found %d pods only", len(specs))
	}
	return specs
}

func TestReadsGoWhereTheSpecSays(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*v1alpha1.ReplicationExperimentSpec)
		reads  string
		port   int
	}{
		{"through the proxy to the replicas", func(*v1alpha1.ReplicationExperimentSpec) {}, "semisync-proxy.default.svc.cluster.local", wire.PortProxyReads},
		{"through the proxy to the primary", func(s *v1alpha1.ReplicationExperimentSpec) { s.Routing.Reads = v1alpha1.ReadsPrimary }, "semisync-proxy.default.svc.cluster.local", wire.PortProxyWrites},
		{"by Services to the replicas", func(s *v1alpha1.ReplicationExperimentSpec) { s.Routing.Proxy = v1alpha1.ProxyNone }, "semisync-db-replicas.default.svc.cluster.local", mysql.Port},
		{"to the only node there is", func(s *v1alpha1.ReplicationExperimentSpec) {
			s.Topology.Type, s.Topology.Nodes, s.Topology.SemiSync, s.Routing.Proxy = v1alpha1.TopologySingle, 1, nil, v1alpha1.ProxyNone
		}, "semisync-db-primary.default.svc.cluster.local", mysql.Port},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := experiment.Load(t, "semisync")
			c.change(&x.Spec)
			b, err := newBuilder(input(x))
			if err != nil {
				t.Fatal(err)
			}
			if reads := b.paths().Reads; reads.Host != c.reads || reads.Port != c.port {
				t.Fatalf("reads go to %+v, want %s:%d", reads, c.reads, c.port)
			}
		})
	}
}

func TestParallelLoadIsSharedWithoutRemainder(t *testing.T) {
	x := experiment.Load(t, "semisync")
	x.Spec.Load.Parallelism = 3
	p := build(t, x)
	if len(p.Load) != 3 {
		t.Fatalf("%d Jobs, want 3", len(p.Load))
	}
	for i, want := range []string{"0/3:1/3", "1/3:2/3", "2/3:3/3"} {
		command := strings.Join(template(p.Load[i]).Spec.Containers[0].Command, " ")
		if !strings.Contains(command, "--execution-segment "+want+" --execution-segment-sequence 0,1/3,2/3,1") {
			t.Errorf("Job %d runs %s", i, command)
		}
	}
}

func TestEveryObjectNamesItsExperiment(t *testing.T) {
	for _, o := range build(t, experiment.Load(t, "async-loss")).Deploy {
		if o.GetLabels()[kube.LabelExperiment] != "async-loss" || o.GetLabels()[kube.LabelComponent] == "" || !strings.HasPrefix(o.GetName(), "async-loss-") {
			t.Errorf("%T %s has labels %v", o, o.GetName(), o.GetLabels())
		}
	}
}

func TestControllersAreTheObjectsThatMakePods(t *testing.T) {
	for name, want := range map[string][]string{
		"semisync":    {"semisync-db", "semisync-director", "semisync-proxy", "semisync-social", "semisync-recorder", "semisync-seed", "semisync-load-0"},
		"k6-operator": {"k6-operator-db", "k6-operator-director", "k6-operator-proxy", "k6-operator-social", "k6-operator-recorder", "k6-operator-seed", "k6-operator-load", "k6-operator-load-1", "k6-operator-load-2", "k6-operator-load-starter"},
		// The Zalando operator's StatefulSet has the name of its resource.
		"patroni-zalando": {"patroni-zalando-db", "patroni-zalando-proxy", "patroni-zalando-social", "patroni-zalando-recorder", "patroni-zalando-seed", "patroni-zalando-load-0"},
	} {
		if diff := cmp.Diff(want, build(t, experiment.Load(t, name)).Controllers()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
