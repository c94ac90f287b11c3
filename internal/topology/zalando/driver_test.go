package zalando

import (
	"encoding/json"
	"flag"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/engine"
	"replab.dev/internal/engine/postgres"
	"replab.dev/internal/kube"
	"replab.dev/internal/topology"
	"replab.dev/internal/wire"
)

var update = flag.Bool("update", false, "write the golden files anew")

func params(change ...func(*topology.Params)) topology.Params {
	p := topology.Params{
		Name: "a", Namespace: "ns", ClusterDomain: "cluster.local", Engine: "PostgreSQL", Server: postgres.Server{},
		Labels: map[string]string{kube.LabelManagedBy: kube.ManagedBy, kube.LabelExperiment: "a"},
		Images: v1alpha1.ImagesStatus{Server: "spilo:1", Replab: "replab:1"},
		Spec: v1alpha1.TopologySpec{
			Type: v1alpha1.TopologyPatroni, Nodes: 3, Durability: v1alpha1.DurabilityFull,
			Storage: v1alpha1.StorageSpec{Medium: v1alpha1.MediumVolumeClaim, Size: resource.MustParse("2Gi")},
			Patroni: &v1alpha1.PatroniSpec{
				Provider: "ZalandoOperator", SynchronousMode: "On", SynchronousNodeCount: 1, TTLSeconds: 20, LoopWaitSeconds: 2, RetryTimeoutSeconds: 3,
				MaximumLagOnFailoverBytes: 1 << 20,
			},
		},
	}
	for _, c := range change {
		c(&p)
	}
	return p
}

// TestWhatPatroniMakesAnewHasTheNamesOfWhatWasMadeForIt, and the labels that it gives, which somebody else's does not have.
func TestWhatPatroniMakesAnewHasTheNamesOfWhatWasMadeForIt(t *testing.T) {
	p := params()
	s, err := Driver{}.System(p)
	if err != nil {
		t.Fatal(err)
	}
	remade := Driver{}.Remade(topology.Params{Name: p.Name, Namespace: p.Namespace}) // all that is known of one that is gone
	var names []string
	for _, o := range s.Objects {
		if _, is := o.(*corev1.ConfigMap); !is {
			continue
		}
		names = append(names, o.GetName())
		if !labels.SelectorFromSet(remade.Labels).Matches(labels.Set(o.GetLabels())) {
			t.Errorf("%s has the labels %v, want %v among them", o.GetName(), o.GetLabels(), remade.Labels)
		}
	}
	if len(names) == 0 || !slices.Equal(names, remade.ConfigMaps) || remade.Set != (Driver{}).Object(p).GetName() || remade.Labels["cluster-name"] != remade.Set {
		t.Errorf("made anew is %+v, and made was %v", remade, names)
	}
}

func TestSystem(t *testing.T) {
	p := params(func(p *topology.Params) { p.RolesByLabel = true })
	s, err := Driver{}.System(p)
	if err != nil {
		t.Fatal(err)
	}
	if s.Inspects || !s.Store || s.Pods != 3 || s.CommitWaits != 1 || !s.CountCommits || !s.LossesWhileDegraded || s.DegradedBy != "" {
		t.Errorf("the system is %+v", s)
	}
	services, maps := map[string]map[string]string{}, []string{}
	for _, o := range s.Objects {
		if o.GetNamespace() != "ns" || o.GetLabels()[kube.LabelExperiment] != "a" || o.GetLabels()[kube.LabelComponent] != kube.ComponentNode {
			t.Errorf("%s is in namespace %s with the labels %v", o.GetName(), o.GetNamespace(), o.GetLabels())
		}
		switch o := o.(type) {
		case *corev1.Service:
			services[p.Host(o.Name)] = o.Spec.Selector
		case *corev1.ConfigMap:
			maps = append(maps, o.Name)
			if len(o.Annotations) > 0 || len(o.Data) > 0 || o.Labels["cluster-name"] != "a-db" || o.Labels["application"] != "spilo" {
				t.Errorf("Patroni's ConfigMap %s is not empty, or is not found: %v", o.Name, o)
			}
		}
	}
	if want := []string{"a-db-config", "a-db-leader", "a-db-sync", "a-db-failover"}; !slices.Equal(maps, want) {
		t.Errorf("ConfigMaps %v, want %v", maps, want)
	}
	for _, n := range s.Nodes {
		if services[n.Host]["statefulset.kubernetes.io/pod-name"] != n.Name {
			t.Errorf("%s is looked for at %s, which leads to pods with %v", n.Name, n.Host, services[n.Host])
		}
	}
	for host, role := range map[string]string{s.Routes.Writer.Host: "master", s.Routes.Readers.Host: "replica"} {
		if services[host]["spilo-role"] != role {
			t.Errorf("%s leads to pods with %v, want role %s", host, services[host], role)
		}
	}
	if last := s.Objects[len(s.Objects)-1]; last.GetObjectKind().GroupVersionKind() != kind {
		t.Errorf("the last object is a %s: nodes may come before what they need", last.GetObjectKind().GroupVersionKind())
	}

	var agent wire.AgentConfig
	if err := json.Unmarshal([]byte(s.Files["agent.json"]), &agent); err != nil {
		t.Fatal(err)
	}
	if agent.Remote == nil || agent.Remote.Server != (wire.Endpoint{Host: "127.0.0.1", Port: 5432}) || agent.Manager.URL != "http://127.0.0.1:8008" || agent.Manager.PauseAt != 0 {
		t.Errorf("the agent is told %s", s.Files["agent.json"])
	}
	if p.Spec.Failover = v1alpha1.FailoverNone; pausesAt(t, p) != 3 {
		t.Error("failover None pauses nothing")
	}
	p.Spec.Links = []v1alpha1.Link{{}}
	if _, err := (Driver{}).System(p); err == nil || !strings.Contains(err.Error(), "patroni.provider StatefulSet") {
		t.Errorf("links are refused with %v", err)
	}
}

