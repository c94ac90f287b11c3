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
	audit   *auditor
	session Session // nil once it is lost for good
	content *content
	ghosts  ledger.Bitmap
	err     error
}

// connect reaches all nodes at once, so that those which are down cost the timeout once.
func (a *auditor) connect(ctx context.Context) []*node {
	nodes := make([]*node, len(a.cfg.Nodes))
	var group sync.WaitGroup
	for i, n := range a.cfg.Nodes {
		nodes[i] = &node{AuditNode: n, audit: a}
		group.Go(func() {
			if err := nodes[i].connect(ctx); err != nil {
				nodes[i].err = fmt.Errorf("node %s (%s) %w", n.Name, n.Host, err)
			}
		})
	}
	group.Wait()
	return nodes
}

// read takes the node's content. Of a connection that is lost nothing is kept: each attempt has a snapshot of its own.
func (n *node) read(ctx context.Context) {
	if n.err != nil {
		return
	}
	begin := time.Now()
	err := n.ask(ctx, func() (err error) {
		n.content = nil
		if n.content, err = read(ctx, n.session); err != nil || !n.Checksum {
			return err
		}
		if n.content.checksum, err = n.session.Checksum(ctx, wire.UsersTable); err != nil {
			return fmt.Errorf("sum up the rows: %w", err)
		}
		return nil
	})
	if n.content == nil {
		n.err = err
		return
	}
	n.content.unsummed = err
	slog.Info("node read", "node", n.Name, "role", n.Role, "rows", n.content.users.rows,
		"writeIDs", n.content.users.set.Count(), "duplicates", n.content.users.duplicates, "took", time.Since(begin).Round(time.Millisecond))
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
	if n.content.unsummed != nil { // the comparison goes on without the checksum
		result.Failed = n.content.unsummed.Error()
	}
	result.Checksum = n.content.checksum
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

// history asks a node of its transactions. It is false where the engine's servers keep no set of them.
func (n *node) history(ctx context.Context, questions func(History) error) (bool, error) {
	if _, keeps := n.session.(History); !keeps && n.session != nil {
		return false, nil
	}
	return true, n.ask(ctx, func() error { return questions(n.session.(History)) })
}

// holdsOwn is nil where nobody knows: then its ghosts are not known either, if it ever wrote.
func (n *node) holdsOwn(ctx context.Context) *bool {
	var own bool
	keeps, err := n.history(ctx, func(h History) (err error) {
		own, err = h.Own(ctx)
		return err
	})
	if err != nil {
		slog.Warn("count the transactions of its own", "node", n.Name, "error", err)
	}
	if err != nil || !keeps {
		return nil
	}
	return &own
}

// ghostTransactions is nil where the servers keep no set of their transactions.
func ghostTransactions(ctx context.Context, n, primary *node) (*int64, error) {
	var executed string
	if keeps, err := n.history(ctx, func(h History) (err error) {
		executed, err = h.Executed(ctx)
		return err
	}); err != nil || !keeps {
		return nil, err
	}
	var ghosts int64
	if keeps, err := primary.history(ctx, func(h History) (err error) {
		ghosts, err = h.Unexecuted(ctx, executed)
		return err
	}); err != nil || !keeps {
		return nil, err
	}
	return &ghosts, nil
}

func size(set ledger.Bitmap) *int64 {
	n := set.Count()
	return &n
}
