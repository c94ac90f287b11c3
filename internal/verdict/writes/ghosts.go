package writes

import (
	"slices"

	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/topology"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/finding"
	"replab.dev/internal/wire"
)

// ghostsDisagree compares rows with transactions: each write is a transaction of its own. Fewer rows are no contradiction where the server may
// have forgotten some, or the proxy may have sent a write to a second server: see sentTwice.
func ghostsDisagree(e evidence.Run) []finding.Finding {
	if e.Audit == nil {
		return nil
	}
	var found []finding.Finding
	for _, n := range e.Audit.Nodes {
		if n.Extra == nil || n.ExtraProbeWrites == nil || n.GhostTransactions == nil {
			continue
		}
		rows := *n.Extra + *n.ExtraProbeWrites
		mayLack := e.SendsTwice || mayForget(e, n.Name)
		if rows > *n.GhostTransactions || (rows < *n.GhostTransactions && !mayLack) {
			found = append(found, finding.Of(finding.GhostsDisagree, n.Name, rows, *n.Extra, *n.ExtraProbeWrites, *n.GhostTransactions))
		}
	}
	return found
}

// sentTwice tells of writes that were committed on two servers: the row is on both, and the old one has a transaction more.
func sentTwice(e evidence.Run) []finding.Finding {
	if e.Audit == nil || !e.SendsTwice {
		return nil
	}
	var found []finding.Finding
	for _, n := range e.Audit.Nodes {
		if n.Extra == nil || n.ExtraProbeWrites == nil || n.GhostTransactions == nil || mayForget(e, n.Name) {
			continue
		}
		if twice := *n.GhostTransactions - *n.Extra - *n.ExtraProbeWrites; twice > 0 {
			found = append(found, finding.Of(finding.SentTwice, n.Name, twice))
		}
	}
	return found
}

// dataGone says why a node's tables cannot show the ghosts that it may have had, nothing when they can. Only a node that took writes
// may have had some; of one that is inspected when it is started again, whatever it held is known.
func dataGone(e evidence.Run, a wire.AuditedNode) finding.Finding {
	if by := deletedBy(e, a); by != "" {
		return finding.Of(finding.DataDeleted, by)
	}
	switch {
	case a.Inspected != nil && a.Inspected.Unknown != "" && !evidence.BeforeTheLoad(e, a.Name, a.Inspected.UnknownAt):
		return finding.Of(finding.Because, a.Inspected.Unknown)
	case a.Inspected != nil:
		return madeInTheLoad(e, a)
	case a.Extra == nil || a.Role == wire.RoleWriter || ptr.Deref(a.HoldsOwn, false):
		return finding.Finding{}
	}
	took, unknown := tookWrites(e, a)
	switch {
	case a.HoldsOwn == nil && !unknown.None():
		return unknown
	case !took:
		return finding.Finding{}
	case a.HoldsOwn == nil:
		return finding.Of(finding.OwnTransactionsUnknown)
	}
	return finding.Of(finding.DataReplaced)
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

// madeInTheLoad says that a node's data were made when the load had begun, nothing when they were not: somebody has deleted those that it had,
// and with them every note of what it held. Where clocks do not tell which came first, they may have been.
func madeInTheLoad(e evidence.Run, a wire.AuditedNode) finding.Finding {
	made := a.Inspected.FreshAt
	if made == nil || e.Recorder == nil || e.Recorder.LoadStartedAt == nil || evidence.BeforeTheLoad(e, a.Name, made) {
		return finding.Finding{}
	}
	if evidence.ClockOf(e.Recorder, a.Name) == nil {
		return finding.Of(finding.DataMadeAtUnknownTime, made.UTC().Format("15:04:05"))
	}
	return finding.Of(finding.DataMadeInLoad, made.UTC().Format("15:04:05"))
}

// tookWrites tells whether a node that is no writer any more took writes of the load. unknown says why it may have.
func tookWrites(e evidence.Run, a wire.AuditedNode) (took bool, unknown finding.Finding) {
	followed := slices.ContainsFunc(e.State.Failovers, func(f topology.Failover) bool {
		return f.OldWriter == a.Name && evidence.InLoad(e, f)
	})
	switch w := e.Recorder; {
	case followed || a.Role == wire.RoleIsolated || w != nil && slices.Contains(w.Writers, a.Name):
		return true, unknown
	case w == nil:
		return false, finding.Of(finding.NoRecorder)
	case w.Incomplete != "":
		return false, finding.Of(finding.Because, w.Incomplete)
	case evidence.UnnamedWrites(w) > 0:
		return false, finding.Of(finding.WritersUnknown, evidence.UnnamedWrites(w))
	}
	return false, unknown
}

// ghostWrites counts the distinct writes that nodes have and the primary has not, nil where those of one node are unknown.
func ghostWrites(e evidence.Run, nodes []v1alpha1.NodeStatus) *int64 {
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

// comparedWithItself tells of the primary, which has no ghosts where it was not read before.
func comparedWithItself(e evidence.Run, a wire.AuditedNode) bool {
	return a.Role == wire.RoleWriter && a.Extra == nil && (a.Failed == "" || a.Rows != nil) && dataGone(e, a).None()
}

// ghostsUnknown says why there is no sum.
func ghostsUnknown(e evidence.Run, s *evidence.Status) []finding.Finding {
	if e.Audit == nil {
		return nil
	}
	var found []finding.Finding
	for _, a := range e.Audit.Nodes {
		why := dataGone(e, a)
		if why.None() && a.Rows == nil && e.Audit.Failed == "" && a.Failed != "" {
			why = finding.Of(finding.Because, a.Failed)
		}
		if !why.None() {
			found = append(found, finding.Of(finding.GhostsUnknown, a.Name, why))
		}
	}
	if len(found) == 0 && s.GhostWrites == nil && e.Audit.Failed == "" && len(s.Nodes) > 0 {
		found = append(found, finding.Of(finding.GhostsOverlap))
	}
	return found
}
