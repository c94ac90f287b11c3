//go:build e2e

package e2e

import (
	"context"
	"database/sql"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/e2e-framework/pkg/envconf"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/kube"
	"replab.dev/internal/wire"
	toPod "replab.dev/test/forward"
)

// open connects to the server in a pod of the experiment, through the API server: the pod itself is asked, not a proxy.
func open(ctx context.Context, t *testing.T, cfg *envconf.Config, x *v1alpha1.ReplicationExperiment, pod string) *sql.DB {
	t.Helper()
	return openAs(ctx, t, cfg, x, pod, wire.AccountProbe)
}

// openAs is open with another account.
func openAs(ctx context.Context, t *testing.T, cfg *envconf.Config, x *v1alpha1.ReplicationExperiment, pod, account string) *sql.DB {
	t.Helper()
	var secret corev1.Secret
	check(t, cfg.Client().Resources().Get(ctx, kube.SecretName(x.Name), x.Namespace, &secret))
	of := sqlOf(x.Spec.Topology)
	db, err := of.open(forward(t, cfg, x.Namespace, pod, of.port), account, string(secret.Data[account]))
	check(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func localhost(port uint16) string { return fmt.Sprintf("127.0.0.1:%d", port) }

func forward(t *testing.T, cfg *envconf.Config, namespace, pod string, port int) uint16 {
	t.Helper()
	return toPod.Port(t, cfg.Client().RESTConfig(), namespace, pod, port)
}

// number is the single number that a query answers.
func number(ctx context.Context, t *testing.T, db *sql.DB, query string) int64 {
	t.Helper()
	var n int64
	if err := db.QueryRowContext(ctx, query).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}
