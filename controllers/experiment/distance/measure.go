package distance

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/kube"
	"replab.dev/internal/topology"
	"replab.dev/internal/wire"
)

// pair of pods whose round trip is measured by the first pod's agent.
type pair struct {
	from, to    *corev1.Pod
	microsecond int64 // of the round trip, as asked for
}

// zone of a pod, "" for instruments and the failover manager.
func (s *Scene) zone(p *corev1.Pod) string {
	switch p.Labels[kube.LabelComponent] {
	case kube.ComponentNode:
		return topology.ZoneOf(s.Spec.Topology, slices.Index(s.Nodes, p.Name))
	case kube.ComponentProxy, kube.ComponentSocial:
		return s.Spec.App.Zone
	}
	return ""
}

// present reports whether a pod may send and receive.
func present(p *corev1.Pod) bool {
	return p.Status.PodIP != "" && p.Status.Phase != corev1.PodSucceeded && p.Status.Phase != corev1.PodFailed
}

// nodes are the pods of the nodes that are there, in the nodes' order.
func (s *Scene) nodes() []*corev1.Pod {
	var nodes []*corev1.Pod
	for _, name := range s.Nodes {
		for i := range s.Pods {
			if p := &s.Pods[i]; p.Name == name && present(p) {
				nodes = append(nodes, p)
			}
		}
	}
	return nodes
}

// missing is an error while a node has no address.
func (s *Scene) missing() error {
	if n := len(s.Nodes) - len(s.nodes()); n > 0 {
		return fmt.Errorf("%d nodes have no address", n)
	}
	return nil
}

func addresses(pods []*corev1.Pod) []string {
	ips := make([]string, len(pods))
	for i, p := range pods {
		ips[i] = p.Status.PodIP
	}
	return ips
}

// linked are the pods to which a node has a link, in the order of their names, with the round trip in microseconds.
func (s *Scene) linked(node *corev1.Pod, yield func(*corev1.Pod, int64) bool) {
	for i := range s.Pods {
		other := &s.Pods[i]
		if other.Name == node.Name || !present(other) {
			continue
		}
		if trip, ok := topology.RoundTrip(s.Spec.Topology, s.zone(node), s.zone(other)); ok && !yield(other, trip) {
			return
		}
	}
}

// links of a node. Two nodes delay half of the round trip each. Pods of app and proxy have no agent, so the node delays all of it.
func (s *Scene) links(node *corev1.Pod) wire.Links {
	l := wire.Links{PodUID: string(node.UID), Peers: []wire.Peer{}}
	if s.WithoutDistance {
		return l
	}
	s.linked(node, func(other *corev1.Pod, trip int64) bool {
		delay := trip
		if other.Labels[kube.LabelComponent] == kube.ComponentNode {
			delay /= 2
		}
		l.Peers = append(l.Peers, wire.Peer{Address: other.Status.PodIP, DelayMicroseconds: delay})
		return true
	})
	slices.SortFunc(l.Peers, byAddress)
	return l
}

func byAddress(a, b wire.Peer) int { return strings.Compare(a.Address, b.Address) }

// identity of a node's peers.
func identity(peers []wire.Peer) string {
	sum := sha256.Sum256(fmt.Append(nil, peers))
	return hex.EncodeToString(sum[:8])
}

// pairs that have a link, each once.
func (s *Scene) pairs() []pair {
	var pairs []pair
	for _, from := range s.nodes() {
		s.linked(from, func(to *corev1.Pod, trip int64) bool {
			if n := slices.Index(s.Nodes, to.Name); n < 0 || n > slices.Index(s.Nodes, from.Name) {
				pairs = append(pairs, pair{from, to, trip})
			}
			return true
		})
	}
	return pairs
}

// entry of a node in the status, which is made if it is not there.
func (s *Scene) entry(node string) *v1alpha1.LinkedNodeStatus {
	d := s.status()
	for i := range d.Nodes {
		if d.Nodes[i].Name == node {
			return &d.Nodes[i]
		}
	}
	d.Nodes = append(d.Nodes, v1alpha1.LinkedNodeStatus{Name: node})
	return &d.Nodes[len(d.Nodes)-1]
}

func (s *Scene) status() *v1alpha1.DistanceStatus {
	if *s.Status == nil {
		*s.Status = &v1alpha1.DistanceStatus{}
	}
	return *s.Status
}

// Round trips are measured by so many samples, so far apart.
const (
	samples              = 50
	intervalMilliseconds = 20
	// slackMilliseconds are added to the requested round trip as a sample's timeout.
	slackMilliseconds = 3000
)

