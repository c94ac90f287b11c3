package patroni

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/engine"
	"replab.dev/internal/engine/postgres"
	"replab.dev/internal/kube"
	"replab.dev/internal/topology"
	"replab.dev/internal/wire"
)

func params() topology.Params {
	return topology.Params{
		Name: "a", Namespace: "ns", ClusterDomain: "cluster.local", Engine: "PostgreSQL", Server: postgres.Server{},
		Labels: map[string]string{kube.LabelManagedBy: kube.ManagedBy, kube.LabelExperiment: "a"},
		Spec:   v1alpha1.TopologySpec{Type: v1alpha1.TopologyPatroni, Nodes: 3, Durability: v1alpha1.DurabilityFull},
	}
}

// TestTheSpecDecidesWhatPatroniRunsWith, and without it Patroni's own values.
func TestTheSpecDecidesWhatPatroniRunsWith(t *testing.T) {
	own := engine.Manager{
		Scope: "a-db", Namespace: "ns", ScopeLabel: "replab.dev/scope",
		Labels:    map[string]string{kube.LabelManagedBy: "replab", kube.LabelExperiment: "a", kube.LabelComponent: "node"},
		RoleLabel: "replab.dev/role", WriterValue: "Writer", ReaderValue: "Reader",
		Synchronous: engine.SyncQuorum, NodeCount: 1, TTL: 30 * time.Second, LoopWait: 10 * time.Second, RetryTimeout: 10 * time.Second,
		PrimaryStartTimeout: 300 * time.Second, MaxLagBytes: 1 << 20,
	}
	fast := v1alpha1.PatroniSpec{
		SynchronousMode: "On", SynchronousNodeCount: 2, Strict: true, FailsafeMode: true, TTLSeconds: 20, LoopWaitSeconds: 2, RetryTimeoutSeconds: 3,
		PrimaryStartTimeoutSeconds: ptr.To[int64](0), MaximumLagOnFailoverBytes: 77,
	}
	for name, c := range map[string]struct {
		change func(*v1alpha1.TopologySpec)
		want   func(*engine.Manager)
		waits  int
	}{
		"Patroni by itself": {func(*v1alpha1.TopologySpec) {}, func(*engine.Manager) {}, 1},
		"Patroni": {func(s *v1alpha1.TopologySpec) { s.Patroni = &fast }, func(m *engine.Manager) {
			m.Synchronous, m.NodeCount, m.Strict, m.Failsafe, m.MaxLagBytes = engine.SyncOn, 2, true, true, 77
			m.TTL, m.LoopWait, m.RetryTimeout, m.PrimaryStartTimeout = 20*time.Second, 2*time.Second, 3*time.Second, 0
		}, 2},
		"commits wait for no more nodes than there are": {func(s *v1alpha1.TopologySpec) { s.Patroni, s.Nodes = &fast, 2 }, func(m *engine.Manager) {
			m.Synchronous, m.NodeCount, m.Strict, m.Failsafe, m.MaxLagBytes = engine.SyncOn, 2, true, true, 77
			m.TTL, m.LoopWait, m.RetryTimeout, m.PrimaryStartTimeout = 20*time.Second, 2*time.Second, 3*time.Second, 0
		}, 1},
		"Async": {func(s *v1alpha1.TopologySpec) { s.Type = v1alpha1.TopologyAsync }, func(m *engine.Manager) { m.Synchronous = engine.SyncOff }, 0},
		"Async takes the timings alone": {func(s *v1alpha1.TopologySpec) { s.Type, s.Patroni = v1alpha1.TopologyAsync, &fast }, func(m *engine.Manager) {
			m.Synchronous, m.Failsafe, m.MaxLagBytes = engine.SyncOff, true, 77
			m.TTL, m.LoopWait, m.RetryTimeout, m.PrimaryStartTimeout = 20*time.Second, 2*time.Second, 3*time.Second, 0
		}, 0},
	} {
		p, want := params(), own
		c.change(&p.Spec)
		c.want(&want)
		system, err := Driver{}.System(p)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(&want, system.Settings.Manager); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
		if chosen := want.Synchronous == engine.SyncOn; system.StandbysChosen != chosen {
			t.Errorf("%s: Patroni chooses standbys by name: %v, want %v", name, system.StandbysChosen, chosen)
		}
		if system.CommitWaits != c.waits || system.CountCommits != (c.waits > 0) {
			t.Errorf("%s: a commit waits for %d nodes, and what waits is counted: %v; want %d", name, system.CommitWaits, system.CountCommits, c.waits)
		}
	}
}

// TestLostWritesAreToldApartWherePatroniMayHaveCommitsWait, and it is said what has none of them wait.
func TestLostWritesAreToldApartWherePatroniMayHaveCommitsWait(t *testing.T) {
	off := v1alpha1.PatroniSpec{SynchronousMode: string(engine.SyncOff)}
	for name, c := range map[string]struct {
		change   func(*v1alpha1.TopologySpec)
		apart    bool
		degraded string
	}{
		"Patroni": {func(*v1alpha1.TopologySpec) {}, true, ""},
		"Off":     {func(s *v1alpha1.TopologySpec) { s.Patroni = &off }, true, "topology.patroni.synchronousMode Off"},
		"Async":   {func(s *v1alpha1.TopologySpec) { s.Type = v1alpha1.TopologyAsync }, false, ""},
	} {
		p := params()
		c.change(&p.Spec)
		system, err := Driver{}.System(p)
		if err != nil {
			t.Fatal(err)
		}
		if system.LossesWhileDegraded != c.apart || system.DegradedBy != c.degraded {
			t.Errorf("%s: losses are told apart: %t, and no commit waits by %q; want %t and %q", name, system.LossesWhileDegraded, system.DegradedBy, c.apart, c.degraded)
		}
	}
}

