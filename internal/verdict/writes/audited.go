package writes

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
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
// are compared with, which have nothing that it lacks either. With durability Volatile a killed server may have lost rows whose transactions
// it still names.
func replicasDisagree(e evidence.Run) []finding.Finding {
	if e.Audit == nil || e.Rest == nil || e.Rest.AtRest != metav1.ConditionTrue || e.Spec.Topology.Durability == v1alpha1.DurabilityVolatile {
		return nil
	}
	found := rowsDiffer(e)
	for _, n := range e.Audit.Nodes {
		if !serves(n) || heldThroughout(e, n.Name) {
			continue
		}
		if n.Missing != nil && *n.Missing > 0 {
			found = append(found, finding.Of(finding.ReplicaLacksWrites, n.Name, *n.Missing))
		}
		if n.Role == wire.RoleWriter && n.Missing != nil && n.Extra != nil && *n.Extra > 0 {
			found = append(found, finding.Of(finding.WriterHasMore, n.Name, *n.Extra))
		}
	}
	return found
}

// rowsDiffer compares the checksums of nodes that hold the same writes as the one that all are compared with.
func rowsDiffer(e evidence.Run) []finding.Finding {
	var found []finding.Finding
	sum := ""
	for _, n := range e.Audit.Nodes {
		if sum == "" && n.Role == wire.RoleWriter {
			sum = n.Checksum
		}
	}
	for _, n := range e.Audit.Nodes {
		same := n.Missing != nil && *n.Missing == 0 && n.Extra != nil && *n.Extra == 0
		if serves(n) && same && sum != "" && n.Checksum != "" && n.Checksum != sum && !heldThroughout(e, n.Name) {
			found = append(found, finding.Of(finding.ChecksumsDiffer, n.Name, n.Checksum, sum))
		}
	}
	return found
}

// nodesUnaudited finds serving nodes that the audit could not read to the end, or found corrupt. Without a primary it says so itself.
func nodesUnaudited(e evidence.Run) []finding.Finding {
	if e.Audit == nil || e.Audit.Failed != "" {
		return nil
	}
	var found []finding.Finding
	for _, n := range e.Audit.Nodes {
		if serves(n) && n.Failed != "" && !keptDown(e, n.Name) {
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

// rebuiltDiffer compares nodes that came back after the audit, and say that they have all.
func rebuiltDiffer(e evidence.Run) []finding.Finding {
	if e.Recount == nil || e.Spec.Topology.Durability == v1alpha1.DurabilityVolatile {
		return nil
	}
	sum, _ := recounted(e, "")
	var found []finding.Finding
	for _, n := range e.Recount.Nodes {
		switch {
		case n.Role != wire.RoleReader || n.Missing == nil || n.Extra == nil:
		case *n.Missing != 0 || *n.Extra != 0:
			found = append(found, finding.Of(finding.RebuiltLacksWrites, n.Name, *n.Missing, *n.Extra))
		case sum != "" && n.Checksum != "" && n.Checksum != sum:
			found = append(found, finding.Of(finding.RebuiltChecksumsDiffer, n.Name, n.Checksum, sum))
		}
	}
	return found
}

// recounted returns the checksum of the node that others were compared with, and the rows of a node that came back, nil where they were not
// compared.
func recounted(e evidence.Run, node string) (sum string, rows *int64) {
	if e.Recount == nil {
		return "", nil
	}
	for _, n := range e.Recount.Nodes {
		if n.Role == wire.RoleWriter && sum == "" {
			sum = n.Checksum
		}
		if n.Name == node && n.Role == wire.RoleReader && n.Failed == "" {
			rows = n.Rows
		}
	}
	return sum, rows
}

// notRecounted finds nodes that serve again, and that the audit of those could not read to the end, or found corrupt.
func notRecounted(e evidence.Run) []finding.Finding {
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
	return slices.ContainsFunc(e.Faults, func(f v1alpha1.FaultStatus) bool {
		return f.Pod == node && slices.ContainsFunc(e.Spec.Faults, func(asked v1alpha1.Fault) bool { return asked.Name == f.Fault && asked.HoldSeconds < 0 })
	})
}

// writerMoved finds that another node took over while the tables were compared: what is lost and what is a ghost is by a node that the
// surviving cluster does not follow. Who takes the writes once what was held is released does not matter. Where nobody knows who takes them
// it may have been so.
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
	first := slices.IndexFunc(e.Audit.Nodes, func(n wire.AuditedNode) bool { return n.Role == wire.RoleWriter })
	if first < 0 || slices.Contains(writers, e.Audit.Nodes[first].Name) {
		return nil
	}
	if len(writers) == 0 {
		return []finding.Finding{finding.Of(finding.WriterUnknown, e.Audit.Nodes[first].Name)}
	}
	return []finding.Finding{finding.Of(finding.WriterMoved, e.Audit.Nodes[first].Name)}
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
