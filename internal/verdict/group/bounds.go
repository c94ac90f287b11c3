package group

import (
	"slices"

	"replab.dev/internal/figure"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/verdict/finding"
	"replab.dev/internal/wire"
)

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
