package distance

import (
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
