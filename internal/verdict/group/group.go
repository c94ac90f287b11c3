// Package group judges what the members of a group counted: conflicts, flow control, queues. It is pure.
package group

import (
	"slices"

	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/figure"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/finding"
	"replab.dev/internal/wire"
)

// Conflicting are the rejected writes that were in the way of others. A recorder that was restarted knows the reasons of a part only.
func Conflicting(w *wire.RecorderResults) *int64 {
	if w == nil || w.Incomplete != "" || w.Rejections == nil {
		return nil
	}
	return ptr.To(w.Rejections[wire.RejectedDeadlock])
}

// Fill states what the members of a group counted, together and each.
func Fill(e evidence.Run, s *evidence.Status) {
	if !e.Whole() {
		return
	}
	if g := all(e.Recorder).status(); g != nil {
		evidence.Replication(s).Group = g
	}
	for i := range s.Nodes {
		s.Nodes[i].Group = ofNode(e.Recorder, s.Nodes[i].Name).status()
	}
}

// Findings of the group.
func Findings(e evidence.Run, _ *evidence.Status) []finding.Finding { return groupRemarks(e) }

// groupUnknown says why what the members of a group counted is not stated, nothing when it is.
func groupUnknown(w *wire.RecorderResults) finding.Finding {
	switch {
	case w.Writes.Sent == 0:
		return finding.Of(finding.NoWriteSent)
	case !slices.ContainsFunc(w.Group.Nodes, func(n wire.NodeGroup) bool { return n.Samples > 0 }):
		return finding.Of(finding.MembersUnread)
	}
	return finding.Finding{}
}

// groupFigures have the upper bounds beside them that are known.
type groupFigures struct {
	v1alpha1.GroupFigures
	pausedAtMost, queueAtMost *int64
}

// status is nil of a node that is no member.
func (f *groupFigures) status() *v1alpha1.GroupFigures {
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
		f.FlowControlPausedPermille = ptr.To(roundedUp(n.FlowControlPausedMicroseconds*1000, all))
		if n.UncoveredMicroseconds > 0 { // a lower bound is never beyond what it bounds
			f.FlowControlPausedPermille = ptr.To(n.FlowControlPausedMicroseconds * 1000 / all)
		}
		f.pausedAtMost = ptr.To(roundedUp((n.FlowControlPausedMicroseconds+n.UncoveredMicroseconds)*1000, all))
	}
	return f
}

// ofNode is what a node counted as a member of a group, nil when it is none or was never read.
func ofNode(w *wire.RecorderResults, node string) *groupFigures {
	if w == nil || w.Incomplete != "" || w.Group == nil || !groupUnknown(w).None() {
		return nil
	}
	for _, n := range w.Group.Nodes {
		if n.Name == node {
			return memberFigures(n)
		}
	}
	return nil
}

// all puts the members' figures together, nil without any.
func all(w *wire.RecorderResults) *groupFigures {
	if w.Group == nil || !groupUnknown(w).None() {
		return nil
	}
	sum := groupFigures{GroupFigures: v1alpha1.GroupFigures{CertificationFailures: new(int64), ForcedAborts: new(int64), Deadlocks: new(int64)}}
	for _, n := range w.Group.Nodes {
		f := memberFigures(n)
		if f == nil {
			continue
		}
		sum.CertificationFailures = plus(sum.CertificationFailures, f.CertificationFailures)
		sum.ForcedAborts = plus(sum.ForcedAborts, f.ForcedAborts)
		sum.Deadlocks = plus(sum.Deadlocks, f.Deadlocks)
		sum.FlowControlPausedPermille = higher(sum.FlowControlPausedPermille, f.FlowControlPausedPermille)
		sum.ReceiveQueueMeanThousandths = higher(sum.ReceiveQueueMeanThousandths, f.ReceiveQueueMeanThousandths)
		sum.ReceiveQueueMax = higher(sum.ReceiveQueueMax, f.ReceiveQueueMax)
		sum.queueAtMost = higher(sum.queueAtMost, f.queueAtMost)
	}
	if sum.FlowControlPausedPermille != nil {
		sum.pausedAtMost = pausedAtMost(w)
	}
	if slices.ContainsFunc(w.Group.Nodes, func(n wire.NodeGroup) bool { return n.UncoveredMicroseconds > 0 }) {
		sum.queueAtMost = nil
	}
	if unread(w) != "" {
		sum.CertificationFailures, sum.ForcedAborts, sum.Deadlocks = nil, nil, nil
	}
	return &sum
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

// mayHaveWritten tells whether a member acknowledged writes; where no answer named its node, each one may have.
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

func groupRemarks(e evidence.Run) []finding.Finding {
	w := e.Recorder
	if w == nil || w.Incomplete != "" || w.Group == nil {
		return nil
	}
	if why := groupUnknown(w); !why.None() {
		return []finding.Finding{finding.Of(finding.GroupUnknown, why)}
	}
	var found []finding.Finding
	if name := unread(w); name != "" {
		found = append(found, finding.Of(finding.ConflictsUnknown, name))
	} else {
		for _, n := range uncountedMembers(w) {
			found = append(found, finding.Of(finding.ConflictsMinimum, n.Name, evidence.Milliseconds(n.UncountedMicroseconds)))
		}
	}
	for _, n := range w.Group.Nodes {
		if n.UncoveredMicroseconds > 0 {
			found = append(found, finding.Of(finding.GroupUnsampled, n.Name, evidence.Milliseconds(n.UncoveredMicroseconds), evidence.Milliseconds(n.CoveredMicroseconds+n.UncoveredMicroseconds)))
		}
	}
	return found
}

// Bound says which counters are not exact.
func Bound(b *figure.Bounds, e evidence.Run, s *evidence.Status) {
	if s.Replication != nil && s.Replication.Group != nil {
		boundMember(b, "replication.group.", all(e.Recorder), len(uncountedMembers(e.Recorder)) > 0)
	}
	for _, n := range s.Nodes {
		uncounted := slices.ContainsFunc(uncountedMembers(e.Recorder), func(m wire.NodeGroup) bool { return m.Name == n.Name })
		boundMember(b, "nodes["+n.Name+"].group.", ofNode(e.Recorder, n.Name), uncounted)
	}
}

func boundMember(b *figure.Bounds, prefix string, g *groupFigures, uncounted bool) {
	if g == nil {
		return
	}
	unsampled := finding.Of(finding.MemberUnsampled).String()
	for _, name := range []string{"certificationFailures", "forcedAborts", "deadlocks"} {
		if value := figure.At(g.GroupFigures, name); value != nil && uncounted {
			b.AtLeast(prefix+name, *value, unsampled)
		}
	}
	if g.FlowControlPausedPermille != nil && g.pausedAtMost != nil {
		b.Between(prefix+"flowControlPausedPermille", *g.FlowControlPausedPermille, *g.pausedAtMost, unsampled)
	}
	if g.ReceiveQueueMax == nil {
		return
	}
	if g.queueAtMost == nil {
		b.AtLeast(prefix+"receiveQueueMax", *g.ReceiveQueueMax, unsampled)
		return
	}
	b.Between(prefix+"receiveQueueMax", *g.ReceiveQueueMax, *g.queueAtMost, finding.Of(finding.MaximumSinceStart).String())
}

// Unread says why the counters of a group's members are not stated, nothing where they are.
func Unread(r *wire.RecorderResults) finding.Finding {
	if name := unread(r); groupUnknown(r).None() && name != "" {
		return finding.Of(finding.MemberUnread, name)
	}
	return groupUnknown(r)
}