// TestTheProxyAsksPatroniItself where it answers.
func TestTheProxyAsksPatroniItself(t *testing.T) {
	p := params()
	r := Routes(p)
	if r.CheckPort != RESTPort || !strings.HasSuffix(nodes(p).Program.Manager.URL, fmt.Sprintf(":%d", RESTPort)) || r.WriterPath != "/primary" || r.ReaderPath != "/replica" {
		t.Errorf("checks go to %+v, and Patroni answers at %s", r, nodes(p).Program.Manager.URL)
	}
	request := Driver{}.Switchover(p, "planned", "a-db-1")
	if request.URL != "http://a-db-1.a-db.ns.svc.cluster.local:8300/switchover" || !strings.Contains(string(request.Body), `"planned"`) {
		t.Errorf("a switchover is asked for by %+v", request)
	}
}

// TestFailoverNonePausesPatroni: it has no other way not to decide. A server alone is started again whatever the policy is.
func TestFailoverNonePausesPatroni(t *testing.T) {
	for _, c := range []struct {
		policy v1alpha1.FailoverPolicy
		nodes  int32
		want   int
	}{{v1alpha1.FailoverAutomatic, 3, 0}, {v1alpha1.FailoverNone, 3, 3}, {v1alpha1.FailoverNone, 1, 0}} {
		p := params()
		p.Spec.Failover, p.Spec.Nodes = c.policy, c.nodes
		system, err := Driver{}.System(p)
		if err != nil {
			t.Fatal(err)
		}
		var agent wire.AgentConfig
		if err := json.Unmarshal([]byte(system.Files["agent.json"]), &agent); err != nil {
			t.Fatal(err)
		}
		if agent.Manager == nil || agent.Manager.PauseAt != c.want {
			t.Errorf("failover %s, %d nodes: the agent is told %+v, want it to pause at %d nodes", c.policy, c.nodes, agent.Manager, c.want)
		}
	}
}

// TestPatroniFindsWhatItLooksFor: its ConfigMaps and the nodes' pods have the labels that it was told of, are those that it may change, and
// hold nothing from the start.
func TestPatroniFindsWhatItLooksFor(t *testing.T) {
	p := params()
	m := Settings(p).Manager
	labelled := func(labels map[string]string) bool {
		for name, value := range m.Labels {
			if labels[name] != value {
				return false
			}
		}
		return labels[m.ScopeLabel] == m.Scope
	}
	var maps []string
	var role *rbacv1.Role
	for _, o := range objects(p) {
		switch o := o.(type) {
		case *corev1.ConfigMap:
			maps = append(maps, o.Name)
			if !labelled(o.Labels) || len(o.Data)+len(o.Annotations) > 0 {
				t.Errorf("ConfigMap %s has the labels %v and holds %v %v", o.Name, o.Labels, o.Data, o.Annotations)
			}
		case *rbacv1.Role:
			role = o
		}
	}
	if !slices.Equal(maps, []string{"a-db-config", "a-db-leader", "a-db-sync", "a-db-failover"}) {
		t.Errorf("the store is %v", maps)
	}
	pod := kube.Meta(p.Namespace, "", kube.ComponentNode, p.Labels).Labels
	for name, value := range nodes(p).PodLabels {
		pod[name] = value
	}
	if !labelled(pod) {
		t.Errorf("pods have the labels %v", pod)
	}
	for _, r := range role.Rules {
		changes := slices.ContainsFunc(r.Verbs, func(verb string) bool { return verb != "list" && verb != "watch" })
		switch {
		case !changes:
		case r.Resources[0] == "configmaps" && slices.Equal(r.ResourceNames, maps):
		case r.Resources[0] == "pods" && slices.Equal(r.ResourceNames, []string{"a-db-0", "a-db-1", "a-db-2"}):
		default:
			t.Errorf("Patroni may change more than its own: %+v", r)
		}
	}
	if nodes(p).Identity != role.Name {
		t.Errorf("the nodes' identity is %s, and the role %s", nodes(p).Identity, role.Name)
	}
}

// TestServicesOfRolesAreThereWithoutAProxyAlone, for nodes that are ready.
func TestServicesOfRolesAreThereWithoutAProxyAlone(t *testing.T) {
	for _, wanted := range []bool{false, true} {
		p := params()
		p.RolesByLabel = wanted
		roles := map[string]string{}
		for _, o := range objects(p) {
			if s, ok := o.(*corev1.Service); ok && s.Spec.Selector[wire.RoleLabel] != "" {
				roles[s.Name] = s.Spec.Selector[wire.RoleLabel]
				if s.Spec.PublishNotReadyAddresses {
					t.Errorf("%s leads to nodes that have died", s.Name)
				}
			}
		}
		if wanted != (len(roles) == 2) || wanted && (roles["a-db-primary"] != "Writer" || roles["a-db-replicas"] != "Reader") {
			t.Errorf("without a proxy: %v: the Services are %v", wanted, roles)
		}
	}
}
