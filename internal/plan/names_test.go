package plan

import (
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/kube"
	"replab.dev/internal/results"
	"replab.dev/internal/topology"
	"replab.dev/test/experiment"
)

// foreignSuffixes are made by other controllers of what is ours: Patroni and the operator that runs it, of a cluster that is named
// like the nodes, and the k6-operator of a test that is named like the load.
var foreignSuffixes = []string{
	"db-config", "db-leader", "db-failover", "db-sync", "db-repl",
	"load-initializer", "load-starter", "load-service-1",
}

// TestNoTwoExperimentsShareAName holds on to the rule of kube.Meta: a name is the experiment's, "-" and a suffix, and no suffix
// ends in "-" and another. Then nothing that is called a-audit-... can be both of a and of a-audit.
func TestNoTwoExperimentsShareAName(t *testing.T) {
	suffixes := map[string]bool{"remains": true} // of internal/cluster
	for _, s := range foreignSuffixes {
		suffixes[s] = true
	}
	for _, name := range []string{"single", "async", "semisync", "async-loss"} {
		for _, proxy := range []v1alpha1.Proxy{v1alpha1.ProxyHAProxy, v1alpha1.ProxyProxySQL, v1alpha1.ProxyNone} {
			for _, engine := range []v1alpha1.Engine{v1alpha1.EngineMySQL, v1alpha1.EnginePostgreSQL} {
				x := experiment.Load(t, name)
				if x.Spec.Topology.Type == v1alpha1.TopologySemiSync && engine == v1alpha1.EnginePostgreSQL {
					continue
				}
				x.Spec.Routing.Proxy, x.Spec.Load.Parallelism, x.Spec.Topology.Engine = proxy, 3, engine
				for _, n := range names(t, x) {
					suffix, ok := strings.CutPrefix(n, name+"-")
					if !ok {
						t.Fatalf("object %s does not begin with the experiment's name %s", n, name)
					}
					suffixes[suffix] = true
				}
			}
		}
	}
	for long := range suffixes {
		for short := range suffixes {
			if head, ok := strings.CutSuffix(long, "-"+short); ok {
				t.Errorf("experiments a and a-%s would both have an object a-%s: rename -%s or -%s", head, long, long, short)
			}
		}
	}
	if len(suffixes) < 20 {
		t.Errorf("found only %v", suffixes)
	}
}

// TestTheLongestNameFitsEverywhere: Services, Jobs and the labels that Kubernetes makes of names take 63 characters; of a StatefulSet's
// name it makes a label with 11 more.
func TestTheLongestNameFitsEverywhere(t *testing.T) {
	for _, proxy := range []v1alpha1.Proxy{v1alpha1.ProxyHAProxy, v1alpha1.ProxyProxySQL, v1alpha1.ProxyNone} {
		x := experiment.Load(t, "async-loss")
		x.Name, x.Spec.Routing.Proxy, x.Spec.Load.Parallelism, x.Spec.Topology.Nodes = strings.Repeat("a", 40), proxy, 10, 10
		for _, n := range names(t, x) {
			if len(n) > 63 {
				t.Errorf("%s has %d characters", n, len(n))
			}
		}
		for _, o := range build(t, x).Deploy {
			if set, ok := o.(*appsv1.StatefulSet); ok && len(set.Name) > 63-11 {
				t.Errorf("StatefulSet %s has %d characters", set.Name, len(set.Name))
			}
		}
	}
}

// names of all objects of an experiment, and of its database nodes.
func names(t *testing.T, x *v1alpha1.ReplicationExperiment) []string {
	t.Helper()
	p := build(t, x)
	audit, job, err := Audit(input(x), topology.State{})
	if err != nil {
		t.Fatal(err)
	}
	again, second, err := Recount(input(x), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	found := []string{kube.SecretName(x.Name), results.Name(x.Name), p.Seed.Name, job.Name, second.Name}
	for _, o := range append(append(audit, again...), p.Deploy...) {
		found = append(found, o.GetName())
		if set, ok := o.(*appsv1.StatefulSet); ok {
			for i := range *set.Spec.Replicas {
				found = append(found, fmt.Sprintf("%s-%d", set.Name, i))
			}
		}
	}
	for _, w := range p.Watched {
		found = append(found, w.GetName())
	}
	return found
}
