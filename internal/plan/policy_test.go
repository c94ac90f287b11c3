package plan

import (
	"maps"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/engine/mysql"
	"replab.dev/internal/kube"
	"replab.dev/internal/topology"
	"replab.dev/internal/wire"
	"replab.dev/test/experiment"
)

// peer is a pod that opens a connection.
type peer struct {
	namespace string
	labels    labels.Set
}

// TestPortsAreOpenToThoseWhomTheyAreFor reads the policies as the cluster's network does: a pod that a policy selects is reached
// only by what one of its policies lets in.
func TestPortsAreOpenToThoseWhomTheyAreFor(t *testing.T) {
	x := experiment.Load(t, "semisync")
	policies := policiesOf(t, build(t, x))
	pod := func(component string) peer {
		return peer{x.Namespace, labels.Set{kube.LabelExperiment: x.Name, kube.LabelComponent: component}}
	}
	theOperator := peer{"replab-system", maps.Clone(labels.Set(OperatorLabels))}
	impostor := peer{x.Namespace, maps.Clone(labels.Set(OperatorLabels))}
	neighbour := peer{x.Namespace, labels.Set{kube.LabelExperiment: "another", kube.LabelComponent: kube.ComponentManager}}
	for _, c := range []struct {
		what string
		from peer
		to   string
		port int
		open bool
	}{
		{"replicas follow the primary", pod(kube.ComponentNode), kube.ComponentNode, mysql.Port, true},
		{"agents try what a partition cuts", pod(kube.ComponentNode), kube.ComponentNode, wire.PortAgent, true},
		{"the director drives the servers", pod(kube.ComponentManager), kube.ComponentNode, mysql.Port, true},
		{"the director asks agents", pod(kube.ComponentManager), kube.ComponentNode, wire.PortAgent, true},
		{"the director fetches no copy itself", pod(kube.ComponentManager), kube.ComponentNode, mysql.Port + 1, false},
		{"the director joins no group", pod(kube.ComponentManager), kube.ComponentNode, 4567, false},
		{"nodes reach each other on every port", pod(kube.ComponentNode), kube.ComponentNode, 4567, true},
		{"the proxy leads to the servers", pod(kube.ComponentProxy), kube.ComponentNode, mysql.Port, true},
		{"the proxy asks for roles", pod(kube.ComponentProxy), kube.ComponentNode, wire.PortAgent, true},
		{"without a proxy the app comes itself", pod(kube.ComponentSocial), kube.ComponentNode, mysql.Port, true},
		{"the app asks no agent", pod(kube.ComponentSocial), kube.ComponentNode, wire.PortAgent, false},
		{"the lag probe reads the servers", pod(kube.ComponentRecorder), kube.ComponentNode, mysql.Port, true},
		{"the recorder samples resources", pod(kube.ComponentRecorder), kube.ComponentNode, wire.PortAgent, true},
		{"the audit reads the servers", pod(kube.ComponentAudit), kube.ComponentNode, mysql.Port, true},
		{"the load reaches no server", pod(kube.ComponentLoad), kube.ComponentNode, mysql.Port, false},
		{"the operator asks agents for faults", theOperator, kube.ComponentNode, wire.PortAgent, true},
		{"the operator has no business with a server", theOperator, kube.ComponentNode, mysql.Port, false},
		{"the director of another experiment is kept out", neighbour, kube.ComponentNode, wire.PortAgent, false},
		{"the operator asks the director", theOperator, kube.ComponentManager, wire.PortDirector, true},
		{"the app writes through the proxy", pod(kube.ComponentSocial), kube.ComponentProxy, wire.PortProxyWrites, true},
		{"the app reads through the proxy", pod(kube.ComponentSocial), kube.ComponentProxy, wire.PortProxyReads, true},
		{"the lag probe writes through the proxy", pod(kube.ComponentRecorder), kube.ComponentProxy, wire.PortProxyWrites, true},
		{"the seed goes through the proxy", pod(kube.ComponentSeed), kube.ComponentProxy, wire.PortProxyWrites, true},
		{"the load goes through no proxy", pod(kube.ComponentLoad), kube.ComponentProxy, wire.PortProxyWrites, false},
		{"the recorder relays to the app", pod(kube.ComponentRecorder), kube.ComponentSocial, wire.PortSocial, true},
		{"the load never goes past the recorder", pod(kube.ComponentLoad), kube.ComponentSocial, wire.PortSocial, false},
		{"the load goes to the recorder", pod(kube.ComponentLoad), kube.ComponentRecorder, wire.PortRecorder, true},
		{"the load cannot end the measurement", pod(kube.ComponentLoad), kube.ComponentRecorder, wire.PortRecorderControl, false},
		{"nobody else writes past the ledger's back", neighbour, kube.ComponentRecorder, wire.PortRecorder, false},
		{"the operator follows the recorder", theOperator, kube.ComponentRecorder, wire.PortRecorderControl, true},
		{"the audit reads the ledger", pod(kube.ComponentAudit), kube.ComponentRecorder, wire.PortRecorderControl, true},
		{"the operator has k6 begin", theOperator, kube.ComponentLoad, wire.PortK6, true},
		{"nobody else has k6 begin", pod(kube.ComponentRecorder), kube.ComponentLoad, wire.PortK6, false},
		{"who is labelled as the operator in another namespace is not he", impostor, kube.ComponentLoad, wire.PortK6, false},
		{"nobody reaches the audit", theOperator, kube.ComponentAudit, 80, false},
		{"nobody reaches the seed", theOperator, kube.ComponentSeed, 80, false},
	} {
		if got := reaches(t, policies, c.from, pod(c.to), c.port); got != c.open {
			t.Errorf("%s: %s:%d is open: %t, want %t", c.what, c.to, c.port, got, c.open)
		}
	}
}

