package replication

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/engine"
	"replab.dev/internal/engine/mariadb"
	"replab.dev/internal/engine/mysql"
	"replab.dev/internal/topology"
	"replab.dev/internal/wire"
)

// TestTheSpecDecidesTimingAndSettings: what a person sets reaches the director and the servers, and nothing else does.
func TestTheSpecDecidesTimingAndSettings(t *testing.T) {
	p := topology.Params{Name: "x", Namespace: "ns", Engine: "MySQL", Server: mysql.Server{}, ClusterDomain: "cluster.local", Spec: v1alpha1.TopologySpec{
		Type: v1alpha1.TopologySemiSync, Nodes: 3, Durability: v1alpha1.DurabilityVolatile, Parameters: map[string]string{"max_connections": "77"},
		Director: v1alpha1.DirectorSpec{PeriodMilliseconds: 111, FailureThreshold: 4, LeaseMilliseconds: 2222},
		SemiSync: &v1alpha1.SemiSyncSpec{AckReplicas: 2, TimeoutMilliseconds: 3333, WaitPoint: v1alpha1.WaitAfterCommit},
	}}
	system, err := Driver{}.System(p)
	if err != nil {
		t.Fatal(err)
	}
	if system.CommitWaits != 2 {
		t.Errorf("a commit waits for %d nodes, want 2", system.CommitWaits)
	}
	var director wire.DirectorConfig
	if err := json.Unmarshal([]byte(system.Files[directorConfigFile]), &director); err != nil {
		t.Fatal(err)
	}
	if director.ProbeMilliseconds != 111 || director.FailureThreshold != 4 || director.LeaseMilliseconds != 2222 || director.Engine != "MySQL" {
		t.Errorf("the director is told %+v", director)
	}
	want := engine.Settings{
		Durability: engine.Volatile, SemiSync: &engine.SemiSync{AckReplicas: 2, TimeoutMilliseconds: 3333, AfterCommit: true},
		Parameters: map[string]string{"max_connections": "77"},
	}
	if d := cmp.Diff(want, system.Settings); d != "" {
		t.Error(d)
	}
	for _, line := range []string{
		"innodb-flush-log-at-trx-commit=0", "max_connections=77", "loose-rpl-semi-sync-source-timeout=3333",
		"loose-rpl-semi-sync-source-wait-for-replica-count=2", "loose-rpl-semi-sync-source-wait-point=AFTER_COMMIT",
	} {
		if config := system.Files["my.cnf"]; !strings.Contains(config, line+"\n") {
			t.Errorf("the server is not told %s:\n%s", line, config)
		}
	}
}

// TestTheDefaultTimeoutIsTheServersOwn where the spec says nothing of semi-sync.
func TestTheDefaultTimeoutIsTheServersOwn(t *testing.T) {
	s := settings(topology.Params{Spec: v1alpha1.TopologySpec{Type: v1alpha1.TopologySemiSync}})
	if d := cmp.Diff(&engine.SemiSync{AckReplicas: 1, TimeoutMilliseconds: 10_000}, s.SemiSync); d != "" {
		t.Error(d)
	}
	if s := settings(topology.Params{Spec: v1alpha1.TopologySpec{Type: v1alpha1.TopologyAsync}}); s.SemiSync != nil {
		t.Error("asynchronous replication waits for replicas")
	}
}

// TestCopiesAreGivenWhereAnotherNodeMayWantOne, and the port is closed elsewhere.
func TestCopiesAreGivenWhereAnotherNodeMayWantOne(t *testing.T) {
	for name, c := range map[string]struct {
		server engine.Server
		nodes  int32
		want   bool
	}{
		"MariaDB with a replica": {mariadb.Server{}, 2, true},
		"MariaDB alone":          {mariadb.Server{}, 1, false},
		"MySQL, which copies":    {mysql.Server{}, 2, false},
	} {
		p := topology.Params{Name: "x", Server: c.server, Spec: v1alpha1.TopologySpec{Type: v1alpha1.TopologyAsync, Nodes: c.nodes}}
		if port := nodes(p).Server.CopyPort; (port != 0) != c.want {
			t.Errorf("%s: copies at port %d", name, port)
		}
	}
}
