package topology

import (
	"slices"
	"strings"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/kube"
)

// ZoneOf a node by its number, "" when it is in none.
func ZoneOf(t v1alpha1.TopologySpec, node int) string {
	for _, z := range t.Zones {
		if slices.Contains(z.Nodes, int32(node)) {
			return z.Name
		}
	}
	return ""
}

// RoundTrip between two zones in microseconds, as asked for. It is 0, and none, within a zone, to no zone, and between zones without a
// link.
func RoundTrip(t v1alpha1.TopologySpec, a, b string) (microseconds int64, linked bool) {
	for _, l := range t.Links {
		if l.From == a && l.To == b || l.From == b && l.To == a {
			return int64(l.RoundTripMilliseconds) * 1000, true
		}
	}
	return 0, false
}

// Pair is the two ends of a link whose round trip is measured: from a node, to another one or to the pods of app or proxy.
type Pair struct {
	From string
	// To is a node, or what the names of the pods begin with: Pods tells.
	To   string
	Pods bool
	// Microseconds of the round trip, as asked for.
	Microseconds int64
}

// Is tells whether a measurement from a pod to another one is of the pair.
func (p Pair) Is(from, to string) bool {
	return p.From == from && (p.To == to || p.Pods && strings.HasPrefix(to, p.To))
}

// Pairs that topology.links ask for, each once: of nodes, whose names are in their order, and of each node with the app and its proxy.
func Pairs(spec v1alpha1.ReplicationExperimentSpec, experiment string, nodes []string) []Pair {
	var pairs []Pair
	t, clients := spec.Topology, []string{kube.ComponentSocial}
	if spec.Routing.Proxy != v1alpha1.ProxyNone {
		clients = append(clients, kube.ComponentProxy)
	}
	for a, from := range nodes {
		for b := a + 1; b < len(nodes); b++ {
			if trip, linked := RoundTrip(t, ZoneOf(t, a), ZoneOf(t, b)); linked {
				pairs = append(pairs, Pair{From: from, To: nodes[b], Microseconds: trip})
			}
		}
		if trip, linked := RoundTrip(t, ZoneOf(t, a), spec.App.Zone); linked {
			for _, c := range clients {
				pairs = append(pairs, Pair{From: from, To: experiment + "-" + c + "-", Pods: true, Microseconds: trip})
			}
		}
	}
	return pairs
}

// A round trip may be longer by 5%, at least by 1 ms.
const (
	tripTolerancePercent      = 5
	tripToleranceMicroseconds = 1000
)

// TripKept tells whether a measured round trip is the one that was asked for, both in microseconds. Packets are held up for the whole delay,
// so it may be shorter by no more than 5%: a link of 1 ms that is not there must show.
func TripKept(asked, measured int64) bool {
	tolerance := asked * tripTolerancePercent / 100
	return measured >= asked-tolerance && measured <= asked+max(tolerance, tripToleranceMicroseconds)
}

// FarthestNode is the longest round trip in microseconds between a zone and any node.
func FarthestNode(t v1alpha1.TopologySpec, zone string) int64 {
	var longest int64
	for node := range int(t.Nodes) {
		trip, _ := RoundTrip(t, zone, ZoneOf(t, node))
		longest = max(longest, trip)
	}
	return longest
}

// NodeTrip is the round trip in microseconds between two nodes.
type NodeTrip func(a, b int) int64

// Asked is the round trip between two nodes as topology.links ask for it.
func Asked(t v1alpha1.TopologySpec) NodeTrip {
	return func(a, b int) int64 {
		trip, _ := RoundTrip(t, ZoneOf(t, a), ZoneOf(t, b))
		return trip
	}
}

// CommitRoundTrip is the round trip in microseconds that a commit on a node waits for at least, where so many others of all nodes must
// acknowledge it: that to the last of the nearest ones.
func CommitRoundTrip(nodes, node, others int, between NodeTrip) int64 {
	var trips []int64
	for other := range nodes {
		if other != node {
			trips = append(trips, between(node, other))
		}
	}
	if others < 1 || others > len(trips) {
		return 0
	}
	slices.Sort(trips)
	return trips[others-1]
}
