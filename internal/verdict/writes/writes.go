// Package writes judges the writes: lost and ghost writes, and whether the tables agree with the ledger. It is pure.
package writes

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/figure"
	"replab.dev/internal/topology"
	"replab.dev/internal/verdict/degraded"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/finding"
	"replab.dev/internal/verdict/group"
	"replab.dev/internal/wire"
)

// Fill states the sets of writes, what each node holds of them, and the loss window of each fault.
func Fill(e evidence.Run, s *evidence.Status) {
	s.Writes = sets(e)
	s.Nodes, s.GhostWrites = nodes(e)
	stateLossWindows(e, s)
}

func sets(e evidence.Run) *v1alpha1.WritesStatus {
	if e.Audit == nil || e.Audit.Writes == nil {
		if e.Recorder == nil || e.Recorder.Failed != "" {
			return nil
		}
		w := e.Recorder.Writes
		return &v1alpha1.WritesStatus{Sent: w.Sent, Acknowledged: w.Acknowledged, Rejected: w.Rejected, Conflicting: group.Conflicting(e.Recorder), Indeterminate: w.Indeterminate}
	}
	w := e.Audit.Writes
	s := &v1alpha1.WritesStatus{
		Sent: w.Sent, Acknowledged: w.Acknowledged, Rejected: w.Rejected, Conflicting: group.Conflicting(e.Recorder), Indeterminate: w.Indeterminate,
		Present: &w.Present, Lost: statedLosses(e, &w.Lost), Recovered: &w.Recovered, Vanished: &w.Vanished, Duplicates: &w.Duplicates, Unexpected: &w.Unexpected,
		Balanced: metav1.ConditionFalse,
	}
	s.LostWhileDegraded, _, _ = degraded.Losses(e)
	s.DivergentRows, _ = divergentRows(e)
	if w.Balanced {
		s.Balanced = metav1.ConditionTrue
	}
	return s
}

// Bound says which counts are not exact.
func Bound(b *figure.Bounds, e evidence.Run, s *evidence.Status) {
	boundLossWindows(b, e)
	if s.Writes == nil || s.Writes.Present == nil {
		return
	}
	if why := riskless(e); !why.None() && s.Writes.Lost != nil {
		b.AtLeast("writes.lost", *s.Writes.Lost, why.String())
	} else if !why.None() {
		b.Unknown("writes.lost", why.String())
	}
	if least, most, why := degraded.Losses(e); least != nil && most != nil {
		b.Between("writes.lostWhileDegraded", *least, *most, why.String())
	}
	if _, why := divergentRows(e); !why.None() {
		b.Unknown("writes.divergentRows", why.String())
	}
	if e.Audit == nil {
		return
	}
	boundByRows(b, e, s)
	for _, a := range e.Audit.Nodes {
		if why := dataGone(e, a); !why.None() {
			b.Unknown("nodes["+a.Name+"].ghostWrites", why.String())
			b.Unknown("ghostWrites", finding.Of(finding.GhostsUnknownOf, a.Name, why).String())
		}
	}
}

// Findings of the writes.
func Findings(e evidence.Run, s *evidence.Status) []finding.Finding {
	return slices.Concat(
		identityOpen(e), ledgersDisagree(e), ghostsDisagree(e), logsDisagree(e), replicasDisagree(e), rebuiltDiffer(e),
		restless(e), nodesUnaudited(e), notRecounted(e), writerMoved(e),
		divergence(e), lossUnclear(e), ghostsUnknown(e, s), logsUnknown(e), lossRemarks(e, s), lossUnlimited(e, s), sentTwice(e),
	)
}

// nodes joins what the audit and the topology know of each node, and counts the ghosts of all.
func nodes(e evidence.Run) ([]v1alpha1.NodeStatus, *int64) {
	if e.Audit == nil {
		return uncounted(e), nil
	}
	var out []v1alpha1.NodeStatus
	for _, a := range e.Audit.Nodes {
		n := e.State.Node(a.Name)
		s := v1alpha1.NodeStatus{
			Name: a.Name, Role: topology.StatusRole(a.Role), Rows: a.Rows, Missing: a.Missing, Lost: a.Lost, GhostTransactions: a.GhostTransactions,
			Rejoined: rejoined(e.State.Known, a.Role, n),
			Note:     strings.Join(slices.DeleteFunc([]string{n.Why, a.Failed}, func(why string) bool { return why == "" }), "; "),
		}
		s.RejoinedRows = rejoinedRows(e, a.Name)
		if s.GhostTransactions == nil {
			s.GhostTransactions = transactionsInLog(e, a)
		}
		gone := dataGone(e, a)
		if !gone.None() {
			s.GhostTransactions = nil
			s.Note = strings.TrimPrefix(s.Note+"; its ghost writes are unknown: "+gone.String(), "; ")
		}
		switch {
		case !gone.None():
		case a.Inspected != nil && a.Inspected.Ghosts != nil:
			s.GhostWrites = a.Inspected.Ghosts
		default:
			s.GhostWrites = a.Extra
		}
		out = append(out, s)
	}
	return out, ghostWrites(e, out)
}

// uncounted are the nodes as the topology tells them, when no audit looked at them.
func uncounted(e evidence.Run) []v1alpha1.NodeStatus {
	var out []v1alpha1.NodeStatus
	for _, n := range e.State.Nodes {
		out = append(out, v1alpha1.NodeStatus{Name: n.Name, Role: topology.StatusRole(n.Role), Note: n.Why})
	}
	return out
}

func rejoined(known bool, audited wire.Role, n topology.NodeState) metav1.ConditionStatus {
	switch {
	case audited != wire.RoleIsolated:
		return ""
	case !known:
		return metav1.ConditionUnknown
	case n.Rejoin == wire.RejoinDone:
		return metav1.ConditionTrue
	default:
		return metav1.ConditionFalse
	}
}
