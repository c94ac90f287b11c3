package verdict

import (
	"fmt"
	"slices"

	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/wire"
)

// conflicting are the rejected writes that were in the way of others. A witness that was restarted knows the reasons of a part only.
func conflicting(w *wire.WitnessResults) *int64 {
	if w == nil || w.Incomplete != "" || w.Rejections == nil {
		return nil
	}
	return ptr.To(w.Rejections[wire.RejectedDeadlock])
}

// memberFigures are what one member counted.
func memberFigures(n wire.NodeGroup) *v1alpha1.GroupFigures {
	f := &v1alpha1.GroupFigures{
		CertificationFailures: ptr.To(n.CertificationFailures), ForcedAborts: ptr.To(n.ForcedAborts), Deadlocks: n.Deadlocks,
		ReceiveQueueMeanThousandths: n.ReceiveQueueMeanThousandths, ReceiveQueueMax: n.ReceiveQueueMax, ReceiveQueueMaxAtMost: n.ReceiveQueueMaxAtMost,
	}
	if n.CoveredMicroseconds > 0 {
		f.FlowControlPausedPermille = ptr.To((n.FlowControlPausedMicroseconds*1000 + n.CoveredMicroseconds/2) / n.CoveredMicroseconds)
	}
	return f
}

// nodeGroup is what a node counted as a member of a group, nil when it is none or was never read.
func nodeGroup(w *wire.WitnessResults, node string) *v1alpha1.GroupFigures {
	if w == nil || w.Incomplete != "" || w.Group == nil {
		return nil
	}
	for _, n := range w.Group.Nodes {
		if n.Name == node {
			return memberFigures(n)
		}
	}
	return nil
}

// groupStatus puts the members' figures together, nil without any.
func groupStatus(w *wire.WitnessResults) *v1alpha1.GroupFigures {
	if w.Group == nil || len(w.Group.Nodes) == 0 {
		return nil
	}
	var all v1alpha1.GroupFigures
	for i, n := range w.Group.Nodes {
		f := memberFigures(n)
		if i == 0 {
			all = *f
			continue
		}
		all.CertificationFailures = plus(all.CertificationFailures, f.CertificationFailures)
		all.ForcedAborts = plus(all.ForcedAborts, f.ForcedAborts)
		all.Deadlocks = plus(all.Deadlocks, f.Deadlocks)
		all.FlowControlPausedPermille = higher(all.FlowControlPausedPermille, f.FlowControlPausedPermille)
		all.ReceiveQueueMeanThousandths = higher(all.ReceiveQueueMeanThousandths, f.ReceiveQueueMeanThousandths)
		all.ReceiveQueueMax = higher(all.ReceiveQueueMax, f.ReceiveQueueMax)
		all.ReceiveQueueMaxAtMost = higher(all.ReceiveQueueMaxAtMost, f.ReceiveQueueMaxAtMost)
	}
	if unread(w) != "" {
		all.CertificationFailures, all.ForcedAborts, all.Deadlocks = nil, nil, nil
	}
	return &all
}

// plus is nil where one of them is not known.
func plus(a, b *int64) *int64 {
	if a == nil || b == nil {
		return nil
	}
	return ptr.To(*a + *b)
}

// higher is of those that are known.
func higher(a, b *int64) *int64 {
	if a == nil || b != nil && *b > *a {
		return b
	}
	return a
}

// unread is a member that acknowledged writes and whose counters were never read since the load began, "" without one.
func unread(w *wire.WitnessResults) string {
	for _, name := range w.Writers {
		if !slices.ContainsFunc(w.Group.Nodes, func(n wire.NodeGroup) bool { return n.Name == name }) {
			return name
		}
	}
	return ""
}

// uncountedMembers may have had more conflicts than their samples tell.
func uncountedMembers(w *wire.WitnessResults) []wire.NodeGroup {
	if w == nil || w.Group == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(w.Group.Nodes), func(n wire.NodeGroup) bool { return n.UncountedMicroseconds == 0 })
}

func groupRemarks(e Evidence, _ *v1alpha1.ReplicationExperimentStatus) []string {
	w := e.Witness
	if w == nil || w.Incomplete != "" || w.Group == nil {
		return nil
	}
	if len(w.Group.Nodes) == 0 {
		return []string{"What the members of the group counted is not stated: none of them could be read since the load began."}
	}
	if name := unread(w); name != "" {
		return []string{fmt.Sprintf("The conflicts that the servers counted are not stated: node %s acknowledged writes, and its counters could not be read once since the load began.", name)}
	}
	var found []string
	for _, n := range uncountedMembers(w) {
		found = append(found, fmt.Sprintf("The conflicts that the servers counted are a lower bound: what node %s counted in up to %d ms before it died, or before its counters could be read, is not among them.",
			n.Name, (n.UncountedMicroseconds+999)/1000))
	}
	return found
}