// TestWithoutAManagerNobodyComesInItsName: members of a group have none, and no pod of theirs has its label.
func TestWithoutAManagerNobodyComesInItsName(t *testing.T) {
	x := experiment.Load(t, "galera")
	policies := policiesOf(t, build(t, x))
	pod := func(component string) peer {
		return peer{x.Namespace, labels.Set{kube.LabelExperiment: x.Name, kube.LabelComponent: component}}
	}
	for _, port := range []int{mysql.Port, wire.PortAgent} {
		if reaches(t, policies, pod(kube.ComponentManager), pod(kube.ComponentNode), port) {
			t.Errorf("port %d of the members is open to a director", port)
		}
		if !reaches(t, policies, pod(kube.ComponentRecorder), pod(kube.ComponentNode), port) {
			t.Errorf("port %d of the members is not open to the recorder", port)
		}
	}
}

// TestNodesMeasureTheWayToAnAppThatIsAway opens a port on which nobody listens, and only there.
func TestNodesMeasureTheWayToAnAppThatIsAway(t *testing.T) {
	for zone, open := range map[string]bool{"": false, "here": true} {
		x := experiment.Load(t, "semisync-distance")
		x.Spec.App.Zone = zone
		policies := policiesOf(t, build(t, x))
		pod := func(component string) peer {
			return peer{x.Namespace, labels.Set{kube.LabelExperiment: x.Name, kube.LabelComponent: component}}
		}
		for _, to := range []string{kube.ComponentSocial, kube.ComponentProxy} {
			if got := reaches(t, policies, pod(kube.ComponentNode), pod(to), wire.PortAgent); got != open {
				t.Errorf("app in zone %q: nodes reach %s: %t, want %t", zone, to, got, open)
			}
			if reaches(t, policies, pod(kube.ComponentLoad), pod(to), wire.PortAgent) {
				t.Errorf("app in zone %q: the load reaches %s", zone, to)
			}
		}
	}
}

// TestEveryPodHasAPolicy, so that a new component is not left open.
func TestEveryPodHasAPolicy(t *testing.T) {
	p := build(t, experiment.Load(t, "async-loss"))
	policies := policiesOf(t, p)
	pods := []labels.Set{p.Seed.Spec.Template.Labels, template(p.Load[0]).Labels}
	for _, o := range p.Deploy {
		if pod := template(o); pod != nil {
			pods = append(pods, pod.Labels)
		}
	}
	for _, pod := range pods {
		if !selected(t, policies, pod) {
			t.Errorf("no policy selects the pods of %s", pod[kube.LabelComponent])
		}
	}
}

func TestAnOperatorOutsideOfTheClusterIsNotShutOut(t *testing.T) {
	in := input(experiment.Load(t, "semisync"))
	in.OperatorNamespace = ""
	p, err := Build(in)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range p.Deploy {
		if _, ok := o.(*networkingv1.NetworkPolicy); ok {
			t.Fatalf("policy %s shuts it out", o.GetName())
		}
	}
}

