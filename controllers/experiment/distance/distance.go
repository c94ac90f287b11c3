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
	// WithoutDistance has nothing held up: the load's stages without distance are ahead, or run.
	WithoutDistance bool
	// Loaded tells that the load is about to run, or runs: what is at no distance now is so in it.
	Loaded bool
	// Token that agents want to see, read when it is needed.
	Token  func(context.Context) (string, error)
	Agents Agents
}

// act has agents do what needs the token, and takes their answers one by one. It returns the last error of those that could not be
// taken.
func act[A any](ctx context.Context, s *Scene, ask func(token string) []A, take func(i int, a A) error) error {
	token, err := s.Token(ctx)
	if err != nil {
		return err
	}
	for i, a := range ask(token) {
		if failed := take(i, a); failed != nil {
			err = failed
		}
	}
	return err
}

// Set gives each node its links, if these are not the last that it was given. It returns what went wrong: then it is to be tried again.
func Set(ctx context.Context, s *Scene) error {
	if err := s.missing(); err != nil {
		return err
	}
	var calls []Call
	var nodes []*corev1.Pod
	for _, node := range s.nodes() {
		links, e := s.links(node), s.entry(node.Name)
		if e.PodUID == string(node.UID) && e.Peers == identity(links.Peers) {
			e.WithoutDistance = s.WithoutDistance // of a node that is at no distance from anybody nothing changes
			continue
		}
		nodes, calls = append(nodes, node), append(calls, Call{PodIP: node.Status.PodIP, Links: links})
	}
	if len(calls) == 0 {
		s.stand()
		return nil
	}
	asked := s.Now()
	err := act(ctx, s, func(token string) []Answer { return s.Agents.SetLinks(ctx, token, calls) }, func(i int, answer Answer) error {
		e := s.entry(nodes[i].Name)
		if answer.Err != nil {
			err := fmt.Errorf("set the links of %s: %w", e.Name, answer.Err)
			report(e, v1alpha1.LinkNotSet, err.Error())
			return err
		}
		if e.PodUID != "" && e.PodUID != string(nodes[i].UID) {
			s.came(e, nodes[i], asked, answer.At.Time)
		}
		s.take(e, calls[i].Links, answer.LinksState)
		return nil
	})
	if err == nil {
		s.stand()
	}
	return err
}

// take notes the links that an agent has set.
func (s *Scene) take(e *v1alpha1.LinkedNodeStatus, links wire.Links, state wire.LinksState) {
	now := metav1.NewMicroTime(s.Now())
	if e.SetTime != nil && !e.WithoutDistance && !s.WithoutDistance {
		e.Resets++
	}
	if e.WithoutDistance && !s.WithoutDistance {
		e.LinkingTime, e.LinkedTime = state.BeganAt, state.SetAt
	}
	switch {
	case e.PodUID == links.PodUID && e.Session != state.Session:
		if delays(e) {
			e.Lapses++
		}
	case e.PodUID != "" && e.PodUID != links.PodUID:
		e.Replacements++
	}
	begin(e, links.PodUID, state.Session)
	e.Peers, e.WithoutDistance, e.SetTime = identity(links.Peers), s.WithoutDistance, &now
	if state.Method != "" { // an agent that delays nothing has none yet
		e.Method = v1alpha1.LinkMethod(state.Method)
	}
	report(e, "", "")
	count(e, state)
}

// report notes what is wrong with a node's links: "" if nothing is.
func report(e *v1alpha1.LinkedNodeStatus, problem v1alpha1.LinkProblem, note string) {
	if e.Problem != v1alpha1.LinkNotKept {
		e.Problem, e.Note = problem, note
	}
}

// Clear ends all distance.
func Clear(ctx context.Context, s *Scene) error {
	nodes := s.nodes()
	err := act(ctx, s, func(token string) []error { return s.Agents.ClearLinks(ctx, token, addresses(nodes)) }, func(i int, err error) error {
		if err != nil {
			return fmt.Errorf("end the links of %s: %w", nodes[i].Name, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	now := metav1.NewMicroTime(s.Now())
	s.status().RemovedTime = &now
	return nil
}
