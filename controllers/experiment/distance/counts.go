package distance

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/wire"
)

// lookInterval is between two looks at what the agents have counted: what they counted goes with their pods.
const lookInterval = 5 * time.Second

// Look reads from time to time what came of the links while they stand, so that it is known of pods that are replaced. What does not
// answer now is asked by the next look: that it is missing in the end is noted by ReadCounts.
func Look(ctx context.Context, s *Scene) {
	if last := s.status().LookTime; last != nil && s.Now().Sub(last.Time) < lookInterval {
		return
	}
	_ = s.read(ctx, func(*v1alpha1.LinkedNodeStatus, v1alpha1.LinkProblem, string) {}) // see above
}

// ReadCounts reads what came of each node's links. It returns what went wrong: then it is to be tried again.
func ReadCounts(ctx context.Context, s *Scene) error {
	failed := s.missing()
	err := s.read(ctx, report)
	if err != nil {
		failed = err
	}
	return failed
}

// read what the agents have counted, and have reported what is wrong with each.
func (s *Scene) read(ctx context.Context, report func(e *v1alpha1.LinkedNodeStatus, problem v1alpha1.LinkProblem, note string)) error {
	nodes := s.nodes()
	var failed error
	for i, answer := range s.Agents.LinksStates(ctx, addresses(nodes)) {
		e := s.entry(nodes[i].Name)
		switch {
		case answer.Err != nil:
			failed = fmt.Errorf("read the links of %s: %w", e.Name, answer.Err)
			report(e, v1alpha1.LinkNotRead, failed.Error())
		case e.PodUID != string(nodes[i].UID):
			report(e, v1alpha1.LinkNotSetAgain, "the pod was replaced, and its links were not set again")
		default:
			report(e, "", "")
			count(e, answer.LinksState)
		}
	}
	now := metav1.NewMicroTime(s.Now())
	s.status().LookTime = &now
	return failed
}

// count takes an agent's counts down. One that was started anew in its pod has no links, and so none: a lapse where it had been given some.
func count(e *v1alpha1.LinkedNodeStatus, state wire.LinksState) {
	if e.Session != state.Session {
		if delays(e) {
			e.Lapses++
		}
		begin(e, e.PodUID, state.Session)
		return
	}
	if state.Failed != "" {
		report(e, v1alpha1.LinkNotKept, state.Failed)
	}
	e.LinkCounts = v1alpha1.LinkCounts{
		DelayedPackets: state.Packets, DroppedPackets: state.Dropped, LatePackets: state.Late, LatestMicroseconds: state.LatestMicroseconds,
	}
	if unknown := state.Method != "" && state.Packets == nil; e.Earlier != nil && !unknown {
		e.LinkCounts = together(*e.Earlier, e.LinkCounts)
	}
}

// delays tells whether a node was last given links to anybody.
func delays(e *v1alpha1.LinkedNodeStatus) bool { return e.Peers != identity(nil) }

// begin has an entry be of an agent. What those before it had counted is kept.
func begin(e *v1alpha1.LinkedNodeStatus, podUID, session string) {
	if e.Session != session && e.LinkCounts != (v1alpha1.LinkCounts{}) {
		e.Earlier = e.LinkCounts.DeepCopy()
	}
	e.PodUID, e.Session = podUID, session
}

// together are the counts of two agents, of which one may have delayed nothing. What one of them does not know is not known of both.
func together(a, b v1alpha1.LinkCounts) v1alpha1.LinkCounts {
	switch {
	case a.DelayedPackets == nil:
		return b
	case b.DelayedPackets == nil:
		return a
	}
	return v1alpha1.LinkCounts{
		DelayedPackets: both(a.DelayedPackets, b.DelayedPackets, add), DroppedPackets: both(a.DroppedPackets, b.DroppedPackets, add),
		LatePackets: both(a.LatePackets, b.LatePackets, add), LatestMicroseconds: both(a.LatestMicroseconds, b.LatestMicroseconds, greater),
	}
}

func add(a, b int64) int64     { return a + b }
func greater(a, b int64) int64 { return max(a, b) }

func both(a, b *int64, f func(a, b int64) int64) *int64 {
	if a == nil || b == nil {
		return nil
	}
	return ptr.To(f(*a, *b))
}