func pausesAt(t *testing.T, p topology.Params) int {
	t.Helper()
	s, err := Driver{}.System(p)
	if err != nil {
		t.Fatal(err)
	}
	var agent wire.AgentConfig
	if err := json.Unmarshal([]byte(s.Files["agent.json"]), &agent); err != nil {
		t.Fatal(err)
	}
	return agent.Manager.PauseAt
}

// told are nodes in their places, the first of which takes the writes.
func told(t *testing.T, p topology.Params, change func(*wire.ManagerState)) topology.Answers {
	t.Helper()
	answers := topology.Answers{}
	for i, n := range nodes(p) {
		m := &wire.ManagerState{Runs: true, Answers: true, Streaming: true, Synchronous: i == 1, NodeHistory: wire.NodeHistory{Leader: "a-db-0"}, Members: 3, Timeline: 1, Received: 100, Applied: 100}
		if i == 0 {
			m = &wire.ManagerState{
				Runs: true, Answers: true, Holds: true, NodeHistory: wire.NodeHistory{Writes: true, Leader: "a-db-0", Terms: []wire.WriterTerm{{From: metav1.NowMicro()}}}, Waits: true, Furnished: true, Members: 3, Timeline: 1, Written: 100,
				Config: map[string]string{
					"ttl": "20", "loop_wait": "2", "retry_timeout": "3", "maximum_lag_on_failover": "1.048576e+06", "synchronous_mode": "true", "synchronous_node_count": "1",
				},
			}
			change(m)
		}
		body, err := json.Marshal(wire.NodeState{Manager: m})
		if err != nil {
			t.Fatal(err)
		}
		answers[n.Name] = topology.Answer{Body: body}
	}
	return answers
}

func TestDeployed(t *testing.T) {
	p := params()
	for name, c := range map[string]struct {
		change func(*wire.ManagerState)
		says   string // "" where all is in its place
	}{
		"all is in its place":       {func(*wire.ManagerState) {}, ""},
		"no tables yet":             {func(m *wire.ManagerState) { m.Furnished = false }, "accounts and tables"},
		"another ttl":               {func(m *wire.ManagerState) { m.Config["ttl"] = "30" }, `ttl "30"`},
		"settings unknown":          {func(m *wire.ManagerState) { m.Config = nil }, "not known yet"},
		"a mode that was left out":  {func(m *wire.ManagerState) { delete(m.Config, "synchronous_mode") }, `synchronous_mode "false"`},
		"commits do not wait":       {func(m *wire.ManagerState) { m.Waits = false }, "do not wait"},
		"a timeout of its own":      {func(m *wire.ManagerState) { m.Config["primary_start_timeout"] = "0" }, `primary_start_timeout "0"`},
		"as many as were asked for": {func(m *wire.ManagerState) { m.Members = 2 }, "2 running servers of 3"},
		"no server at the address":  {func(m *wire.ManagerState) { m.Runs, m.Writes = false, false }, "a-db-0 has no server"},
	} {
		s := Driver{}.Assess(p, told(t, p, c.change))
		if s.Deployed != (c.says == "") || !strings.Contains(s.Why, c.says) {
			t.Errorf("%s: deployed %v, it says %q, want %q", name, s.Deployed, s.Why, c.says)
		}
	}
	if q := (Driver{}).Questions(p); len(q) != 3 || q[1].URL != "http://a-db-1-host.ns.svc.cluster.local:8300/state" {
		t.Errorf("it asks %v", q)
	}
	if r := (Driver{}).Switchover(p, "planned", "a-db-2"); r.URL != "http://a-db-2-host.ns.svc.cluster.local:8300/switchover" {
		t.Errorf("a switchover is asked for by %+v", r)
	}
}

// TestAnEngineThatIsNotDescribedIsRefused: a resource without version and rules of access would be stated of it.
func TestAnEngineThatIsNotDescribedIsRefused(t *testing.T) {
	p := params()
	p.Server = struct{ engine.Server }{p.Server}
	if _, err := (Driver{}).System(p); err == nil || !strings.Contains(err.Error(), "engine PostgreSQL does not say") {
		t.Errorf("its system is stated: %v", err)
	}
	if s := (Driver{}).Assess(p, told(t, p, func(*wire.ManagerState) {})); s.Deployed || !strings.Contains(s.Why, "does not say") {
		t.Errorf("deployed: %v, since %q", s.Deployed, s.Why)
	}
}

// TestServicesOfRolesAreThereWithoutAProxyAlone; that they lead where the routes say is in TestSystem.
func TestServicesOfRolesAreThereWithoutAProxyAlone(t *testing.T) {
	for _, wanted := range []bool{false, true} {
		system, err := Driver{}.System(params(func(p *topology.Params) { p.RolesByLabel = wanted }))
		if err != nil {
			t.Fatal(err)
		}
		var roles []string
		for _, o := range system.Objects {
			s, ok := o.(*corev1.Service)
			if !ok || s.Spec.Selector[roleLabel] == "" {
				continue
			}
			roles = append(roles, s.Spec.Selector[roleLabel])
			if s.Spec.PublishNotReadyAddresses {
				t.Errorf("%s leads to nodes that have died", s.Name)
			}
		}
		if want := []string{"master", "replica"}; wanted && !slices.Equal(roles, want) || !wanted && len(roles) > 0 {
			t.Errorf("without a proxy: %v: Services lead to %v", wanted, roles)
		}
	}
}
