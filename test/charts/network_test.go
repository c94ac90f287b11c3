package charts_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/mariadb"
	"replab.dev/internal/engine/mysql"
	"replab.dev/internal/engine/postgres"
	"replab.dev/internal/plan"
	"replab.dev/internal/wire"
	"replab.dev/test/experiment"
	"replab.dev/test/kubetest"
)

// TestTheOperatorIsLetOutToAllThatExperimentsLetItInTo: a port that a new component opens to the operator is of no use to one that may not go there.
func TestTheOperatorIsLetOutToAllThatExperimentsLetItInTo(t *testing.T) {
	t.Parallel()
	want := portsOpenToTheOperator(t)
	var got []int32
	for _, rule := range operatorPolicy(t, "--set", "networkPolicy.egress.enabled=true").Spec.Egress {
		if len(rule.To) == 0 || rule.To[0].PodSelector == nil {
			continue // the API server, and DNS
		}
		for _, port := range rule.Ports {
			got = append(got, port.Port.IntVal)
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("the operator may go to experiments' ports %v; their policies let it in to %v", got, want)
	}
}

// portsOpenToTheOperator are those of all experiments of this repository.
func portsOpenToTheOperator(t *testing.T) (ports []int32) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(kubetest.Root(), "experiments", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there is no experiment: %v", err)
	}
	images := wire.Images{
		Replab: "i", K6: "i", Proxies: map[string]string{"HAProxy": "i", "ProxySQL": "i"},
		Servers: map[string]string{"MySQL": "i", "MariaDB": "i", "PostgreSQL": "i", "Galera/MySQL": "i"},
	}
	for _, file := range files {
		x := experiment.Load(t, strings.TrimSuffix(filepath.Base(file), ".yaml"))
		chosen, err := plan.Images(&x.Spec, images)
		if err != nil {
			t.Fatal(err)
		}
		p, err := plan.Build(plan.Input{
			Experiment: x, Images: chosen, ClusterDomain: "cluster.local", OperatorNamespace: "replab-system",
			Servers: engine.Lookup[engine.Server]{"MySQL": mysql.Server{}, "MariaDB": mariadb.Server{}, "PostgreSQL": postgres.Server{}},
		})
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, o := range p.Deploy {
			if policy, ok := o.(*networkingv1.NetworkPolicy); ok {
				ports = append(ports, letIn(policy)...)
			}
		}
	}
	slices.Sort(ports)
	return slices.Compact(ports)
}

// letIn are the ports of a policy that the operator's pods may open.
func letIn(policy *networkingv1.NetworkPolicy) (ports []int32) {
	for _, rule := range policy.Spec.Ingress {
		if slices.ContainsFunc(rule.From, func(p networkingv1.NetworkPolicyPeer) bool {
			return p.NamespaceSelector != nil && p.PodSelector.MatchLabels["app.kubernetes.io/name"] == plan.OperatorLabels["app.kubernetes.io/name"]
		}) {
			for _, port := range rule.Ports {
				ports = append(ports, port.Port.IntVal)
			}
		}
	}
	return ports
}

func TestWhatTheNetworkPolicyOpens(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		args  string
		types int
		ins   int
		outs  int
		has   string
	}{
		{"ingress alone", "networkPolicy.ingress.enabled=true", 1, 1, 0, `"port":"metrics"`},
		{"ingress for Prometheus alone", "networkPolicy.ingress.enabled=true,networkPolicy.ingress.metricsFrom[0].namespaceSelector.matchLabels.name=monitoring", 1, 1, 0, `"from":[{"namespaceSelector":{"matchLabels":{"name":"monitoring"}}}]`},
		{"egress alone", "networkPolicy.egress.enabled=true", 1, 0, 3, `"namespaceSelector":{}`},
		{"both", "networkPolicy.ingress.enabled=true,networkPolicy.egress.enabled=true", 2, 1, 3, `"port":6443`},
		{"an API server of known addresses", "networkPolicy.egress.enabled=true,networkPolicy.egress.apiServerCIDRs={10.0.0.1/32,fd00::1/128}", 1, 0, 3, `"to":[{"ipBlock":{"cidr":"10.0.0.1/32"}},{"ipBlock":{"cidr":"fd00::1/128"}}]`},
		{"an API server's own port", "networkPolicy.egress.enabled=true,networkPolicy.egress.apiServerPorts={8443}", 1, 0, 3, `"ports":[{"protocol":"TCP","port":8443}]`},
		{"an operator of some namespaces", "networkPolicy.egress.enabled=true,watchNamespaces={team-a}", 1, 0, 3, `{"key":"kubernetes.io/metadata.name","operator":"In","values":["team-a"]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			policy := operatorPolicy(t, "--set", c.args)
			if len(policy.Spec.PolicyTypes) != c.types || len(policy.Spec.Ingress) != c.ins || len(policy.Spec.Egress) != c.outs {
				t.Errorf("types %v with %d rules in and %d out, want %d, %d and %d", policy.Spec.PolicyTypes, len(policy.Spec.Ingress), len(policy.Spec.Egress), c.types, c.ins, c.outs)
			}
			if text := toJSON(t, policy.Spec); !strings.Contains(text, c.has) {
				t.Errorf("%s is not in %s", c.has, text)
			}
		})
	}
}

func TestTheBudgetIsOfTheOperatorsPods(t *testing.T) {
	t.Parallel()
	all := render(t, "--set", "replicas=2,podDisruptionBudget.enabled=true,podDisruptionBudget.maxUnavailable=50%")
	var budget policyv1.PodDisruptionBudget
	convert(t, all, "PodDisruptionBudget replab-operator", &budget)
	if got := budget.Spec.MaxUnavailable; got == nil || got.String() != "50%" {
		t.Errorf("maxUnavailable %v, want 50%%", got)
	}
	selects(t, all, budget.Spec.Selector.MatchLabels)
}

// operatorPolicy is the one of the operator's own pod, which it selects.
func operatorPolicy(t *testing.T, args ...string) *networkingv1.NetworkPolicy {
	t.Helper()
	all := render(t, args...)
	var policy networkingv1.NetworkPolicy
	convert(t, all, "NetworkPolicy replab-operator", &policy)
	selects(t, all, policy.Spec.PodSelector.MatchLabels)
	return &policy
}

func selects(t *testing.T, all objects, selector map[string]string) {
	t.Helper()
	template := all["Deployment replab-operator"].Object["spec"].(map[string]any)["template"].(map[string]any)
	labels := template["metadata"].(map[string]any)["labels"].(map[string]any)
	for key, value := range selector {
		if labels[key] != value {
			t.Errorf("%s=%s is selected, the operator's pod has %v", key, value, labels[key])
		}
	}
	if len(selector) == 0 {
		t.Error("all pods of the namespace are selected")
	}
}

func convert(t *testing.T, all objects, key string, into any) {
	t.Helper()
	if all[key] == nil {
		t.Fatalf("there is no %s", key)
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(all[key].Object, into); err != nil {
		t.Fatal(err)
	}
}
