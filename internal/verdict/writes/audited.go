package writes

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/topology"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/finding"
	"replab.dev/internal/wire"
)

// ledgersDisagree finds an audit that did not read the whole ledger: what it did not read it cannot have missed in the tables.
func ledgersDisagree(e evidence.Run) []finding.Finding {
	if e.Recorder == nil || e.Recorder.Failed != "" || e.Audit == nil || e.Audit.Writes == nil {
		return nil
	}
	kept, read := e.Recorder.Writes, e.Audit.Writes.LedgerCounts
	if kept == read {
		return nil
	}
	return []finding.Finding{finding.Of(finding.LedgersDiffer, read.Sent, read.Acknowledged, kept.Sent, kept.Acknowledged)}
}

// replicasDisagree compares what nodes say they have applied with the rows that they hold: replicas, and writers beside the one that all
// are compared with, which have nothing that it lacks either.
func replicasDisagree(e evidence.Run) []finding.Finding {
	if e.Audit == nil || e.Rest == nil || e.Rest.AtRest != metav1.ConditionTrue {
		return nil
	}
	if e.Independent && anyHeldThroughout(e) { // none has what the others took meanwhile
		return nil
	}
	found := rowsDiffer(e)
	for _, n := range e.Audit.Nodes {
		if !serves(n) || e.State.Node(n.Name).Stopped || heldThroughout(e, n.Name) || mayForget(e, n.Name, referenceOf(e.Audit).Name) {
			continue
		}
		if some(n.Missing) {
			found = append(found, finding.Of(finding.ReplicaLacksWrites, n.Name, *n.Missing))
		}
		found = append(found, writerHasMore(e, n)...)
	}
	return found
}

// writerHasMore of a writer that has writes of its own, although the others must have them too.
func writerHasMore(e evidence.Run, n wire.AuditedNode) []finding.Finding {
	if n.Role != wire.RoleWriter || e.Independent || n.Missing == nil || !some(n.Extra) {
		return nil
	}
	return []finding.Finding{finding.Of(finding.WriterHasMore, n.Name, *n.Extra)}
}

// some is true of a count that is known and above 0.
func some(n *int64) bool { return n != nil && *n > 0 }

// rowsDiffer compares the checksums of nodes that hold the same writes as the one that all are compared with.
func rowsDiffer(e evidence.Run) []finding.Finding {
	if differing(e.Audit) {
		return nil
	}
	var found []finding.Finding
	reference := referenceOf(e.Audit)
	for _, n := range e.Audit.Nodes {
		same := n.Missing != nil && *n.Missing == 0 && n.Extra != nil && *n.Extra == 0
		if serves(n) && same && reference.Checksum != "" && n.Checksum != "" && n.Checksum != reference.Checksum && !heldThroughout(e, n.Name) && !mayForget(e, n.Name, reference.Name) {
			found = append(found, finding.Of(finding.ChecksumsDiffer, n.Name, n.Checksum, reference.Checksum))
		}
	}
	return found
}

// nodesUnaudited finds nodes that the audit could not read to the end, or found corrupt. Without a primary it says so itself, and of an isolated
// node only the ghosts are unknown.
func nodesUnaudited(e evidence.Run) []finding.Finding {
	if e.Audit == nil || e.Audit.Failed != "" {
		return nil
	}
	var found []finding.Finding
	for _, n := range e.Audit.Nodes {
		if n.Role != wire.RoleIsolated && n.Failed != "" && !keptDown(e, n.Name) {
			found = append(found, finding.Of(finding.NodeNotAudited, n.Name, n.Failed))
		}
	}
	return found
}

// keptDown tells that a fault kept a node's server from answering until the audit was done. The audit is never cut off from a node.
func keptDown(e evidence.Run, node string) bool {
	return slices.ContainsFunc(e.Faults, func(f v1alpha1.FaultStatus) bool {
		asked := evidence.PlannedOf(e.Spec, f)
		return f.Pod == node && asked.HoldSeconds < 0 && asked.Action != v1alpha1.ActionPartition
	})
}

// serves tells whether a node was in its place when its tables were compared.
func serves(n wire.AuditedNode) bool { return n.Role == wire.RoleReader || n.Role == wire.RoleWriter }

// stoppedApart tells that one of two independent nodes stopped replicating, as it says itself.
func stoppedApart(e evidence.Run, a, b string) bool {
	return e.Independent && (e.State.Node(a).Stopped || e.State.Node(b).Stopped)
}

// rebuiltDiffer compares nodes that came back after the audit, and say that they have all.
func rebuiltDiffer(e evidence.Run) []finding.Finding {
	if e.Recount == nil {
		return nil
	}
	reference := referenceOf(e.Recount)
	var found []finding.Finding
	for _, n := range e.Recount.Nodes {
		switch {
		case n.Role != wire.RoleReader || n.Missing == nil || n.Extra == nil || mayForget(e, n.Name, reference.Name) || stoppedApart(e, n.Name, reference.Name):
		case *n.Missing != 0 || *n.Extra != 0:
			found = append(found, finding.Of(finding.RebuiltLacksWrites, n.Name, *n.Missing, *n.Extra))
		case !differing(e.Recount) && reference.Checksum != "" && n.Checksum != "" && n.Checksum != reference.Checksum:
			found = append(found, finding.Of(finding.RebuiltChecksumsDiffer, n.Name, n.Checksum, reference.Checksum))
		}
	}
	return found
}