// When in the run round trips are measured.
type When int

// Times of a measurement.
const (
	BeforeLoad When = iota
	// WithoutDistance is before the load, when the links are ended for its stages without distance.
	WithoutDistance
	AfterLoad
)

// Measure the round trips not measured yet, or off before the load. After an error it is to be called again.
func Measure(ctx context.Context, s *Scene, when When) error {
	var nodes []*corev1.Pod
	var calls []MeasureCall
	due := map[string][]pair{}
	for _, p := range s.pairs() {
		if s.measured(p, when) {
			continue
		}
		if len(due[p.from.Name]) == 0 {
			nodes = append(nodes, p.from)
		}
		due[p.from.Name] = append(due[p.from.Name], p)
	}
	for _, n := range nodes {
		calls = append(calls, call(n, due[n.Name]))
	}
	if len(calls) == 0 {
		return nil
	}
	return act(ctx, s, func(token string) []Measured { return s.Agents.MeasureRoundTrips(ctx, token, calls) }, func(i int, answer Measured) error {
		var failed error
		for j, p := range due[nodes[i].Name] {
			if err := s.note(p, when, j, answer); err != nil {
				failed = err
			}
		}
		return failed
	})
}

// Began reports whether every pair was at its distance before the load.
func Began(s *Scene) bool {
	for _, p := range s.pairs() {
		if !s.measured(p, BeforeLoad) {
			return false
		}
	}
	return true
}

// measured reports whether a pair needs no more measuring. After the load a wrong round trip stays.
func (s *Scene) measured(p pair, when When) bool {
	figures := *s.figures(p, when)
	return figures != nil && (when == AfterLoad || topology.TripKept(asked(p, when), figures.P50Microseconds))
}

// asked is the round trip in microseconds that a pair is to have.
func asked(p pair, when When) int64 {
	if when == WithoutDistance {
		return 0
	}
	return p.microsecond
}

func call(from *corev1.Pod, pairs []pair) MeasureCall {
	c := MeasureCall{PodIP: from.Status.PodIP, RoundTripRequest: wire.RoundTripRequest{Samples: samples, IntervalMilliseconds: intervalMilliseconds}}
	for _, p := range pairs {
		c.Addresses = append(c.Addresses, p.to.Status.PodIP)
		c.TimeoutMilliseconds = max(c.TimeoutMilliseconds, p.microsecond/1000+slackMilliseconds)
	}
	return c
}

// note takes the figures of a pair down. Half of the samples are enough for a median that says something.
func (s *Scene) note(p pair, when When, i int, answer Measured) error {
	e := s.roundTrip(p)
	why := "its agent answered for other addresses"
	switch {
	case answer.Err != nil:
		why = answer.Err.Error()
	case i < len(answer.RoundTrips.RoundTrips):
		t := answer.RoundTrips.RoundTrips[i]
		if t.Samples >= samples/2 {
			e.Note = ""
			*s.figures(p, when) = &v1alpha1.RoundTripFigures{Samples: t.Samples, P50Microseconds: t.P50Microseconds, P99Microseconds: t.P99Microseconds}
			if !s.measured(p, when) {
				return fmt.Errorf("the round trip from %s to %s is to be %d µs, and is %d µs", p.from.Name, p.to.Name, asked(p, when), t.P50Microseconds)
			}
			return nil
		}
		why = fmt.Sprintf("%d of %d samples were answered: %s", t.Samples, samples, t.Why)
	}
	e.Note = why
	return fmt.Errorf("measure the round trip from %s to %s: %s", p.from.Name, p.to.Name, why)
}

// roundTrip of a pair in the status, which is made if it is not there.
func (s *Scene) roundTrip(p pair) *v1alpha1.RoundTripStatus {
	d := s.status()
	for i := range d.RoundTrips {
		if r := &d.RoundTrips[i]; r.From == p.from.Name && r.To == p.to.Name {
			return r
		}
	}
	d.RoundTrips = append(d.RoundTrips, v1alpha1.RoundTripStatus{From: p.from.Name, To: p.to.Name, RequestedMicroseconds: p.microsecond})
	return &d.RoundTrips[len(d.RoundTrips)-1]
}

func (s *Scene) figures(p pair, when When) **v1alpha1.RoundTripFigures {
	r := s.roundTrip(p)
	switch when {
	case BeforeLoad:
		return &r.Before
	case WithoutDistance:
		return &r.WithoutDistance
	}
	return &r.After
}
