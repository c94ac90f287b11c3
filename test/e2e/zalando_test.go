//go:build e2e

package e2e

import (
	"context"
	"os"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/e2e-framework/klient/k8s/resources"
	"sigs.k8s.io/e2e-framework/pkg/envconf"
	"sigs.k8s.io/e2e-framework/pkg/features"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/kube"
	"replab.dev/test/experiment"
)

// TestPatroniZalando is run where REPLAB_ZALANDO says that the cluster has the Zalando operator, as `make e2e` finds out. Its nodes read nothing
// before they give up what only they had, so that ghosts are unknown there, and it is said.
func TestPatroniZalando(t *testing.T) {
	if os.Getenv("REPLAB_ZALANDO") == "" {
		t.Skip("REPLAB_ZALANDO is not set: the cluster need not have the Zalando operator")
	}
	x := experiment.Load(t, "patroni-zalando")
	x.Spec.Keep = v1alpha1.KeepAlways
	run(t, x, v1alpha1.VerdictPassed, func(ctx context.Context, t *testing.T, cfg *envconf.Config) *v1alpha1.ReplicationExperiment {
		x = create(ctx, t, cfg, x)
		await(ctx, t, cfg, x, completeTimeout, "complete", complete(x))
		lossesByLedger(ctx, t, cfg, x)
		followOne(ctx, t, cfg, x)
		return x
	}, func(t *testing.T, s v1alpha1.ReplicationExperimentStatus) {
		lostNothing(t, s)
		for _, f := range s.Faults {
			if f.OutageMilliseconds == nil {
				t.Errorf("fault %s has no outage: %+v", f.Name, f)
			}
			if f.Fault == "planned" {
				gaveUp(t, s, f.Pod)
			}
		}
	})
	gone := features.New("what the Zalando operator made of it").Assess("is gone", func(ctx context.Context, t *testing.T, cfg *envconf.Config) context.Context {
		goes(ctx, t, cfg, x, time.Now(), "cluster-name="+x.Name+"-db") // what Patroni has made anew while it ended has no other label to find it by
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(schema.GroupVersionKind{Group: "acid.zalan.do", Version: "v1", Kind: "postgresqlList"})
		check(t, cfg.Client().Resources(namespace).List(ctx, list, resources.WithLabelSelector(kube.LabelExperiment+"="+x.Name)))
		if len(list.Items) > 0 {
			t.Errorf("%d resources of it are left", len(list.Items))
		}
		return ctx
	}).Feature()
	testenv.Test(t, gone)
}

// gaveUp tells that a node had the writes until it was to give them away: another one has them, it was never apart, and what it alone held then
// is not known.
func gaveUp(t *testing.T, s v1alpha1.ReplicationExperimentStatus, old string) {
	t.Helper()
	if s.GhostWrites != nil {
		t.Errorf("ghosts are %d, and nobody has read what %s held", *s.GhostWrites, old)
	}
	var primaries []string
	for _, n := range s.Nodes {
		if n.Role == v1alpha1.NodePrimary {
			primaries = append(primaries, n.Name)
		}
		if n.Name == old && (n.Role != v1alpha1.NodeReplica || n.Rejoined != "" || n.Note == "") {
			t.Errorf("the node that gave the writes away is %+v, and its note is to say why its ghosts are unknown", n)
		}
	}
	if len(primaries) != 1 || primaries[0] == old {
		t.Errorf("the writes were given away by %s, and the primary is %q", old, primaries)
	}
}
