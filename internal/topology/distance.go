package topology

import (
	"slices"

	"replab.dev/api/v1alpha1"
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

// NodesIn a zone: how many there are.
func NodesIn(t v1alpha1.TopologySpec, zone string) int {
	for _, z := range t.Zones {
		if z.Name == zone {
			return len(z.Nodes)
		}
	}
	return 0
}

// NodesAcross a link from a zone: how many there are at its other end, 0 where it does not lead from there.
func NodesAcross(t v1alpha1.TopologySpec, l v1alpha1.Link, zone string) int {
	switch zone {
	case l.From:
		return NodesIn(t, l.To)
	case l.To:
		return NodesIn(t, l.From)
	}
	return 0
}

// A round trip may be off by 5%, at least by 1 ms.
const (
	tripTolerancePercent      = 5
	tripToleranceMicroseconds = 1000
)

// TripKept tells whether a round trip that was measured is the one that was asked for, both in microseconds.
func TripKept(asked, measured int64) bool {
	off := measured - asked
	return max(off, -off) <= max(asked*tripTolerancePercent/100, tripToleranceMicroseconds)
}

// FarthestNode is the longest round trip in microseconds between a zone and any node.
func FarthestNode(t v1alpha1.TopologySpec, zone string) int64 {
	var longest int64
	for node := range int(t.Replicas) + 1 {
		trip, _ := RoundTrip(t, zone, ZoneOf(t, node))
		longest = max(longest, trip)
	}
	return longest
}

// CommitRoundTrip is the round trip in microseconds that a commit on a node waits for at least, where nodes others must acknowledge it:
// that to the last of the nearest ones.
func CommitRoundTrip(t v1alpha1.TopologySpec, node, others int) int64 {
	var trips []int64
	for other := range int(t.Replicas) + 1 {
		if other != node {
			trip, _ := RoundTrip(t, ZoneOf(t, node), ZoneOf(t, other))
			trips = append(trips, trip)
		}
	}
	if others < 1 || others > len(trips) {
		return 0
	}
	slices.Sort(trips)
	return trips[others-1]
}
