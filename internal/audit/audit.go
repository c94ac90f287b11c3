// Package audit is `replab audit`: it compares the recorder's ledger of writes with the tables of every node, as exact sets of ids.
// Each node is read in one snapshot: an index scan brings the ids, and COUNT(*) must agree with it. A lost connection means a new snapshot.
package audit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/internal/engine"
	"replab.dev/internal/ledger"
	"replab.dev/internal/metrics"
	"replab.dev/internal/process"
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

// audit compares the ledger and all nodes. Failures are in the result; when ctx ends the result means nothing.
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
	var result wire.AuditResult
	var present *ids
	var err error
	if a.cfg.Independent {
		result, present, err = withEachOther(ctx, nodes)
	} else {
		result, present, err = withPrimary(ctx, nodes, func(users *ids) []uint64 {
			<-loaded
			return ledger.Compare(sets, users.set, users.duplicates).LostIDs.First(wire.MaxLostWrites)
		})
	}
	<-loaded
	if err := errors.Join(ledgerErr, err); err != nil {
		result.Failed = strings.ReplaceAll(err.Error(), "\n", "; ")
	} else if a.cfg.Ledger != "" {
		result.Writes = a.writes(ctx, sets, present, nodes)
		lostOf(&result, nodes, sets)
	}
	result.FinishedAt = metav1.NowMicro()
	return result
}

// withPrimary compares all nodes with the first that takes writes, whose rows are what is present. lost are ids that nodes are searched for.
func withPrimary(ctx context.Context, nodes []*node, lost func(present *ids) []uint64) (result wire.AuditResult, present *ids, err error) {
	primary := primaryOf(nodes)
	primary.read(ctx)
	var sought []uint64
	if primary.err == nil {
		sought = lost(&primary.content.users)
	}
	var ghosts ledger.Bitmap
	for _, n := range nodes {
		result.Nodes = append(result.Nodes, n.examine(ctx, primary, sought))
		ghosts, n.ghosts = ledger.Or(ghosts, n.ghosts), ledger.Bitmap{}
	}
	if primary.err != nil {
		return result, nil, primary.err
	}
	result.GhostWrites = size(ghosts)
	return result, &primary.content.users, nil
}

// primaryOf returns the node that all are compared with: the first that takes writes, or one whose error says why there is no primary.
func primaryOf(nodes []*node) *node {
	for _, n := range nodes {
		if n.Role == wire.RoleWriter {
			return n
		}
	}
	return &node{err: errors.New("no node is the primary: there is no surviving cluster to compare with the ledger")}
}

// writes compares the ledger with what is present.
func (a *auditor) writes(ctx context.Context, sets ledger.Sets, users *ids, nodes []*node) *wire.WriteSets {
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
		w.LostWrites = lostWrites(c.LostIDs.First(wire.MaxLostWrites), nodes)
		a.window(ctx, c.LostIDs, w)
	}
	slog.Info("writes compared", "sent", w.Sent, "acknowledged", w.Acknowledged, "present", w.Present, "lost", w.Lost,
		"unexpected", w.Unexpected, "duplicates", w.Duplicates, "balanced", w.Balanced)
	return w
}

// lostWrites are some lost writes, with the nodes that were found to have them.
func lostWrites(lost []uint64, nodes []*node) (all []wire.LostWrite) {
	for _, id := range lost {
		w := wire.LostWrite{ID: id}
		for _, n := range nodes {
			if slices.Contains(n.has, id) {
				w.On = append(w.On, n.Name)
			}
			if slices.Contains(n.had, id) {
				w.Was = append(w.Was, n.Name)
			}
		}
		all = append(all, w)
	}
	return all
}

// window notes when the lost writes were acknowledged.
func (a *auditor) window(ctx context.Context, lost ledger.Bitmap, w *wire.WriteSets) {
	var times lossTimes
	note := func(id uint64, at time.Time) {
		if i := slices.IndexFunc(w.LostWrites, func(l wire.LostWrite) bool { return l.ID == id }); i >= 0 {
			w.LostWrites[i].AcknowledgedAt = ptr.To(metav1.NewMicroTime(at))
		}
	}
	if err := a.ledger.acknowledgements(ctx, lost, &times, note); err != nil {
		w.Why = strings.TrimPrefix(w.Why+"; the times of the lost writes are not known: "+err.Error(), "; ")
		return
	}
	spans, within := times.spans(wire.MaxLostSpans)
	w.LostSpans, w.LostSpanMicroseconds = spans, within.Microseconds()
}

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

// perform audits and publishes the document. An audit that is stopped publishes nothing: it has not failed, and
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