func policiesOf(t *testing.T, p Plan) []*networkingv1.NetworkPolicy {
	t.Helper()
	var policies []*networkingv1.NetworkPolicy
	for _, o := range p.Deploy {
		if policy, ok := o.(*networkingv1.NetworkPolicy); ok {
			policies = append(policies, policy)
		}
	}
	if len(policies) == 0 {
		t.Fatal("the plan has no policies")
	}
	return policies
}

func selected(t *testing.T, policies []*networkingv1.NetworkPolicy, pod labels.Set) bool {
	t.Helper()
	for _, p := range policies {
		if matches(t, &p.Spec.PodSelector, pod) {
			return true
		}
	}
	return false
}

func reaches(t *testing.T, policies []*networkingv1.NetworkPolicy, from, to peer, port int) bool {
	t.Helper()
	if !selected(t, policies, to.labels) {
		return true
	}
	for _, p := range policies {
		if !matches(t, &p.Spec.PodSelector, to.labels) {
			continue
		}
		for _, rule := range p.Spec.Ingress {
			if opens(rule.Ports, port) && letsIn(t, rule.From, p.Namespace, from) {
				return true
			}
		}
	}
	return false
}

func opens(ports []networkingv1.NetworkPolicyPort, port int) bool {
	for _, p := range ports {
		if p.Port.IntValue() == port {
			return true
		}
	}
	return len(ports) == 0
}

func letsIn(t *testing.T, peers []networkingv1.NetworkPolicyPeer, namespace string, from peer) bool {
	t.Helper()
	for _, p := range peers {
		sameNamespace := p.NamespaceSelector == nil && from.namespace == namespace ||
			p.NamespaceSelector != nil && matches(t, p.NamespaceSelector, labels.Set{"kubernetes.io/metadata.name": from.namespace})
		if sameNamespace && matches(t, p.PodSelector, from.labels) {
			return true
		}
	}
	return len(peers) == 0
}

func matches(t *testing.T, s *metav1.LabelSelector, l labels.Set) bool {
	t.Helper()
	selector, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		t.Fatal(err)
	}
	return selector.Matches(l)
}

// TestWhoTellsRolesInTheAgentsPlaceCanBeAsked: by the operator's questions, and by the recorder for its clock.
func TestWhoTellsRolesInTheAgentsPlaceCanBeAsked(t *testing.T) {
	b, err := newBuilder(input(experiment.Load(t, "semisync")))
	if err != nil {
		t.Fatal(err)
	}
	b.system.Routes.CheckPort = 8008
	asks := map[string]bool{}
	for _, d := range b.doors()[kube.ComponentNode] {
		for _, from := range d.from {
			asks[from] = asks[from] || d.port == 8008
		}
	}
	for component, want := range map[string]bool{
		kube.ComponentProxy: true, kube.ComponentOperator: true, kube.ComponentRecorder: true, kube.ComponentSocial: false,
	} {
		if asks[component] != want {
			t.Errorf("%s may ask: %t, want %t", component, asks[component], want)
		}
	}
}

// TestGuestsComeToTheirPortsFromTheirNamespace, to no others and from no others: whoever has a namespace can label pods there as it likes.
func TestGuestsComeToTheirPortsFromTheirNamespace(t *testing.T) {
	b, err := newBuilder(input(experiment.Load(t, "semisync")))
	if err != nil {
		t.Fatal(err)
	}
	guest := map[string]string{"app": "guest"}
	b.system.Guests = []topology.Guest{{Namespace: "elsewhere", Labels: guest, Ports: []int{5432, 8008}}}
	var policies []*networkingv1.NetworkPolicy
	for _, o := range b.policies() {
		policies = append(policies, o.(*networkingv1.NetworkPolicy))
	}
	pod := func(component string) peer {
		return peer{b.Namespace, labels.Set{kube.LabelExperiment: b.Name, kube.LabelComponent: component}}
	}
	for _, c := range []struct {
		from peer
		to   string
		port int
		open bool
	}{
		{peer{"elsewhere", guest}, kube.ComponentNode, 5432, true},
		{peer{"elsewhere", guest}, kube.ComponentNode, 8008, true},
		{peer{b.Namespace, guest}, kube.ComponentNode, 8008, false},
		{peer{"a-third", guest}, kube.ComponentNode, 5432, false},
		{peer{"elsewhere", guest}, kube.ComponentNode, wire.PortAgent, false},
		{peer{"elsewhere", guest}, kube.ComponentSocial, 5432, false},
		{peer{"elsewhere", labels.Set{"app": "another"}}, kube.ComponentNode, 5432, false},
	} {
		if got := reaches(t, policies, c.from, pod(c.to), c.port); got != c.open {
			t.Errorf("%+v reaches %s:%d: %t, want %t", c.from, c.to, c.port, got, c.open)
		}
	}
}

