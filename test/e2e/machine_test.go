//go:build e2e

package e2e

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/e2e-framework/klient/k8s"
	"sigs.k8s.io/e2e-framework/klient/wait"
	"sigs.k8s.io/e2e-framework/klient/wait/conditions"
	"sigs.k8s.io/e2e-framework/pkg/envconf"
	"sigs.k8s.io/e2e-framework/pkg/features"

	"replab.dev/api/v1alpha1"
)

// half is the label by which databases are kept off the machine of all else.
const half = "e2e.replab.dev/half"

// TestMachineLost kills the container of kind's node that the primary runs on: a machine without power. REPLAB_DOCKER is how to reach its engine. No
// fault of the experiment tells of it, so the run says what it saw.
func TestMachineLost(t *testing.T) {
	docker := strings.Fields(os.Getenv("REPLAB_DOCKER"))
	if len(docker) == 0 {
		t.Skip("REPLAB_DOCKER is not set: the cluster is not one of kind")
	}
	x := variant(t, "semisync", "machine-lost", 40, func(s *v1alpha1.ReplicationExperimentSpec) {
		s.Topology.Nodes, s.Faults = 2, nil
		s.Pods = &v1alpha1.PodsSpec{
			All: &v1alpha1.PodSettings{NodeSelector: map[string]string{half: "rest"}},
			Nodes: &v1alpha1.PodSettings{
				NodeSelector: map[string]string{half: "databases"},
				TopologySpreadConstraints: []corev1.TopologySpreadConstraint{{
					MaxSkew: 1, TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.DoNotSchedule,
					LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{half: "databases"}},
				}},
				Labels: map[string]string{half: "databases"},
			},
		}
	})
	testenv.Test(t, features.New("a machine is lost").
		Assess("and the run says what it saw", func(ctx context.Context, t *testing.T, cfg *envconf.Config) context.Context {
			divide(ctx, t, cfg)
			x = create(ctx, t, cfg, x)
			await(ctx, t, cfg, x, completeTimeout, "under load", func() bool { return condition(x, v1alpha1.ConditionLoadStarted).Status == metav1.ConditionTrue })
			time.Sleep(8 * time.Second) // the load goes well for a while
			var primary corev1.Pod
			check(t, cfg.Client().Resources().Get(ctx, x.Name+"-db-0", namespace, &primary))
			machine := primary.Spec.NodeName
			t.Logf("kill %s, on which %s is", machine, primary.Name)
			command(t, docker, "kill", machine)
			back := func() {
				command(t, docker, "start", machine)
				check(t, wait.For(conditions.New(cfg.Client().Resources()).ResourceMatch(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: machine}}, ready),
					wait.WithTimeout(completeTimeout)))
			}
			t.Cleanup(back)
			await(ctx, t, cfg, x, completeTimeout, "complete", complete(x))
			s := x.Status
			if s.Verdict != v1alpha1.VerdictInconclusive || !strings.Contains(strings.Join(s.Reasons, "\n"), primary.Name+" is Down") {
				t.Errorf("%s: %q, want Inconclusive by the node that is down", s.Verdict, s.Reasons)
			}
			for _, n := range s.Nodes {
				if (n.Role == v1alpha1.NodePrimary) == (n.Name == primary.Name) {
					t.Errorf("node %s is %s, and %s was lost", n.Name, n.Role, primary.Name)
				}
			}
			if s.Writes == nil || s.Writes.Balanced != metav1.ConditionTrue || ptr.Deref(s.Writes.Lost, -1) != 0 {
				t.Errorf("writes are %+v, want none lost: each waited for the other node", s.Writes)
			}
			back() // until then its pods cannot go
			remove(ctx, t, cfg, x)
			return ctx
		}).Feature())
}

func ready(o k8s.Object) bool {
	return slices.ContainsFunc(o.(*corev1.Node).Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}

// divide labels the machines: those of databases are all but the control plane's. It skips the test on fewer than three.
func divide(ctx context.Context, t *testing.T, cfg *envconf.Config) {
	t.Helper()
	var nodes corev1.NodeList
	check(t, cfg.Client().Resources().List(ctx, &nodes))
	if len(nodes.Items) < 3 {
		t.Skip("the cluster has fewer than three machines: make cluster-up KIND_CONFIG=config/kind/three.yaml")
	}
	for _, n := range nodes.Items {
		part := "databases"
		if _, plane := n.Labels["node-role.kubernetes.io/control-plane"]; plane {
			part = "rest"
		}
		patch := k8s.Patch{PatchType: types.MergePatchType, Data: []byte(`{"metadata": {"labels": {"` + half + `": "` + part + `"}}}`)}
		check(t, cfg.Client().Resources().Patch(ctx, &n, patch))
	}
}

func command(t *testing.T, program []string, args ...string) {
	t.Helper()
	if out, err := exec.Command(program[0], append(program[1:], args...)...).CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", program, args, err, out)
	}
}
