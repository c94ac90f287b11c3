package audit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/ledger"
	"replab.dev/internal/wire"
)

// auditor performs one audit.
type auditor struct {
	cfg      wire.AuditConfig
	open     Open
	password string // of AccountProbe
	ledger   ledgerSource
}

func (a *auditor) connectTimeout() time.Duration {
	return time.Duration(a.cfg.ConnectTimeoutMilliseconds) * time.Millisecond
}

// audit compares the ledger and all nodes. Whatever fails is told in the result; when ctx ends the result means nothing.
func (a *auditor) audit(ctx context.Context) wire.AuditResult {
	var sets ledger.Sets
	var ledgerErr error
	loaded := make(chan struct{})
	go func() {
		defer close(loaded)
		if a.cfg.Ledger != "" {
			sets, ledgerErr = a.ledger.load(ctx)
		}
	}()
	nodes := a.connect(ctx)
	defer func() {
		for _, n := range nodes {
			n.close()
		}
	}()
	primary := primaryOf(nodes)
	primary.read(ctx)
	var result wire.AuditResult
	var ghosts ledger.Bitmap
	for _, n := range nodes {
		result.Nodes = append(result.Nodes, n.examine(ctx, primary))
		ghosts, n.ghosts = ledger.Or(ghosts, n.ghosts), ledger.Bitmap{}
	}
	if primary.err == nil {
		result.GhostWrites = size(ghosts)
	}
	<-loaded
	if err := errors.Join(ledgerErr, primary.err); err != nil {
		result.Failed = strings.ReplaceAll(err.Error(), "\n", "; ")
	} else if a.cfg.Ledger != "" {
		result.Writes = a.writes(ctx, sets, &primary.content.users)
	}
	result.FinishedAt = metav1.NowMicro()
	return result
}

// primaryOf returns the node that all are compared with: the first that takes writes, or one that says why there is none.
func primaryOf(nodes []*node) *node {
	for _, n := range nodes {
		if n.Role == wire.RoleWriter {
			return n
		}
	}
	return &node{err: errors.New("no node is the primary: there is no surviving cluster to compare with the ledger")}
}

// writes compares the ledger with the primary's table.
func (a *auditor) writes(ctx context.Context, sets ledger.Sets, users *ids) *wire.WriteSets {
	c := ledger.Compare(sets, users.set, users.duplicates)
	w := &wire.WriteSets{
		LedgerCounts: wire.LedgerCounts{
			Sent: c.Sent, Acknowledged: c.Acknowledged, Rejected: c.Rejected, Indeterminate: c.Indeterminate,
		},
		Present: c.Present, Lost: c.Lost, Recovered: c.Recovered, Vanished: c.Vanished,
		Duplicates: c.Duplicates, Unexpected: c.Unexpected, Balanced: c.Balanced,
		LostIDs: c.LostIDs.First(wire.MaxLostIDs),
	}
	if users.nulls != a.cfg.SeededUsers {
		w.Balanced = false
		w.Why = fmt.Sprintf("%d rows of table %s have no write id, and %d were seeded", users.nulls, wire.UsersTable, a.cfg.SeededUsers)
	}
	if c.Lost > 0 {
		a.window(ctx, c.LostIDs, w)
	}
	slog.Info("writes compared", "sent", w.Sent, "acknowledged", w.Acknowledged, "present", w.Present, "lost", w.Lost,
		"unexpected", w.Unexpected, "duplicates", w.Duplicates, "balanced", w.Balanced)
	return w
}

// window notes when the lost writes were acknowledged.
func (a *auditor) window(ctx context.Context, lost ledger.Bitmap, w *wire.WriteSets) {
	var times lossTimes
	if err := a.ledger.acknowledgements(ctx, lost, &times); err != nil {
		w.Why = strings.TrimPrefix(w.Why+"; the times of the lost writes are not known: "+err.Error(), "; ")
		return
	}
	spans, within := times.spans(wire.MaxLostSpans)
	w.LostSpans, w.LostSpanMicroseconds = spans, within.Microseconds()
}
