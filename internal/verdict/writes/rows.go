package writes

import (
	"slices"

	"replab.dev/internal/figure"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/finding"
)

// boundByRows bounds the figures that rest on the rows of the surviving cluster, where the audit may not have found all of these. It comes after
// the figures' own bounds, which it widens.
func boundByRows(b *figure.Bounds, e evidence.Run, s *evidence.Status) {
	other, more := otherWriter(e), rowsElsewhere(e)
	for _, f := range restingOnRows(e) {
		v := figure.At(s, f.path)
		switch {
		case v == nil:
		case !other.None():
			b.Unknown(f.path, other.String())
		case !more.None() && (f.withMore == figure.Higher || *v > 0):
			b.Worsened(s, f.path, f.withMore, more.String())
		}
	}
}

// rested is a figure, and which way more rows would change it.
type rested struct {
	path     string
	withMore figure.Direction
}

func restingOnRows(e evidence.Run) []rested {
	all := []rested{
		{"writes.present", figure.Higher},
		{"writes.recovered", figure.Higher},
		{"writes.vanished", figure.Lower},
		{"writes.lost", figure.Lower},
		{"writes.lostWhileDegraded", figure.Lower},
		{"ghostWrites", figure.Lower},
		{"writes.unexpected", figure.Higher},
		{"writes.duplicates", figure.Higher},
	}
	for _, n := range e.Audit.Nodes {
		node := "nodes[" + n.Name + "]."
		all = append(all, rested{node + "missing", figure.Higher}, rested{node + "ghostWrites", figure.Lower}, rested{node + "ghostTransactions", figure.Lower})
	}
	for _, f := range e.Faults {
		all = append(all, rested{"faults[" + f.Name + "].lossWindowMilliseconds", figure.Lower})
	}
	return all
}

// otherWriter says why the surviving cluster may have other rows than the node that the ledger was compared with, nothing when it has those. Of
// independent nodes all rows count.
func otherWriter(e evidence.Run) finding.Finding {
	reference := referenceOf(e.Audit).Name
	unsettled := len(restless(e)) > 0 && (e.State.FailingOver() || !slices.Contains(e.State.Writers, reference))
	if !e.Independent && (unsettled || len(writerMoved(e)) > 0) {
		return finding.Of(finding.OtherWriter, reference)
	}
	return finding.Finding{}
}

// rowsElsewhere says why there may be more rows than the audit found, nothing when it found all: a node with rows of its own was not read, or the
// member of a group that was read may not have applied what the others had. Any other single writer has all rows, whatever its replicas lack.
func rowsElsewhere(e evidence.Run) finding.Finding {
	for _, n := range e.Audit.Nodes {
		if e.Independent && n.Rows == nil {
			return finding.Of(finding.RowsUnread, n.Name)
		}
	}
	if e.Grouped && len(restless(e)) > 0 {
		return finding.Of(finding.RowsToCome, referenceOf(e.Audit).Name)
	}
	return finding.Finding{}
}