// rejoinedRows of a node that came back after the audit, nil where it was not compared.
func rejoinedRows(e evidence.Run, node string) *int64 {
	if e.Recount == nil {
		return nil
	}
	for _, n := range e.Recount.Nodes {
		if n.Name == node && n.Role == wire.RoleReader && n.Failed == "" {
			return n.Rows
		}
	}
	return nil
}

// referenceOf an audit is the node that all others are compared with, the zero node without one.
func referenceOf(a *wire.AuditResult) wire.AuditedNode {
	if i := slices.IndexFunc(a.Nodes, func(n wire.AuditedNode) bool { return n.Role == wire.RoleWriter }); i >= 0 {
		return a.Nodes[i]
	}
	return wire.AuditedNode{}
}

// mayForget tells that the server of one of some nodes ended, or may have, and was not to keep rows whose transactions it still names.
func mayForget(e evidence.Run, nodes ...string) bool {
	if e.Spec.Topology.Durability != v1alpha1.DurabilityVolatile {
		return false
	}
	return slices.ContainsFunc(e.Faults, func(f v1alpha1.FaultStatus) bool {
		return slices.Contains(nodes, f.Pod) && evidence.ActionOf(e.Spec, f).EndsServer()
	}) || slices.ContainsFunc(e.State.Absences, func(a topology.Absence) bool { return slices.Contains(nodes, a.Node) }) ||
		slices.ContainsFunc(e.State.RestartsInPlace, func(r topology.RestartInPlace) bool { return slices.Contains(nodes, r.Node) })
}

// notRecounted finds nodes that serve again, and that the audit of those could not read to the end, or found corrupt.
func notRecounted(e evidence.Run) []finding.Finding {
	if e.Rest != nil && e.Rest.RecountFailed != "" {
		return []finding.Finding{finding.Of(finding.RecountFailed, e.Rest.RecountFailed)}
	}
	if e.Recount == nil {
		return nil
	}
	if e.Recount.Failed != "" {
		return []finding.Finding{finding.Of(finding.RecountFailed, e.Recount.Failed)}
	}
	var found []finding.Finding
	for _, n := range e.Recount.Nodes {
		switch {
		case n.Failed == "":
		case n.Role == wire.RoleReader:
			found = append(found, finding.Of(finding.NodeNotRecounted, n.Name, n.Failed))
		default:
			found = append(found, finding.Of(finding.RecountFailed, n.Failed))
		}
	}
	return found
}

// heldThroughout tells that a fault on a node was to last until the audit was done, so that the node need not have come to rest.
func heldThroughout(e evidence.Run, node string) bool {
	return heldUntilAudit(e, func(n string) bool { return n == node })
}

func anyHeldThroughout(e evidence.Run) bool {
	return heldUntilAudit(e, func(string) bool { return true })
}

func heldUntilAudit(e evidence.Run, of func(node string) bool) bool {
	return slices.ContainsFunc(e.Faults, func(f v1alpha1.FaultStatus) bool {
		return of(f.Pod) && slices.ContainsFunc(e.Spec.Faults, func(asked v1alpha1.Fault) bool { return asked.Name == f.Fault && asked.HoldSeconds < 0 })
	})
}

// writerMoved finds that another node took over, or may have, while the tables were compared: the losses and ghosts are then by a node that the
// surviving cluster does not follow. A change after the holds were released does not matter.
func writerMoved(e evidence.Run) []finding.Finding {
	if e.Audit == nil {
		return nil
	}
	var writers []string
	switch {
	case e.Rest != nil && len(e.Rest.Writers) > 0:
		writers = e.Rest.Writers
	case e.State.Known:
		writers = e.State.Writers
	default:
		return nil
	}
	reference := referenceOf(e.Audit).Name
	if reference == "" || slices.Contains(writers, reference) {
		return nil
	}
	if len(writers) == 0 {
		return []finding.Finding{finding.Of(finding.WriterUnknown, reference)}
	}
	return []finding.Finding{finding.Of(finding.WriterMoved, reference)}
}

func identityOpen(e evidence.Run) []finding.Finding {
	if e.Audit == nil || e.Audit.Writes == nil {
		return nil
	}
	w := e.Audit.Writes
	var found []finding.Finding
	if w.Duplicates > 0 {
		found = append(found, finding.Of(finding.DuplicateWrites, w.Duplicates))
	}
	if w.Unexpected > 0 {
		found = append(found, finding.Of(finding.UnexpectedWrites, w.Unexpected))
	}
	if !w.Balanced {
		found = append(found, finding.Of(finding.SetsDoNotAddUp, w.Sent, w.Acknowledged, w.Rejected, w.Indeterminate, w.Present, w.Lost, w.Recovered))
		if w.Why != "" {
			found = append(found, finding.Of(finding.RowsDoNotAddUp, w.Why))
		}
	}
	return found
}

// restless tells of tables that may still have been changing when they were compared.
func restless(e evidence.Run) []finding.Finding {
	if e.Rest == nil || e.Rest.AtRest == metav1.ConditionTrue {
		return nil
	}
	return []finding.Finding{finding.Of(finding.NotAtRest, e.Rest.Note)}
}
