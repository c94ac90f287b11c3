//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/e2e-framework/klient/k8s/resources"
	"sigs.k8s.io/e2e-framework/pkg/envconf"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/kube"
	"replab.dev/internal/ledger"
	"replab.dev/internal/wire"
)

// lossesByLedger counts anew what was acknowledged, by the recorder's ledger, and is not in the primary's table.
func lossesByLedger(ctx context.Context, t *testing.T, cfg *envconf.Config, x *v1alpha1.ReplicationExperiment) {
	t.Helper()
	if x.Status.Writes == nil || x.Status.Writes.Present == nil {
		t.Fatalf("the writes were not counted: %+v", x.Status.Writes)
	}
	lost := ptr.Deref(x.Status.Writes.Lost, 0) // absent where none was found, and perhaps there was nothing to lose
	var pods corev1.PodList
	of := resources.WithLabelSelector(fmt.Sprintf("%s=%s,%s=%s", kube.LabelExperiment, x.Name, kube.LabelComponent, kube.ComponentRecorder))
	check(t, cfg.Client().Resources(x.Namespace).List(ctx, &pods, of))
	if len(pods.Items) != 1 {
		t.Fatalf("%d pods of the recorder", len(pods.Items))
	}
	response := get(t, fmt.Sprintf("http://%s%s", localhost(forward(t, cfg, x.Namespace, pods.Items[0].Name, wire.PortRecorderControl)), wire.RecorderPathLedger))
	defer response.Body.Close()
	sets, err := ledger.Load(response.Body)
	check(t, err)
	for _, n := range x.Status.Nodes {
		if n.Role != v1alpha1.NodePrimary {
			continue
		}
		rows, err := open(ctx, t, cfg, x, n.Name).QueryContext(ctx, "SELECT write_id FROM users WHERE write_id IS NOT NULL")
		check(t, err)
		defer rows.Close()
		var present ledger.Bitmap
		for rows.Next() {
			var id int64
			check(t, rows.Scan(&id))
			present.Add(uint64(id))
		}
		check(t, rows.Err())
		if gone := ledger.AndNot(sets.Acknowledged, present).Count(); gone != lost {
			t.Errorf("%d acknowledged writes are not in the table of %s, the status says %d", gone, n.Name, lost)
		}
	}
}

// ghostsByLog holds what nodes' agents kept of their logs against the ghosts that the status counts in rows.
func ghostsByLog(ctx context.Context, t *testing.T, cfg *envconf.Config, x *v1alpha1.ReplicationExperiment) {
	t.Helper()
	for _, n := range x.Status.Nodes {
		response := get(t, fmt.Sprintf("http://%s%s", localhost(forward(t, cfg, x.Namespace, n.Name, wire.PortAgent)), wire.AgentPathInspections))
		defer response.Body.Close()
		var list wire.Inspections
		check(t, json.NewDecoder(response.Body).Decode(&list))
		// A log that was read again behind the same point has the same commits, and perhaps more.
		last := map[string]wire.WALInspection{}
		for _, i := range list.Inspections {
			if i.WAL == nil {
				continue
			}
			if i.WAL.Error != "" {
				t.Errorf("the log of %s could not be read: %s", n.Name, i.WAL.Error)
			}
			last[fmt.Sprint(i.WAL.Timeline, " ", i.WAL.Fork)] = *i.WAL
		}
		var users, probes int64
		for _, log := range last {
			users, probes = users+log.UserCommits, probes+log.ProbeCommits
		}
		switch {
		case len(last) == 0:
		case n.GhostWrites == nil || *n.GhostWrites != users:
			t.Errorf("%s has %d commits of writes in its log that nobody else has, the status says %v ghosts", n.Name, users, n.GhostWrites)
		case n.GhostTransactions == nil || *n.GhostTransactions != users+probes:
			t.Errorf("%s has %d commits in its log that nobody else has, the status says %v", n.Name, users+probes, n.GhostTransactions)
		}
	}
}

func get(t *testing.T, url string) *http.Response {
	t.Helper()
	response, err := http.Get(url)
	check(t, err)
	if response.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %s", url, response.Status)
	}
	return response
}
