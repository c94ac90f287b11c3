package group

import (
	"fmt"
	"slices"

	"replab.dev/internal/figure"
	"replab.dev/internal/verdict/evidence"
	"replab.dev/internal/wire"
)

func Bound(b *figure.Bounds, e evidence.Run, s *evidence.Status) {
	if s.Replication != nil && s.Replication.Group != nil {
		boundMember(b, "replication.group.", Status(e.Recorder), len(uncountedMembers(e.Recorder)) > 0)
	}
	for _, n := range s.Nodes {
		uncounted := slices.ContainsFunc(uncountedMembers(e.Recorder), func(m wire.NodeGroup) bool { return m.Name == n.Name })
		boundMember(b, "nodes["+n.Name+"].group.", OfNode(e.Recorder, n.Name), uncounted)
	}
}

func boundMember(b *figure.Bounds, prefix string, g *groupFigures, uncounted bool) {
	if g == nil {
		return
	}
	const unsampled = "a server was not sampled for a part of the time"
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
	b.Between(prefix+"receiveQueueMax", *g.ReceiveQueueMax, *g.queueAtMost, "the server's maximum is since its start")
}

// GroupUnread says why the counters of a group's members are not stated, "" where they are.
func GroupUnread(r *wire.RecorderResults) string {
	if name := unread(r); groupUnknown(r) == "" && name != "" {
		return fmt.Sprintf("the counters of node %s could not be read", name)
	}
	return groupUnknown(r)
}
