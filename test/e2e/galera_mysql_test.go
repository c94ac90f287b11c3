//go:build e2e

package e2e

import (
	"os"
	"testing"

	"replab.dev/api/v1alpha1"
	"replab.dev/test/experiment"
)

// TestGaleraOnMySQL is run where REPLAB_XTRADB_IMAGE names an image of Percona XtraDB Cluster that the cluster has, or can pull.
func TestGaleraOnMySQL(t *testing.T) {
	image := os.Getenv("REPLAB_XTRADB_IMAGE")
	if image == "" {
		t.Skip("REPLAB_XTRADB_IMAGE names no image of Percona XtraDB Cluster")
	}
	x := experiment.Load(t, "galera-mysql")
	x.Spec.Keep, x.Spec.Topology.Image = v1alpha1.KeepAlways, v1alpha1.ImageName(image)
	carryOutVariant(t, x, func(t *testing.T, s v1alpha1.ReplicationExperimentStatus) {
		lostNothing(t, s)
		backByTransfer(t, s)
	})
}
