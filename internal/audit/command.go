package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/spf13/cobra"

	"replab.dev/internal/engine"
	"replab.dev/internal/metrics"
	"replab.dev/internal/process"
	"replab.dev/internal/wire"
)

// Command returns `replab audit`. It succeeds when a result was written, whatever the result says. engines open the
// sessions with the nodes.
func Command(engines engine.Lookup[Open]) *cobra.Command {
	return process.Command("audit", "Compare the ledger of writes with the tables of every node", func(ctx context.Context, cfg wire.AuditConfig) error {
		return run(ctx, cfg, engines)
	})
}

func run(ctx context.Context, cfg wire.AuditConfig, engines engine.Lookup[Open]) error {
	stateMap, err := process.InClusterConfigMap(cfg.Namespace, cfg.StateMap)
	if err != nil {
		return err
	}
	shown, hide := context.WithCancel(ctx)
	defer hide()
	go metrics.Serve(shown, metrics.New())
	return perform(ctx, cfg, engines, func(ctx context.Context, document string) error {
		return stateMap.Publish(ctx, map[string]string{wire.AuditResultKey: document}, nil)
	})
}

// perform audits and publishes the document. An audit that was told to stop publishes nothing: it has not failed, and
// the next one begins anew.
func perform(ctx context.Context, cfg wire.AuditConfig, engines engine.Lookup[Open], publish func(context.Context, string) error) error {
	result := examine(ctx, cfg, engines)
	if ctx.Err() != nil {
		return fmt.Errorf("the audit was stopped before it ended: %w", context.Cause(ctx))
	}
	document, err := json.Marshal(result)
	if err != nil {
		return fmt.Errorf("write the audit's result: %w", err)
	}
	return publish(ctx, string(document))
}

func examine(ctx context.Context, cfg wire.AuditConfig, engines engine.Lookup[Open]) wire.AuditResult {
	a := &auditor{cfg: cfg}
	var err error
	if a.open, err = engines.For(cfg.Engine); err == nil {
		a.password, err = process.Secret(cfg.SecretDir, wire.AccountProbe)
	}
	if err != nil {
		return wire.AuditResult{FinishedAt: metav1.NowMicro(), Failed: err.Error(), Nodes: []wire.AuditedNode{}}
	}
	a.ledger = newLedgerSource(cfg.Ledger, time.Duration(cfg.ConnectTimeoutMilliseconds)*time.Millisecond)
	return a.audit(ctx)
}
