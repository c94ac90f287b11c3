package writes

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/topology"
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
	stopped := slices.IndexFunc(e.State.Nodes, func(n topology.NodeState) bool { return n.Stopped })
	switch a := exchanged(e); {
	case stopped >= 0:
		return nil, finding.Of(finding.ExchangeStopped, e.State.Nodes[stopped].Name)
	case a == e.Audit && e.Rest != nil && e.Rest.AtRest != metav1.ConditionTrue:
		return nil, finding.Of(finding.ExchangeUnfinished)
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

// moves of the writes from a node to another one, as far as seconds of the load show them. A fault explains two: away, and back.
func moves(e evidence.Run) (n int) {
	if e.Recorder == nil {
		return 0
	}
	last := ""
	for _, second := range e.Recorder.Timeline {
		if last != "" && second.Writer != "" && second.Writer != last {
			n++
		}
		last = cmp.Or(second.Writer, last)
	}
	return n
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
	if moves := moves(e); e.Independent && e.Spec.Routing.Writes != v1alpha1.WritesAll && moves > 2*len(e.Faults) {
		found = append(found, finding.Of(finding.WritesMoved, moves, len(e.Faults)))
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
