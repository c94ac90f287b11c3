// Package distance puts topology.links into effect: the nodes' agents delay and count packets, and measure round trips. Calls may be repeated.
package distance

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/kube"
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

// Answer is the state of an agent's links, or an error.
type Answer struct {
	wire.LinksState
	Err error
}

// MeasureCall has the agent of a pod measure.
type MeasureCall struct {
	PodIP string
	wire.RoundTripRequest
}

// Measured are an agent's round trips, or an error.
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
	// WithoutDistance delays nothing: the load's stages without distance are ahead, or run.
	WithoutDistance bool
	// Loaded: the load runs, or is about to.
	Loaded bool
	// Token that agents demand, read when needed.
	Token  func(context.Context) (string, error)
	Agents Agents
}

// act has agents do what needs the token, and passes on their answers. It returns the last error.
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

// Set gives each node its links, unless it has them already. After an error it is to be called again.
func Set(ctx context.Context, s *Scene) error {
	if err := s.missing(); err != nil {
		return err
	}
	var calls []Call
	var nodes []*corev1.Pod
	for _, node := range s.nodes() {
		links, e := s.links(node), s.entry(node.Name)
		if e.PodUID == string(node.UID) && e.Peers == identity(links.Peers) {
			e.WithoutDistance = s.WithoutDistance // for a node without links nothing changes
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
		s.came(e, nodes[i], asked, answer.At.Time)
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
	if e.SetTime != nil && (e.PodUID != links.PodUID || !e.WithoutDistance && !s.WithoutDistance) {
		e.Interruptions++
	}
	if e.WithoutDistance && !s.WithoutDistance {
		e.LinkingTime, e.LinkedTime = state.BeganAt, state.SetAt
	}
	begin(e, links.PodUID, state.Session)
	e.Peers, e.WithoutDistance, e.SetTime = identity(links.Peers), s.WithoutDistance, &now
	e.Linked = e.Linked || state.Packets != nil
	report(e, "", "")
	count(e, state)
}

// report notes a problem of a node's links, "" for none. LinkNotKept stays.
func report(e *v1alpha1.LinkedNodeStatus, problem v1alpha1.LinkProblem, note string) {
	if e.Problem != v1alpha1.LinkNotKept {
		e.Problem, e.Note = problem, note
	}
}

// came notes the start of a pod that replaced another during the load, by durations of one clock each. A pod of unknown start counts from the
// previous pod's setTime.
func (s *Scene) came(e *v1alpha1.LinkedNodeStatus, pod *corev1.Pod, asked, answered time.Time) {
	if e.PodUID == "" || e.PodUID == string(pod.UID) || !s.Loaded || s.WithoutDistance || e.WithoutDistance {
		return
	}
	at := e.SetTime
	began := kube.FirstRan(*pod)
	if began == nil && pod.Status.StartTime != nil { // no container's start is reported yet: it is not before the pod's
		began = &pod.Status.StartTime.Time
	}
	if began != nil {
		at = ptr.To(metav1.NewMicroTime(asked.Add(-max(answered.Sub(*began), 0))))
	}
	if d := s.status(); d.UndelayedSinceTime == nil || at.Before(d.UndelayedSinceTime) {
		d.UndelayedSinceTime = at
	}
}

// stand notes that all links are set: for how long replacement pods of nodes ran without them, and which pods of app and proxy have them.
func (s *Scene) stand() {
	d := s.status()
	if since := d.UndelayedSinceTime; since != nil {
		undelayed := s.Now().Sub(since.Time) + time.Millisecond - 1 // rounded up: it is a maximum
		d.UndelayedMilliseconds, d.UndelayedSinceTime = max(d.UndelayedMilliseconds, undelayed.Milliseconds()), nil
	}
	var clients []string
	for _, node := range s.nodes() {
		s.linked(node, func(other *corev1.Pod, _ int64) bool {
			if ip := other.Status.PodIP; other.Labels[kube.LabelComponent] != kube.ComponentNode {
				if s.Loaded && !s.WithoutDistance && !slices.Contains(d.Clients, ip) {
					report(s.entry(node.Name), v1alpha1.LinkNotKept, "a pod of the app or its proxy was replaced during the load, and had no delay for an unknown time")
				}
				clients = append(clients, ip)
			}
			return true
		})
	}
	slices.Sort(clients)
	d.Clients = slices.Compact(clients)
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

// lookInterval is between two reads of the agents' counters, which are lost with their pods.
const lookInterval = 5 * time.Second

// Look reads the agents' counters now and then, so that those of replaced pods are known. ReadCounts reports what stays missing.
func Look(ctx context.Context, s *Scene) {
	if last := s.status().LookTime; last != nil && s.Now().Sub(last.Time) < lookInterval {
		return
	}
	_ = s.read(ctx, func(*v1alpha1.LinkedNodeStatus, v1alpha1.LinkProblem, string) {}) // see above
}

// ReadCounts reads each node's counters. After an error it is to be called again.
func ReadCounts(ctx context.Context, s *Scene) error {
	failed := s.missing()
	err := s.read(ctx, report)
	if err != nil {
		failed = err
	}
	return failed
}

// read the agents' counters, and report each node's problem.
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
	if state.Packets == nil { // it has not delayed yet: the counts are those of the agent before
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