// TestPrometheusReadsMetricsAndReachesNothingElse: behind the other ports are the app, past the ledger, and what acts on nodes.
func TestPrometheusReadsMetricsAndReachesNothingElse(t *testing.T) {
	labelled := labels.Set{"app.kubernetes.io/name": "prometheus"}
	in := input(experiment.Load(t, "semisync"))
	in.Prometheus = &wire.PodPeer{Namespace: "monitoring", PodLabels: labelled}
	b, err := newBuilder(in)
	if err != nil {
		t.Fatal(err)
	}
	var open, closed []*networkingv1.NetworkPolicy
	for _, o := range b.policies() {
		open = append(open, o.(*networkingv1.NetworkPolicy))
	}
	b.prometheus = nil
	for _, o := range b.policies() {
		closed = append(closed, o.(*networkingv1.NetworkPolicy))
	}
	prometheus := peer{"monitoring", labelled}
	for component, other := range map[string]int{
		kube.ComponentNode: wire.PortAgent, kube.ComponentManager: wire.PortDirector, kube.ComponentSocial: wire.PortSocial,
		kube.ComponentRecorder: wire.PortRecorderControl, kube.ComponentSeed: wire.PortAgent, kube.ComponentAudit: wire.PortAgent,
	} {
		to := peer{b.Namespace, labels.Set{kube.LabelExperiment: b.Name, kube.LabelComponent: component}}
		if !reaches(t, open, prometheus, to, wire.PortMetrics) {
			t.Errorf("Prometheus does not reach the metrics of %s", component)
		}
		if reaches(t, open, prometheus, to, other) {
			t.Errorf("Prometheus reaches %s:%d", component, other)
		}
		if reaches(t, open, peer{b.Namespace, labelled}, to, wire.PortMetrics) {
			t.Errorf("a pod of the experiment's namespace that is labelled as Prometheus reaches the metrics of %s", component)
		}
		if reaches(t, closed, prometheus, to, wire.PortMetrics) {
			t.Errorf("Prometheus reaches the metrics of %s though nobody let it in", component)
		}
	}
}

// TestPrometheusReadsProxiesThatCanDoNothingElseThere, and finds these by the name of their port.
func TestPrometheusReadsProxiesThatCanDoNothingElseThere(t *testing.T) {
	peerOf := labels.Set{"app.kubernetes.io/name": "prometheus"}
	for name, open := range map[string]bool{"semisync": true, "semisync-proxysql": false} {
		in := input(experiment.Load(t, name))
		in.Prometheus = &wire.PodPeer{Namespace: "monitoring", PodLabels: peerOf}
		p, err := Build(in)
		if err != nil {
			t.Fatal(err)
		}
		to := peer{in.Experiment.Namespace, labels.Set{kube.LabelExperiment: in.Experiment.Name, kube.LabelComponent: kube.ComponentProxy}}
		for port, want := range map[int]bool{wire.PortProxyStats: open, wire.PortProxyWrites: false, wire.PortMetrics: false} {
			if got := reaches(t, policiesOf(t, p), peer{"monitoring", peerOf}, to, port); got != want {
				t.Errorf("%s: Prometheus reaches port %d of the proxy: %t, want %t", name, port, got, want)
			}
		}
		for _, o := range p.Deploy {
			pod := template(o)
			if pod == nil || pod.Labels[kube.LabelComponent] != kube.ComponentProxy {
				continue
			}
			if found := slices.ContainsFunc(pod.Spec.Containers[0].Ports, func(c corev1.ContainerPort) bool {
				return c.Name == wire.MetricsPortName && c.ContainerPort == wire.PortProxyStats
			}); found != open {
				t.Errorf("%s: monitors find the proxy: %t, want %t", name, found, open)
			}
		}
	}
}

