package writes

import (
	"slices"

	"k8s.io/utils/ptr"

	"replab.dev/internal/topology"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/finding"
	"replab.dev/internal/wire"
)

// logsDisagree compares, of nodes that were read before they gave up what only they had, the rows with the log: each write is a commit of
// its own. Where the proxy may have sent a write to a second server, the others may have its row by another commit.
func logsDisagree(e evidence.Run) []finding.Finding {
	var found []finding.Finding
	for _, a := range loggedNodes(e) {
		rows, commits := *a.Inspected.LoggedGhosts, *a.Inspected.GhostCommits
		if !overtaken(e, a) && (rows > commits || rows < commits && !e.SendsTwice) {
			found = append(found, finding.Of(finding.LogDisagrees, a.Name, rows, commits))
		}
	}
	return found
}

// loggedNodes are those of whose logs something is known.
func loggedNodes(e evidence.Run) []wire.AuditedNode {
	if e.Audit == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(e.Audit.Nodes), func(a wire.AuditedNode) bool {
		return a.Inspected == nil || a.Inspected.LoggedGhosts == nil || a.Inspected.GhostCommits == nil
	})
}

// overtaken tells whether a failover came, or may have come, after a node's log was read. What the node and the others had in common then
// may be gone with it: of that the log says nothing.
func overtaken(e evidence.Run, a wire.AuditedNode) bool {
	if !e.State.Known || len(e.State.Silent) > 0 || e.Recorder == nil || a.Inspected.LoggedAt == nil {
		return true
	}
	clock := evidence.ClockOf(e.Recorder, a.Name)
	return slices.ContainsFunc(e.State.Failovers, func(f topology.Failover) bool {
		by := evidence.ClockOf(e.Recorder, f.Clock)
		if clock == nil || by == nil || f.PromotedAt == nil {
			return true
		}
		return !evidence.Told(f.PromotedAt.Time, *by).Latest.Before(evidence.Told(a.Inspected.LoggedAt.Time, *clock).Earliest)
	})
}

// transactionsInLog are those that only this node had, nil where its log does not tell them all.
func transactionsInLog(e evidence.Run, a wire.AuditedNode) *int64 {
	i := a.Inspected
	switch {
	case i == nil || i.GhostCommits == nil || i.ProbeGhostCommits == nil || a.Failed != "" || overtaken(e, a):
		return nil
	case a.Role != wire.RoleWriter && (a.Extra == nil || a.ExtraProbeWrites == nil):
		return nil
	case ptr.Deref(a.Extra, 0)+ptr.Deref(a.ExtraProbeWrites, 0) > 0: // it holds some now, which are in no log that was read
		return nil
	}
	return ptr.To(*i.GhostCommits + *i.ProbeGhostCommits)
}

// logsUnknown says of which nodes the rows alone tell what only they had.
func logsUnknown(e evidence.Run) []finding.Finding {
	if e.Audit == nil {
		return nil
	}
	var found []finding.Finding
	for _, a := range e.Audit.Nodes {
		why := ""
		switch {
		case a.Inspected != nil:
			why = a.Inspected.LogUnknown
		case a.Role == wire.RoleIsolated && a.Extra != nil && a.GhostTransactions == nil:
			why = a.Failed
		}
		if why != "" {
			found = append(found, finding.Of(finding.LogUnread, a.Name, why))
		}
	}
	for _, a := range loggedNodes(e) {
		if rows, commits := *a.Inspected.LoggedGhosts, *a.Inspected.GhostCommits; rows+commits > 0 && overtaken(e, a) {
			found = append(found, finding.Of(finding.LogOvertaken, a.Name, rows, commits))
		}
	}
	return found
}
