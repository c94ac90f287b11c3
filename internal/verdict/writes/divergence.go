package writes

import (
	"k8s.io/utils/ptr"

	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/finding"
	"replab.dev/internal/wire"
)

// exchanged is the comparison of independent nodes after each had applied what the others sent, nil where there is none.
func exchanged(e evidence.Run) *wire.AuditResult {
	if anyHeldThroughout(e) {
		return e.Recount
	}
	return e.Audit
}

// divergentRows are the rows that differ between independent nodes. why says why that is unknown; of other nodes it is no question.
func divergentRows(e evidence.Run) (rows *int64, why finding.Finding) {
	if !e.Independent || e.Audit == nil {
		return nil, why
	}
	switch a := exchanged(e); {
	case a == nil:
		return nil, finding.Of(finding.NotExchanged)
	case a.Divergence == nil:
		return nil, finding.Of(finding.NotBothRead)
	case a.Divergence.Failed != "":
		return nil, finding.Of(finding.Because, a.Divergence.Failed)
	default:
		return ptr.To(a.Divergence.Rows), why
	}
}

// differing tells that an audit found rows that differ: then the nodes' checksums differ too.
func differing(a *wire.AuditResult) bool { return a.Divergence != nil && a.Divergence.Rows > 0 }

// divergence tells how independent nodes differ, and why.
func divergence(e evidence.Run) []finding.Finding {
	rows, why := divergentRows(e)
	var found []finding.Finding
	switch {
	case !why.None():
		found = append(found, finding.Of(finding.DivergenceUnknown, why))
	case rows != nil && *rows > 0:
		found = append(found, finding.Of(finding.RowsDiverge, *rows))
	}
	if !e.Independent || e.Audit == nil {
		return found
	}
	for _, n := range e.Audit.Nodes {
		if s := e.State.Node(n.Name); s.Stopped {
			found = append(found, finding.Of(finding.ReplicationStopped, n.Name, ptr.Deref(n.Missing, 0), s.Why))
		}
		if n.Rows == nil && e.Audit.Writes != nil {
			found = append(found, finding.Of(finding.OneSideOnly, n.Name))
		}
	}
	return found
}
