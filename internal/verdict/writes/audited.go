// Package writes judges the writes: lost and ghost writes, and whether the tables agree with the ledger. It is pure.
package writes

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/wire"
)

// LedgersDisagree finds an audit that did not read the whole ledger: what it did not read it cannot have missed in the tables.
func LedgersDisagree(e evidence.Run, _ *v1alpha1.ReplicationExperimentStatus) []string {
	if e.Recorder == nil || e.Recorder.Failed != "" || e.Audit == nil || e.Audit.Writes == nil {
		return nil
	}
	kept, read := e.Recorder.Writes, e.Audit.Writes.LedgerCounts
	if kept == read {
		return nil
	}
	return []string{fmt.Sprintf("The audit read a ledger of %d writes, %d of them acknowledged; the recorder kept one of %d, %d of them acknowledged.",
		read.Sent, read.Acknowledged, kept.Sent, kept.Acknowledged)}
}

// ReplicasDisagree compares what nodes say they have applied with the rows that they hold: replicas, and writers beside the one that all
// are compared with, which have nothing that it lacks either. With durability Volatile a killed server may have lost rows whose transactions
// it still names.
func ReplicasDisagree(e evidence.Run, _ *v1alpha1.ReplicationExperimentStatus) []string {
	if e.Audit == nil || e.Rest == nil || e.Rest.AtRest != metav1.ConditionTrue || e.Spec.Topology.Durability == v1alpha1.DurabilityVolatile {
		return nil
	}
	found := rowsDiffer(e)
	for _, n := range e.Audit.Nodes {
		if !serves(n) || heldThroughout(e, n.Name) {
			continue
		}
		if n.Missing != nil && *n.Missing > 0 {
			found = append(found, fmt.Sprintf("Node %s had applied all writes by its own account, and %d of them are not in its table.", n.Name, *n.Missing))
		}
		if n.Role == wire.RoleWriter && n.Missing != nil && n.Extra != nil && *n.Extra > 0 {
			found = append(found, fmt.Sprintf("Node %s takes writes too, and has %d that the node that it was compared with has not.", n.Name, *n.Extra))
		}
	}
	return found
}

// rowsDiffer compares the checksums of nodes that hold the same writes as the one that all are compared with.
func rowsDiffer(e evidence.Run) []string {
	var found []string
	sum := ""
	for _, n := range e.Audit.Nodes {
		if sum == "" && n.Role == wire.RoleWriter {
			sum = n.Checksum
		}
	}
	for _, n := range e.Audit.Nodes {
		same := n.Missing != nil && *n.Missing == 0 && n.Extra != nil && *n.Extra == 0
		if serves(n) && same && sum != "" && n.Checksum != "" && n.Checksum != sum && !heldThroughout(e, n.Name) {
			found = append(found, fmt.Sprintf("Node %s holds the same writes as the node that it was compared with, and other rows: their checksums are %s and %s.", n.Name, n.Checksum, sum))
		}
	}
	return found
}

// NodesUnaudited finds serving nodes that the audit could not read to the end, or found corrupt. Without a primary it says so itself.
func NodesUnaudited(e evidence.Run, _ *v1alpha1.ReplicationExperimentStatus) []string {
	if e.Audit == nil || e.Audit.Failed != "" {
		return nil
	}
	var found []string
	for _, n := range e.Audit.Nodes {
		if serves(n) && n.Failed != "" && !keptDown(e, n.Name) {
			found = append(found, fmt.Sprintf("The audit could not check node %s: %s.", n.Name, n.Failed))
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

// RebuiltDiffer compares nodes that came back after the audit, and say that they have all.
func RebuiltDiffer(e evidence.Run, _ *v1alpha1.ReplicationExperimentStatus) []string {
	if e.Recount == nil || e.Spec.Topology.Durability == v1alpha1.DurabilityVolatile {
		return nil
	}
	sum, _ := Recounted(e, "")
	var found []string
	for _, n := range e.Recount.Nodes {
		switch {
		case n.Role != wire.RoleReader || n.Missing == nil || n.Extra == nil:
		case *n.Missing != 0 || *n.Extra != 0:
			found = append(found, fmt.Sprintf("Node %s was brought back and had all by its own account, and lacks %d writes and has %d of its own.", n.Name, *n.Missing, *n.Extra))
		case sum != "" && n.Checksum != "" && n.Checksum != sum:
			found = append(found, fmt.Sprintf("Node %s was brought back and had all by its own account, and holds other rows: their checksums are %s and %s.", n.Name, n.Checksum, sum))
		}
	}
	return found
}

// Recounted returns the checksum of the node that others were compared with, and the rows of a node that came back, nil where they were not
// compared.
func Recounted(e evidence.Run, node string) (sum string, rows *int64) {
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

// NotRecounted finds nodes that serve again, and that the audit of those could not read to the end, or found corrupt.
func NotRecounted(e evidence.Run, _ *v1alpha1.ReplicationExperimentStatus) []string {
	if e.Recount == nil {
		return nil
	}
	if e.Recount.Failed != "" {
		return []string{"The nodes that came back after the audit were not compared: " + e.Recount.Failed + "."}
	}
	var found []string
	for _, n := range e.Recount.Nodes {
		switch {
		case n.Failed == "":
		case n.Role == wire.RoleReader:
			found = append(found, fmt.Sprintf("Node %s was not compared once it was back: %s.", n.Name, n.Failed))
		default:
			found = append(found, "The rows of nodes that came back after the audit were not compared: "+n.Failed+".")
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

// WriterMoved finds that another node took over while the tables were compared: what is lost and what is a ghost is by a node that the
// surviving cluster does not follow. Who takes the writes once what was held is released does not matter. Where nobody knows who takes them
// it may have been so.
func WriterMoved(e evidence.Run, _ *v1alpha1.ReplicationExperimentStatus) []string {
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
		return []string{fmt.Sprintf("Whether node %s, with whose tables the ledger was compared, still took the writes when they had been read is not known.", e.Audit.Nodes[first].Name)}
	}
	return []string{fmt.Sprintf("The ledger was compared with the tables of node %s, which did not take the writes any more when they had been read: another failover came.",
		e.Audit.Nodes[first].Name)}
}

func IdentityOpen(e evidence.Run, _ *v1alpha1.ReplicationExperimentStatus) []string {
	if e.Audit == nil || e.Audit.Writes == nil {
		return nil
	}
	w := e.Audit.Writes
	var found []string
	if w.Duplicates > 0 {
		found = append(found, fmt.Sprintf("%d writes are present more than once: something behind the app repeats writes.", w.Duplicates))
	}
	if w.Unexpected > 0 {
		found = append(found, fmt.Sprintf("%d writes are present that were rejected or never sent.", w.Unexpected))
	}
	if !w.Balanced {
		why := w.Why
		if why != "" {
			why = ". " + why
		}
		found = append(found, fmt.Sprintf("The sets of writes do not add up: sent %d, acknowledged %d, rejected %d, indeterminate %d, present %d, lost %d, recovered %d%s.",
			w.Sent, w.Acknowledged, w.Rejected, w.Indeterminate, w.Present, w.Lost, w.Recovered, why))
	}
	return found
}

// Restless tells of tables that may still have been changing when they were compared.
func Restless(e evidence.Run, _ *v1alpha1.ReplicationExperimentStatus) []string {
	if e.Rest == nil || e.Rest.AtRest == metav1.ConditionTrue {
		return nil
	}
	return []string{fmt.Sprintf("The nodes had not come to rest when they were audited: %s.", e.Rest.Note)}
}
