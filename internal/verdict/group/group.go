// Package group judges what the members of a group counted: conflicts, flow control, queues. It is pure.
package group

import (
	"fmt"
	"slices"

	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/wire"
)

// Conflicting are the rejected writes that were in the way of others. A recorder that was restarted knows the reasons of a part only.
func Conflicting(w *wire.RecorderResults) *int64 {
	if w == nil || w.Incomplete != "" || w.Rejections == nil {
		return nil
	}
	return ptr.To(w.Rejections[wire.RejectedDeadlock])
}

// groupUnknown says why what the members of a group counted is not stated, "" when it is.
func groupUnknown(w *wire.RecorderResults) string {
	switch {
	case w.Writes.Sent == 0:
		return "the load sent no write that could have been in conflict, or been held up"
	case !slices.ContainsFunc(w.Group.Nodes, func(n wire.NodeGroup) bool { return n.Samples > 0 }):
		return "none of them could be read since the load began"
	}
	return ""
}

// groupFigures have the upper bounds beside them that are known.
type groupFigures struct {
	v1alpha1.GroupFigures
	pausedAtMost, queueAtMost *int64
}

// Status is nil of a node that is no member.
func (f *groupFigures) Status() *v1alpha1.GroupFigures {
	if f == nil {
		return nil
	}
	return &f.GroupFigures
}

// memberFigures are what one member counted, nil when it was never read.
func memberFigures(n wire.NodeGroup) *groupFigures {
	if n.Samples == 0 {
		return nil
	}
	f := &groupFigures{GroupFigures: v1alpha1.GroupFigures{
		CertificationFailures: ptr.To(n.CertificationFailures), ForcedAborts: ptr.To(n.ForcedAborts), Deadlocks: n.Deadlocks,
		ReceiveQueueMeanThousandths: n.ReceiveQueueMeanThousandths, ReceiveQueueMax: n.ReceiveQueueMax,
	}}
	if n.UncoveredMicroseconds == 0 {
		f.queueAtMost = n.ReceiveQueueMaxAtMost
	}
	if all := n.CoveredMicroseconds + n.UncoveredMicroseconds; n.CoveredMicroseconds > 0 {
		f.FlowControlPausedPermille = ptr.To(n.FlowControlPausedMicroseconds * 1000 / all) // a bound is never beyond what it bounds
		f.pausedAtMost = ptr.To(roundedUp((n.FlowControlPausedMicroseconds+n.UncoveredMicroseconds)*1000, all))
	}
	return f
}

// OfNode is what a node counted as a member of a group, nil when it is none or was never read.
func OfNode(w *wire.RecorderResults, node string) *groupFigures {
	if w == nil || w.Incomplete != "" || w.Group == nil || groupUnknown(w) != "" {
		return nil
	}
	for _, n := range w.Group.Nodes {
		if n.Name == node {
			return memberFigures(n)
		}
	}
	return nil
}

// Status puts the members' figures together, nil without any.
func Status(w *wire.RecorderResults) *groupFigures {
	if w.Group == nil || groupUnknown(w) != "" {
		return nil
	}
	all := groupFigures{GroupFigures: v1alpha1.GroupFigures{CertificationFailures: new(int64), ForcedAborts: new(int64), Deadlocks: new(int64)}}
	for _, n := range w.Group.Nodes {
		f := memberFigures(n)
		if f == nil {
			continue
		}
		all.CertificationFailures = plus(all.CertificationFailures, f.CertificationFailures)
		all.ForcedAborts = plus(all.ForcedAborts, f.ForcedAborts)
		all.Deadlocks = plus(all.Deadlocks, f.Deadlocks)
		all.FlowControlPausedPermille = higher(all.FlowControlPausedPermille, f.FlowControlPausedPermille)
		all.ReceiveQueueMeanThousandths = higher(all.ReceiveQueueMeanThousandths, f.ReceiveQueueMeanThousandths)
		all.ReceiveQueueMax = higher(all.ReceiveQueueMax, f.ReceiveQueueMax)
		all.queueAtMost = higher(all.queueAtMost, f.queueAtMost)
	}
	if all.FlowControlPausedPermille != nil {
		all.pausedAtMost = pausedAtMost(w)
	}
	if slices.ContainsFunc(w.Group.Nodes, func(n wire.NodeGroup) bool { return n.UncoveredMicroseconds > 0 }) {
		all.queueAtMost = nil
	}
	if unread(w) != "" {
		all.CertificationFailures, all.ForcedAborts, all.Deadlocks = nil, nil, nil
	}
	return &all
}

