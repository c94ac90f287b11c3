package distance

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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

// count notes an agent's counters. An agent that restarted in its pod has lost its links.
func count(e *v1alpha1.LinkedNodeStatus, state wire.LinksState) {
	if e.Session != state.Session {
		begin(e, e.PodUID, state.Session)
		return
	}
	if state.Failed != "" {
		report(e, v1alpha1.LinkNotKept, state.Failed)
	}
	if state.Method == "" { // it has not delayed yet: the counts are those of the agent before
		return
	}
	e.LinkCounts = v1alpha1.LinkCounts{
		DelayedPackets: state.Packets, DroppedPackets: state.Dropped, LatePackets: state.Late, LatestMicroseconds: state.LatestMicroseconds,
	}
}

// delays reports whether a node was last given links.
func delays(e *v1alpha1.LinkedNodeStatus) bool { return e.Peers != identity(nil) }

// begin notes a node's present agent. A lost packet or link of the agent before it stays a problem of the node.
func begin(e *v1alpha1.LinkedNodeStatus, podUID, session string) {
	if e.Session != session && e.Session != "" {
		switch dropped := e.DroppedPackets; {
		case e.PodUID == podUID && delays(e):
			report(e, v1alpha1.LinkNotKept, "its agent restarted, and delayed nothing meanwhile")
		case e.DelayedPackets != nil && dropped == nil:
			report(e, v1alpha1.LinkNotKept, "how many packets were dropped before its pod was replaced is unknown")
		case dropped != nil && *dropped > 0:
			report(e, v1alpha1.LinkNotKept, fmt.Sprintf("%d packets were dropped before its pod was replaced", *dropped))
		}
	}
	e.PodUID, e.Session = podUID, session
}
