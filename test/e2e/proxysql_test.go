//go:build e2e

package e2e

import (
	"context"
	"os"
	"testing"

	"sigs.k8s.io/e2e-framework/pkg/envconf"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/wire"
	"replab.dev/test/experiment"
)

// behindProxySQL is what runs where REPLAB_PROXYSQL_IMAGE names an image that the cluster has, or can pull.
func behindProxySQL(t *testing.T, s *v1alpha1.ReplicationExperimentSpec) {
	t.Helper()
	image := os.Getenv("REPLAB_PROXYSQL_IMAGE")
	if image == "" {
		t.Skip("REPLAB_PROXYSQL_IMAGE names no image of ProxySQL")
	}
	s.Keep, s.Routing.Image = v1alpha1.KeepAlways, v1alpha1.ImageName(image)
}

func TestSemiSyncBehindProxySQL(t *testing.T) {
	x := experiment.Load(t, "semisync-proxysql")
	behindProxySQL(t, &x.Spec)
	if !full {
		halve(&x.Spec)
	}
	carryOutVariant(t, x, func(t *testing.T, s v1alpha1.ReplicationExperimentStatus) {
		failedOver(t, s)
		lostNothing(t, s)
	})
}

// TestProxySQLSendsReadsToTheReplicas, and nothing else: the nodes themselves tell what they were asked.
func TestProxySQLSendsReadsToTheReplicas(t *testing.T) {
	x := variant(t, "semisync-proxysql", "proxysql-split", 10, func(s *v1alpha1.ReplicationExperimentSpec) { s.Faults = nil })
	behindProxySQL(t, &x.Spec)
	asked := map[v1alpha1.NodeRole]map[string]int64{}
	run(t, x, v1alpha1.VerdictPassed, func(ctx context.Context, t *testing.T, cfg *envconf.Config) *v1alpha1.ReplicationExperiment {
		x = create(ctx, t, cfg, x)
		await(ctx, t, cfg, x, completeTimeout, "complete", complete(x))
		for _, n := range x.Status.Nodes {
			db := open(ctx, t, cfg, x, n.Name)
			if asked[n.Role] == nil {
				asked[n.Role] = map[string]int64{}
			}
			for kind, digest := range map[string]string{"reads": "SELECT %first_name% FROM %users%WHERE%", "writes": "INSERT INTO %users%(%write_id%"} {
				asked[n.Role][kind] += number(ctx, t, db, `SELECT COALESCE(SUM(COUNT_STAR), 0) FROM performance_schema.events_statements_summary_by_digest
WHERE SCHEMA_NAME = '`+wire.Database+`' AND DIGEST_TEXT LIKE '`+digest+`'`)
			}
		}
		return x
	}, func(t *testing.T, s v1alpha1.ReplicationExperimentStatus) {
		primary, replicas := asked[v1alpha1.NodePrimary], asked[v1alpha1.NodeReplica]
		if primary["reads"] != 0 || replicas["reads"] == 0 || primary["writes"] != s.Writes.Acknowledged || replicas["writes"] != 0 {
			t.Errorf("the primary was asked %v, the replicas %v; %d writes were acknowledged", primary, replicas, s.Writes.Acknowledged)
		}
	})
}
