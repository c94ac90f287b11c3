package audit

import (
	"context"
	"errors"

	"replab.dev/internal/ledger"
	"replab.dev/internal/wire"
)

// withEachOther compares nodes that take writes without asking each other. The rows of any node are present.
func withEachOther(ctx context.Context, nodes []*node) (result wire.AuditResult, present *ids, err error) {
	var read []*node
	var errs []error
	for _, n := range nodes {
		if n.read(ctx); n.err != nil {
			errs = append(errs, n.err)
			continue
		}
		read = append(read, n)
	}
	if present = anyOf(read); len(read) == 0 {
		err = errors.Join(errs...)
	}
	var ghosts ledger.Bitmap
	for _, n := range nodes {
		result.Nodes = append(result.Nodes, n.side(read, present))
		ghosts, n.ghosts = ledger.Or(ghosts, n.ghosts), ledger.Bitmap{}
	}
	if len(read) == 2 {
		result.GhostWrites, result.Divergence = size(ghosts), diverged(ctx, read[0], read[1])
	}
	return result, present, err
}

// anyOf is what any of some nodes holds. Rows without a write id are those of a node that has another number of them, if there is one.
func anyOf(nodes []*node) *ids {
	all := &ids{}
	for _, n := range nodes {
		u := &n.content.users
		all.set, all.rows, all.duplicates = ledger.Or(all.set, u.set), max(all.rows, u.rows), max(all.duplicates, u.duplicates)
		if all.nulls == 0 || u.nulls != n.audit.cfg.SeededUsers {
			all.nulls = u.nulls
		}
	}
	return all
}

// side is what one node lacks, and what it alone has. That is unknown where no other node was read.
func (n *node) side(read []*node, present *ids) wire.AuditedNode {
	result := wire.AuditedNode{Name: n.Name, Role: n.Role}
	if n.err != nil {
		result.Failed = n.err.Error()
		return result
	}
	result.Rows, result.Checksum = &n.content.users.rows, n.content.checksum
	if n.content.unsummed != nil {
		result.Failed = n.content.unsummed.Error()
	}
	if len(read) < 2 {
		return result
	}
	var others, probes ledger.Bitmap
	for _, o := range read {
		if o != n {
			others, probes = ledger.Or(others, o.content.users.set), ledger.Or(probes, o.content.probes.set)
		}
	}
	n.ghosts = ledger.AndNot(n.content.users.set, others)
	result.Missing, result.Extra = size(ledger.AndNot(present.set, n.content.users.set)), size(n.ghosts)
	result.ExtraProbeWrites = size(ledger.AndNot(n.content.probes.set, probes))
	return result
}

// lostOf counts the acknowledged writes that each of some independent nodes lacks.
func lostOf(result *wire.AuditResult, nodes []*node, sets ledger.Sets) {
	for i, n := range nodes {
		if n.audit.cfg.Independent && n.err == nil {
			result.Nodes[i].Lost = size(ledger.AndNot(sets.Acknowledged, n.content.users.set))
		}
	}
}
