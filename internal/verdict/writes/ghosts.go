package writes

import (
	"fmt"
	"slices"

	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/topology"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/wire"
)

// GhostsDisagree compares rows with transactions: each write is a transaction of its own. With durability Volatile a killed
// server may have lost rows whose transactions it still names, so fewer rows are no contradiction there. Nor are they where the
// proxy may have sent a write to a second server: see sentTwice.
func GhostsDisagree(e evidence.Run, _ *v1alpha1.ReplicationExperimentStatus) []string {
	if e.Audit == nil {
		return nil
	}
	var found []string
	for _, n := range e.Audit.Nodes {
		if n.Extra == nil || n.ExtraProbeWrites == nil || n.GhostTransactions == nil {
			continue
		}
		rows := *n.Extra + *n.ExtraProbeWrites
		mayLack := e.SendsTwice || e.Spec.Topology.Durability == v1alpha1.DurabilityVolatile
		if rows > *n.GhostTransactions || (rows < *n.GhostTransactions && !mayLack) {
			found = append(found, fmt.Sprintf("Node %s has %d rows of its own (%d writes, %d of probes) but %d transactions of its own.",
				n.Name, rows, *n.Extra, *n.ExtraProbeWrites, *n.GhostTransactions))
		}
	}
	return found
}

// SentTwice tells of writes that were committed on two servers: the row is on both, and the old one has a transaction more.
func SentTwice(e evidence.Run, _ *v1alpha1.ReplicationExperimentStatus) []string {
	if e.Audit == nil || !e.SendsTwice || e.Spec.Topology.Durability == v1alpha1.DurabilityVolatile {
		return nil
	}
	var found []string
	for _, n := range e.Audit.Nodes {
		if n.Extra == nil || n.ExtraProbeWrites == nil || n.GhostTransactions == nil {
			continue
		}
		if twice := *n.GhostTransactions - *n.Extra - *n.ExtraProbeWrites; twice > 0 {
			found = append(found, fmt.Sprintf("Node %s has %d transactions of its own whose rows the others hold by other transactions: writes that the proxy sent twice.", n.Name, twice))
		}
	}
	return found
}

// DataGone says why a node's tables cannot show the ghosts that it may have had, "" when they can. Only a node that took writes
// may have had some; of one that is inspected when it is started again, whatever it held is known.
func DataGone(e evidence.Run, a wire.AuditedNode) string {
	if by := deletedBy(e, a); by != "" {
		return "its data were deleted with its pod by fault " + by
	}
	switch {
	case a.Inspected != nil && a.Inspected.Unknown != "" && !evidence.BeforeTheLoad(e, a.Name, a.Inspected.UnknownAt):
		return a.Inspected.Unknown
	case a.Inspected != nil:
		return madeInTheLoad(e, a)
	case a.Extra == nil || a.Role == wire.RoleWriter || ptr.Deref(a.HoldsOwn, false):
		return ""
	}
	took, unknown := tookWrites(e, a)
	switch {
	case a.HoldsOwn == nil && unknown != "":
		return unknown
	case !took:
		return ""
	case a.HoldsOwn == nil:
		return "which transactions are its own is not known"
	}
	return fmt.Sprintf("node %s acknowledged writes and holds none of its own, so its data are not those that it had", a.Name)
}

// deletedBy names the fault that deleted a node's pod together with its data, "" for none.
func deletedBy(e evidence.Run, a wire.AuditedNode) string {
	if e.Spec.Topology.Storage.Medium == v1alpha1.MediumVolumeClaim {
		return ""
	}
	for _, f := range e.Faults {
		mayHaveHad := a.Inspected != nil || f.Role == v1alpha1.NodePrimary && f.InjectedTime != nil
		if f.Pod == a.Name && mayHaveHad && evidence.ActionOf(e.Spec, f) == v1alpha1.ActionDeletePod {
			return f.Name
		}
	}
	return ""
}

// madeInTheLoad says that a node's data were made when the load had begun, "" when they were not: somebody has deleted those that it had,
// and with them every note of what it held. Where clocks do not tell which came first, they may have been.
func madeInTheLoad(e evidence.Run, a wire.AuditedNode) string {
	made := a.Inspected.FreshAt
	if made == nil || e.Recorder == nil || e.Recorder.LoadStartedAt == nil || evidence.BeforeTheLoad(e, a.Name, made) {
		return ""
	}
	if evidence.ClockOf(e.Recorder, a.Name) == nil {
		return fmt.Sprintf("its data were made at %s by its own clock, which was not measured: perhaps when the load had begun, and those that it had before are gone then",
			made.UTC().Format("15:04:05"))
	}
	return fmt.Sprintf("its data were made at %s, when the load had begun, and those that it had before are gone", made.UTC().Format("15:04:05"))
}

// tookWrites tells whether a node that is no writer any more took writes of the load. unknown says why it may have.
func tookWrites(e evidence.Run, a wire.AuditedNode) (took bool, unknown string) {
	followed := slices.ContainsFunc(e.State.Failovers, func(f topology.Failover) bool {
		return f.OldWriter == a.Name && evidence.InLoad(e, f)
	})
	switch w := e.Recorder; {
	case followed || a.Role == wire.RoleIsolated || w != nil && slices.Contains(w.Writers, a.Name):
		return true, ""
	case w == nil:
		return false, "the recorder left no results"
	case w.Incomplete != "":
		return false, w.Incomplete
	case evidence.UnnamedWrites(w) > 0:
		return false, fmt.Sprintf("%d acknowledged writes named no node, and it may have taken some", evidence.UnnamedWrites(w))
	}
	return false, ""
}

// GhostWrites counts the distinct writes that nodes have and the primary has not, nil where those of one node are unknown.
func GhostWrites(e evidence.Run, nodes []v1alpha1.NodeStatus) *int64 {
	if e.Audit.Failed != "" || len(nodes) == 0 {
		return nil
	}
	var sum, having int64
	for i, a := range e.Audit.Nodes {
		ghosts := nodes[i].GhostWrites
		switch {
		case ghosts != nil && *ghosts > 0:
			sum, having = sum+*ghosts, having+1
		case ghosts == nil && !comparedWithItself(e, a):
			return nil
		}
	}
	if having > 1 { // a write may be on several of them
		return e.Audit.GhostWrites
	}
	return &sum
}

// comparedWithItself tells of the primary, which has no ghosts where nobody read what it held before.
func comparedWithItself(e evidence.Run, a wire.AuditedNode) bool {
	return a.Role == wire.RoleWriter && a.Extra == nil && (a.Failed == "" || a.Rows != nil) && DataGone(e, a) == ""
}

// GhostsUnknown says among the reasons too why there is no sum.
func GhostsUnknown(e evidence.Run, s *v1alpha1.ReplicationExperimentStatus) []string {
	if e.Audit == nil {
		return nil
	}
	var found []string
	for _, a := range e.Audit.Nodes {
		why := DataGone(e, a)
		if why == "" && a.Rows == nil && e.Audit.Failed == "" {
			why = a.Failed
		}
		if why != "" {
			found = append(found, fmt.Sprintf("Ghosts of node %s are unknown: %s.", a.Name, why))
		}
	}
	if len(found) == 0 && s.GhostWrites == nil && e.Audit.Failed == "" && len(s.Nodes) > 0 {
		found = append(found, "ghostWrites is unknown: several nodes have ghost writes, and the audit did not tell how many are the same.")
	}
	return found
}