func roundedUp(a, b int64) int64 { return (a + b - 1) / b }

// pausedAtMost is the largest share of the time for which a member can have been held up. Of one that took writes and was not read while
// a stage ran that counts it is all of it; of one that took none it is what was seen.
func pausedAtMost(w *wire.RecorderResults) (most *int64) {
	if unread(w) != "" {
		return ptr.To[int64](1000)
	}
	for _, n := range w.Group.Nodes {
		if n.Samples == 0 {
			continue
		}
		if !mayHaveWritten(w, n.Name) {
			if all := n.CoveredMicroseconds + n.UncoveredMicroseconds; all > 0 {
				most = higher(most, ptr.To(roundedUp(n.FlowControlPausedMicroseconds*1000, all)))
			}
			continue
		}
		f := memberFigures(n)
		if f.pausedAtMost == nil {
			return ptr.To[int64](1000)
		}
		most = higher(most, f.pausedAtMost)
	}
	return most
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

// mayHaveWritten tells whether a member acknowledged writes; where no answer named its node nobody knows, and each one may have.
func mayHaveWritten(w *wire.RecorderResults, node string) bool {
	return len(w.Writers) == 0 || w.UnnamedWrites > 0 || slices.Contains(w.Writers, node)
}

// unread is a member that may have acknowledged writes and whose counters were never read since the load began, "" without one.
func unread(w *wire.RecorderResults) string {
	for _, name := range w.Writers {
		if !slices.ContainsFunc(w.Group.Nodes, func(n wire.NodeGroup) bool { return n.Name == name && n.Samples > 0 }) {
			return name
		}
	}
	for _, n := range w.Group.Nodes {
		if n.Samples == 0 && mayHaveWritten(w, n.Name) {
			return n.Name
		}
	}
	return ""
}

// uncountedMembers may have had more conflicts than their samples tell. One that acknowledged no write is not taken to have had any.
func uncountedMembers(w *wire.RecorderResults) []wire.NodeGroup {
	if w == nil || w.Group == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(w.Group.Nodes), func(n wire.NodeGroup) bool { return n.UncountedMicroseconds == 0 || !mayHaveWritten(w, n.Name) })
}

func GroupRemarks(e evidence.Run, _ *v1alpha1.ReplicationExperimentStatus) []string {
	w := e.Recorder
	if w == nil || w.Incomplete != "" || w.Group == nil {
		return nil
	}
	if why := groupUnknown(w); why != "" {
		return []string{"What the members of the group counted is not stated: " + why + "."}
	}
	var found []string
	if name := unread(w); name != "" {
		found = append(found, fmt.Sprintf("The conflicts that the servers counted are not stated: node %s may have acknowledged writes, and its counters could not be read once since the load began.", name))
	} else {
		for _, n := range uncountedMembers(w) {
			found = append(found, fmt.Sprintf("The conflicts that the servers counted are a lower bound: what node %s counted in up to %d ms before it died, before its counters could be read, or before its clock was set back, may not be among them.",
				n.Name, evidence.Milliseconds(n.UncountedMicroseconds)))
		}
	}
	for _, n := range w.Group.Nodes {
		if n.UncoveredMicroseconds > 0 {
			found = append(found, fmt.Sprintf("For %d of %d ms that count no sample tells what the server of node %s counted: what flow control held up there then, and how long its receive queue was, is not known.",
				evidence.Milliseconds(n.UncoveredMicroseconds), evidence.Milliseconds(n.CoveredMicroseconds+n.UncoveredMicroseconds), n.Name))
		}
	}
	return found
}
