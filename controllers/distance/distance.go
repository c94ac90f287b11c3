// Package distance puts topology.links into effect: layout says who is how far from whom, set has the agents delay, measure has them
// measure. Nothing here waits long: what an agent did not do now it is asked for again by the next look. All of it may be repeated.
package distance

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/wire"
)

// Agents of the nodes. Each method asks all of them at the same moment, and answers in the order of the calls.
type Agents interface {
	SetLinks(ctx context.Context, token string, calls []Call) []Answer
	LinksStates(ctx context.Context, podIPs []string) []Answer
	ClearLinks(ctx context.Context, token string, podIPs []string) []error
	MeasureRoundTrips(ctx context.Context, token string, calls []MeasureCall) []Measured
}

// Call gives the agent of a pod its links.
type Call struct {
	PodIP string
	wire.Links
}

// Answer is what an agent delays, or why that is not known.
type Answer struct {
	wire.LinksState
	Err error
}

// MeasureCall has the agent of a pod measure.
type MeasureCall struct {
	PodIP string
	wire.RoundTripRequest
}

// Measured is what an agent measured, or why it did not.
type Measured struct {
	wire.RoundTrips
	Err error
}

// Scene is an experiment at one moment. Status is changed by the functions of this package, and written by others.
type Scene struct {
	Spec   *v1alpha1.ReplicationExperimentSpec
	Status **v1alpha1.DistanceStatus
	Nodes  []string // pods of the nodes in their order
	Pods   []corev1.Pod
	Now    func() time.Time
	// Token that agents want to see, read when it is needed.
	Token  func(context.Context) (string, error)
	Agents Agents
}

// Set gives each node its links, if these are not the last that it was given. It returns what went wrong: then it is to be tried again.
func Set(ctx context.Context, s *Scene) error {
	if missing := len(s.Nodes) - len(s.nodes()); missing > 0 { // who has no address sends nothing
		return fmt.Errorf("%d nodes have no address", missing)
	}
	var calls []Call
	var nodes []*corev1.Pod
	for _, node := range s.nodes() {
		links, e := s.links(node), s.entry(node.Name)
		if e.PodUID == string(node.UID) && e.Peers == identity(links.Peers) {
			continue
		}
		nodes, calls = append(nodes, node), append(calls, Call{PodIP: node.Status.PodIP, Links: links})
	}
	if len(calls) == 0 {
		return nil
	}
	token, err := s.Token(ctx)
	if err != nil {
		return err
	}
	var failed error
	for i, answer := range s.Agents.SetLinks(ctx, token, calls) {
		e := s.entry(nodes[i].Name)
		if answer.Err != nil {
			failed = fmt.Errorf("set the links of %s: %w", e.Name, answer.Err)
			e.Note = failed.Error()
			continue
		}
		s.take(e, calls[i].Links, answer.LinksState)
	}
	return failed
}

// take notes the links that an agent has set.
func (s *Scene) take(e *v1alpha1.LinkedNodeStatus, links wire.Links, state wire.LinksState) {
	now := metav1.NewMicroTime(s.Now())
	if e.SetTime != nil {
		e.Resets++
	}
	if e.PodUID == links.PodUID && e.Session != state.Session {
		e.Lapses++
	}
	e.PodUID, e.Session, e.Peers = links.PodUID, state.Session, identity(links.Peers)
	e.Method, e.SetTime, e.Note = v1alpha1.LinkMethod(state.Method), &now, ""
}

// Inspect reads what came of each node's links.
func Inspect(ctx context.Context, s *Scene) error {
	nodes := s.nodes()
	addresses := make([]string, len(nodes))
	for i, n := range nodes {
		addresses[i] = n.Status.PodIP
	}
	var failed error
	if missing := len(s.Nodes) - len(nodes); missing > 0 {
		failed = fmt.Errorf("%d nodes have no address", missing)
	}
	for i, answer := range s.Agents.LinksStates(ctx, addresses) {
		e := s.entry(nodes[i].Name)
		if answer.Err != nil {
			failed = fmt.Errorf("read the links of %s: %w", e.Name, answer.Err)
			e.Note = failed.Error()
			continue
		}
		inspect(e, string(nodes[i].UID), answer.LinksState)
	}
	return failed
}

func inspect(e *v1alpha1.LinkedNodeStatus, podUID string, state wire.LinksState) {
	if e.PodUID != podUID {
		e.Note = "the pod was replaced, and its links were not set again"
		return
	}
	e.Note = state.Failed
	if e.Session != state.Session {
		e.Session, e.Lapses = state.Session, e.Lapses+1
		return
	}
	e.DelayedPackets, e.DroppedPackets, e.LatePackets, e.LatestMicroseconds = state.Packets, state.Dropped, state.Late, state.LatestMicroseconds
}

// Clear ends all distance.
func Clear(ctx context.Context, s *Scene) error {
	token, err := s.Token(ctx)
	if err != nil {
		return err
	}
	nodes := s.nodes()
	addresses := make([]string, len(nodes))
	for i, n := range nodes {
		addresses[i] = n.Status.PodIP
	}
	for i, err := range s.Agents.ClearLinks(ctx, token, addresses) {
		if err != nil {
			return fmt.Errorf("end the links of %s: %w", nodes[i].Name, err)
		}
	}
	now := metav1.NewMicroTime(s.Now())
	s.status().RemovedTime = &now
	return nil
}
