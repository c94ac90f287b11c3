package audit

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"replab.dev/internal/ledger"
	"replab.dev/internal/wire"
)

// node is a node under audit: connected, then read. err says why it went no further. ghosts are the write ids that it has, or had at an
// inspection, and the primary has not.
type node struct {
	wire.AuditNode
	session Session
	content *content
	ghosts  ledger.Bitmap
	err     error
}

// connect reaches all nodes at once, so that those which are down cost the timeout once.
func (a *auditor) connect(ctx context.Context) []*node {
	nodes := make([]*node, len(a.cfg.Nodes))
	var group sync.WaitGroup
	for i, n := range a.cfg.Nodes {
		nodes[i] = &node{AuditNode: n}
		group.Go(func() { nodes[i].connect(ctx, a) })
	}
	group.Wait()
	return nodes
}

func (n *node) connect(ctx context.Context, a *auditor) {
	ctx, cancel := context.WithTimeout(ctx, a.connectTimeout())
	defer cancel()
	err := retry(ctx, func() (err error) {
		attempt, stop := context.WithTimeout(ctx, attemptTimeout)
		defer stop()
		n.session, err = a.open(attempt, n.Host, a.password)
		return err
	})
	if err != nil {
		n.err = fmt.Errorf("node %s (%s) gave no answer within %s: %w", n.Name, n.Host, a.connectTimeout(), err)
	}
}

func (n *node) read(ctx context.Context) {
	if n.err != nil {
		return
	}
	begin := time.Now()
	if n.content, n.err = read(ctx, n.session); n.err != nil {
		n.err = fmt.Errorf("node %s: %w", n.Name, n.err)
		return
	}
	slog.Info("node read", "node", n.Name, "role", n.Role, "rows", n.content.users.rows,
		"writeIDs", n.content.users.set.Count(), "duplicates", n.content.users.duplicates, "took", time.Since(begin).Round(time.Millisecond))
}

func (n *node) close() {
	if n.session != nil {
		_ = n.session.Close() // it was only read from
	}
}

// examine reads a node, compares it with the primary, which was read before, and forgets its content.
func (n *node) examine(ctx context.Context, primary *node) wire.AuditedNode {
	result := wire.AuditedNode{Name: n.Name, Role: n.Role}
	if n != primary {
		n.read(ctx)
		defer func() { n.content = nil }()
	}
	if n.err != nil {
		result.Failed = n.err.Error()
		return result
	}
	result.Rows = &n.content.users.rows
	if n.Checksum {
		sum, err := n.session.Checksum(ctx, wire.UsersTable)
		if err != nil {
			result.Failed = fmt.Sprintf("sum up the rows of node %s: %v", n.Name, err)
		}
		result.Checksum = sum
	}
	if n.Agent != "" {
		result.Inspected = n.inspected(ctx, primary)
	}
	if n == primary {
		return result
	}
	if primary.err != nil {
		result.Failed = "not compared, since the primary was not read: " + primary.err.Error()
		return result
	}
	result.HoldsOwn = n.holdsOwn(ctx)
	extra := ledger.AndNot(n.content.users.set, primary.content.users.set)
	n.ghosts = ledger.Or(n.ghosts, extra)
	result.Missing, result.Extra = size(ledger.AndNot(primary.content.users.set, n.content.users.set)), size(extra)
	result.ExtraProbeWrites = size(ledger.AndNot(n.content.probes.set, primary.content.probes.set))
	if n.Role == wire.RoleIsolated {
		ghosts, err := ghostTransactions(ctx, n, primary)
		if err != nil {
			result.Failed = strings.TrimPrefix(result.Failed+fmt.Sprintf("; count the transactions that only node %s has: %v", n.Name, err), "; ")
		}
		result.GhostTransactions = ghosts
	}
	return result
}

// history is nil where the engine's servers keep no set of their transactions.
func (n *node) history() History {
	h, _ := n.session.(History)
	return h
}

// holdsOwn is nil where nobody knows: then its ghosts are not known either, if it ever wrote.
func (n *node) holdsOwn(ctx context.Context) *bool {
	h := n.history()
	if h == nil {
		return nil
	}
	own, err := h.Own(ctx)
	if err != nil {
		slog.Warn("count the transactions of its own", "node", n.Name, "error", err)
		return nil
	}
	return &own
}

// ghostTransactions is nil where the servers keep no set of their transactions.
func ghostTransactions(ctx context.Context, n, primary *node) (*int64, error) {
	from, to := n.history(), primary.history()
	if from == nil || to == nil {
		return nil, nil
	}
	executed, err := from.Executed(ctx)
	if err != nil {
		return nil, err
	}
	ghosts, err := to.Unexecuted(ctx, executed)
	if err != nil {
		return nil, err
	}
	return &ghosts, nil
}

func size(set ledger.Bitmap) *int64 {
	n := set.Count()
	return &n
}
