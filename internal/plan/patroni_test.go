package plan

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/kube"
	"replab.dev/internal/topology/node"
	"replab.dev/test/experiment"
)

// onPostgreSQL is an experiment whose nodes Patroni runs.
func onPostgreSQL(t *testing.T) *v1alpha1.ReplicationExperiment {
	t.Helper()
	x := experiment.Load(t, "async")
	x.Spec.Topology.Engine = v1alpha1.EnginePostgreSQL
	return x
}

// TestPatroniTakesThePlaceOfTheDirector: no process of replab's decides who takes the writes, and a partition from everyone is one from the
// API server too.
func TestPatroniTakesThePlaceOfTheDirector(t *testing.T) {
	x := onPostgreSQL(t)
	p := build(t, x)
	if !p.Store || build(t, experiment.Load(t, "async")).Store {
		t.Error("who decides in the API server is not told")
	}
	identities := map[string]string{}
	for _, o := range p.Deploy {
		if pod := template(o); pod != nil {
			identities[pod.Labels[kube.LabelComponent]] = pod.Spec.ServiceAccountName
		}
	}
	if _, ok := identities[kube.ComponentManager]; ok {
		t.Error("there is a director")
	}
	if got := identities[kube.ComponentNode]; got != x.Name+"-db" {
		t.Errorf("the nodes' identity is %q", got)
	}
	if want := int(x.Spec.Topology.Nodes) + len(identities) - 1; p.Pods < want {
		t.Errorf("%d pods are planned, want at least %d", p.Pods, want)
	}
}

// TestPostgreSQLFindsItsUser in the list of the experiment's ConfigMap, with the number that the pods run as.
func TestPostgreSQLFindsItsUser(t *testing.T) {
	x := onPostgreSQL(t)
	x.Spec.Pods = &v1alpha1.PodsSpec{Nodes: &v1alpha1.PodSettings{SecurityContext: &corev1.PodSecurityContext{RunAsUser: ptr.To[int64](7000)}}}
	p := build(t, x)
	i := slices.IndexFunc(p.Deploy, func(o kube.Object) bool { return o.GetName() == x.Name+kube.ConfigMapSuffix })
	if i < 0 {
		t.Fatal("there is no ConfigMap")
	}
	files := p.Deploy[i].(*corev1.ConfigMap).Data
	if !strings.Contains(files[node.UsersFile], ":7000:") || files["patroni.yml"] == "" {
		t.Errorf("the list of users is %q, and Patroni's configuration\n%s", files[node.UsersFile], files["patroni.yml"])
	}
}
