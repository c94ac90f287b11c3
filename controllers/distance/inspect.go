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
// answer now is asked by the next look: that it is missing in the end is noted by Inspect.
func Look(ctx context.Context, s *Scene) {
	if last := s.status().LookTime; last != nil && s.Now().Sub(last.Time) < lookInterval {
		return
	}
	_ = s.read(ctx, func(*v1alpha1.LinkedNodeStatus, string) {}) // see above
}

// Inspect reads what came of each node's links. It returns what went wrong: then it is to be tried again.
func Inspect(ctx context.Context, s *Scene) error {
	failed := s.missing()
	err := s.read(ctx, func(e *v1alpha1.LinkedNodeStatus, note string) { e.Note = note })
	if err != nil {
		failed = err
	}
	return failed
}

// read what the agents have counted, and have noted what went wrong with each: "" if nothing did.
func (s *Scene) read(ctx context.Context, note func(*v1alpha1.LinkedNodeStatus, string)) error {
	nodes := s.nodes()
	var failed error
	for i, answer := range s.Agents.LinksStates(ctx, addresses(nodes)) {
		e := s.entry(nodes[i].Name)
		switch {
		case answer.Err != nil:
			failed = fmt.Errorf("read the links of %s: %w", e.Name, answer.Err)
			note(e, failed.Error())
		case e.PodUID != string(nodes[i].UID):
			note(e, "the pod was replaced, and its links were not set again")
		default:
			note(e, "")
			count(e, answer.LinksState)
		}
	}
	now := metav1.NewMicroTime(s.Now())
	s.status().LookTime = &now
	return failed
}

// count takes an agent's counts down. One that was started anew in its pod has no links, and so none.
func count(e *v1alpha1.LinkedNodeStatus, state wire.LinksState) {
	if e.Session != state.Session {
		e.Lapses++
		begin(e, e.PodUID, state.Session)
		return
	}
	if e.Failure == "" {
		e.Failure = state.Failed
	}
	e.LinkCounts = v1alpha1.LinkCounts{
		DelayedPackets: state.Packets, DroppedPackets: state.Dropped, LatePackets: state.Late, LatestMicroseconds: state.LatestMicroseconds,
	}
	if past := e.Earlier; past != nil {
		e.DelayedPackets, e.DroppedPackets = sum(past.DelayedPackets, e.DelayedPackets), sum(past.DroppedPackets, e.DroppedPackets)
		e.LatePackets, e.LatestMicroseconds = sum(past.LatePackets, e.LatePackets), longer(past.LatestMicroseconds, e.LatestMicroseconds)
	}
}

// begin has an entry be of an agent. What those before it had counted is kept.
func begin(e *v1alpha1.LinkedNodeStatus, podUID, session string) {
	if e.Session != session && e.LinkCounts != (v1alpha1.LinkCounts{}) {
		e.Earlier = e.LinkCounts.DeepCopy()
	}
	e.PodUID, e.Session = podUID, session
}

// sum of two figures; one that is absent has nothing to add.
func sum(a, b *int64) *int64 {
	if a == nil || b == nil {
		return longer(a, b)
	}
	return ptr.To(*a + *b)
}

func longer(a, b *int64) *int64 {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return ptr.To(max(*a, *b))
}
