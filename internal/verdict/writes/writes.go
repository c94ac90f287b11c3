// Package writes judges the writes: lost and ghost writes, and whether the tables agree with the ledger. It is pure.
package writes

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/figure"
	"replab.dev/internal/verdict/degraded"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/finding"
	"replab.dev/internal/verdict/group"
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
	if e.Audit == nil {
		return
	}
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
		lossUnclear(e), ghostsUnknown(e, s), logsUnknown(e), lossRemarks(e, s), sentTwice(e),
	)
}