// TestTheZalandoOperatorAloneIsLetIn: Patroni in its pods obeys whoever reaches it.
func TestTheZalandoOperatorAloneIsLetIn(t *testing.T) {
	chart, manifests := labels.Set{"app.kubernetes.io/name": "postgres-operator"}, labels.Set{"name": "postgres-operator"}
	ofManifests := wire.ForeignOperator{Namespace: "default", PodLabels: manifests}
	for name, c := range map[string]struct {
		foreign wire.ForeignOperator
		from    peer
		open    bool
	}{
		"as its chart installs it":      {wire.ForeignOperator{}, peer{"postgres-operator", chart}, true},
		"a pod that is called so":       {wire.ForeignOperator{}, peer{"somebody", chart}, false},
		"another pod beside it":         {wire.ForeignOperator{}, peer{"postgres-operator", labels.Set{"app.kubernetes.io/name": "ui"}}, false},
		"in the namespace that is said": {wire.ForeignOperator{Namespace: "dbs"}, peer{"dbs", chart}, true},
		"as its manifests install it":   {ofManifests, peer{"default", manifests}, true},
		"with the labels of its chart":  {ofManifests, peer{"default", chart}, false},
		"from elsewhere":                {ofManifests, peer{"somebody", manifests}, false},
		"not where it would run else":   {wire.ForeignOperator{Namespace: "dbs"}, peer{"postgres-operator", chart}, false},
	} {
		in := input(experiment.Load(t, "patroni-zalando"))
		in.ForeignOperators = map[string]wire.ForeignOperator{v1alpha1.ProviderZalando: c.foreign, "Another": {Namespace: "somebody", PodLabels: chart}}
		p, err := Build(in)
		if err != nil {
			t.Fatal(err)
		}
		policies := policiesOf(t, p)
		for _, policy := range policies {
			for _, rule := range policy.Spec.Ingress {
				for _, from := range rule.From {
					if s := from.NamespaceSelector; s != nil && len(s.MatchLabels) == 0 {
						t.Errorf("%s: policy %s lets in pods of every namespace", name, policy.Name)
					}
				}
			}
		}
		node := peer{in.Experiment.Namespace, labels.Set{kube.LabelExperiment: in.Experiment.Name, kube.LabelComponent: kube.ComponentNode}}
		for _, port := range []int{5432, 8008} {
			if got := reaches(t, policies, c.from, node, port); got != c.open {
				t.Errorf("%s: it reaches port %d: %t, want %t", name, port, got, c.open)
			}
		}
	}
}

// TestK6OperatorReachesK6RESTAPI, and to nothing else; where replab runs k6 itself nobody is.
func TestK6OperatorReachesK6RESTAPI(t *testing.T) {
	usual := labels.Set{"control-plane": "controller-manager"}
	for name, c := range map[string]struct {
		runner  v1alpha1.LoadRunner
		foreign wire.ForeignOperator
		from    peer
		open    bool
	}{
		"as its chart installs it":      {v1alpha1.RunnerK6Operator, wire.ForeignOperator{}, peer{"k6-operator-system", usual}, true},
		"a pod that is called so":       {v1alpha1.RunnerK6Operator, wire.ForeignOperator{}, peer{"somebody", usual}, false},
		"another pod beside it":         {v1alpha1.RunnerK6Operator, wire.ForeignOperator{}, peer{"k6-operator-system", labels.Set{"control-plane": "ui"}}, false},
		"in the namespace that is said": {v1alpha1.RunnerK6Operator, wire.ForeignOperator{Namespace: "load"}, peer{"load", usual}, true},
		"where it is not asked for":     {v1alpha1.RunnerJob, wire.ForeignOperator{}, peer{"k6-operator-system", usual}, false},
	} {
		in := input(experiment.Load(t, "k6-operator"))
		in.Experiment.Spec.Load.Runner = c.runner
		in.ForeignOperators = map[string]wire.ForeignOperator{string(v1alpha1.RunnerK6Operator): c.foreign, v1alpha1.ProviderZalando: {Namespace: "somebody"}}
		p, err := Build(in)
		if err != nil {
			t.Fatal(err)
		}
		of := func(component string) peer {
			return peer{in.Experiment.Namespace, labels.Set{kube.LabelExperiment: in.Experiment.Name, kube.LabelComponent: component}}
		}
		if got := reaches(t, policiesOf(t, p), c.from, of(kube.ComponentLoad), wire.PortK6); got != c.open {
			t.Errorf("%s: it reaches k6: %t, want %t", name, got, c.open)
		}
		if reaches(t, policiesOf(t, p), c.from, of(kube.ComponentRecorder), wire.PortRecorder) {
			t.Errorf("%s: it reaches the recorder", name)
		}
	}
}
