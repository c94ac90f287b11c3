package validation

import (
	"fmt"
	"slices"

	"replab.dev/api/v1alpha1"
)

// Longest round trips, in milliseconds, over which parts were seen to work.
const (
	patroniReach  = 500
	galeraReach   = 300
	proxySQLReach = 600
	clientReach   = 900
)

// distance: zones and links that lead nowhere, or farther than the parts work.
func distance(s *spec) {
	zones(s)
	zone := s.App.Zone
	if zone != "" && !s.hasZone(zone) {
		s.refuse(true, at("app.zone"), fmt.Sprintf("zone %s is not in topology.zones. Add it, with nodes or without, or remove app.zone.", zone))
	} else {
		s.refuse(zone != "" && len(s.Topology.Links) == 0, at("app.zone"), "without topology.links no zone is at a distance, so this changes nothing. Add links, or remove it.")
	}
	longest := int32(0)
	for i, l := range s.Topology.Links {
		link(s, i, l)
		if zone != "" && (l.From == zone || l.To == zone) {
			longest = max(longest, l.RoundTripMilliseconds)
		}
	}
	least := (int64(longest)*5 + 3) / 4
	s.refuse(s.Routing.Proxy != v1alpha1.ProxyNone && least > s.Routing.Check.IntervalMilliseconds, at("routing.check.intervalMilliseconds"),
		fmt.Sprintf("a check must connect before the next begins. Use at least %d, 1.25 times the longest link of app.zone, or proxy None.", least))
	acknowledged(s)
}

func (s *spec) hasZone(name string) bool {
	return slices.ContainsFunc(s.Topology.Zones, func(z v1alpha1.Zone) bool { return z.Name == name })
}

// inhabited tells whether a zone has nodes.
func (s *spec) inhabited(name string) bool {
	return slices.ContainsFunc(s.Topology.Zones, func(z v1alpha1.Zone) bool { return z.Name == name && len(z.Nodes) > 0 })
}

func zones(s *spec) {
	seen := map[int32]string{}
	for i, z := range s.Topology.Zones {
		for j, n := range z.Nodes {
			path := at("topology.zones", i, "nodes", j)
			s.refuse(n < 0 || n >= s.Topology.Nodes, path, fmt.Sprintf("there is no node %d. Nodes are numbered 0, the first primary, to %d.", n, s.Topology.Nodes-1))
			other, twice := seen[n]
			s.refuse(twice, path, fmt.Sprintf("node %d is in zone %s too. Leave it in one.", n, other))
			seen[n] = z.Name
		}
	}
}

func link(s *spec, i int, l v1alpha1.Link) {
	path := at("topology.links", i)
	if !s.hasZone(l.From) || !s.hasZone(l.To) {
		s.refuse(true, path, "a link leads from one of topology.zones to another. Add the zone, or correct from and to.")
		return
	}
	for j, other := range s.Topology.Links[:i] {
		s.refuse(l.From != l.To && (other.From == l.From && other.To == l.To || other.From == l.To && other.To == l.From), path,
			fmt.Sprintf("links[%d] already joins these zones, and a link covers both directions. Keep one.", j))
	}
	for _, name := range []string{l.From, l.To} {
		s.refuse(!s.inhabited(name) && s.App.Zone != name, path,
			fmt.Sprintf("neither a node nor the app is in zone %s. Put a node there, set app.zone, or remove the link.", name))
	}
	if l.From != l.To {
		reach(s, i, l)
	}
}

// reach: links that are longer than who is at their ends can bear.
func reach(s *spec, i int, l v1alpha1.Link) {
	path, ms := at("topology.links", i, "roundTripMilliseconds"), int64(l.RoundTripMilliseconds)
	nodes := s.inhabited(l.From) && s.inhabited(l.To)
	s.refuse(nodes && s.postgres() && ms > patroniReach, path, "Patroni gives each node 2 s to answer, its connection included. Use at most 500 ms.")
	if nodes && s.galera() {
		most := int64(galeraReach)
		if g := s.Topology.Galera; g != nil && g.SuspectTimeoutMilliseconds > 0 && g.SuspectTimeoutMilliseconds < 5*most {
			most = g.SuspectTimeoutMilliseconds / 5
		}
		patience := ""
		if most < galeraReach {
			patience = fmt.Sprintf(", or up to %d with galera.suspectTimeoutMilliseconds %d", galeraReach, 5*galeraReach)
		}
		s.refuse(ms > most, path, fmt.Sprintf("members do not hear each other in time beyond %d ms. Use at most %[1]d%s.", most, patience))
	}
	if s.App.Zone == "" || l.From != s.App.Zone && l.To != s.App.Zone {
		return
	}
	s.refuse(s.Routing.Proxy == v1alpha1.ProxyProxySQL && ms > proxySQLReach, path, "ProxySQL does not keep connections over more than 600 ms. Use a shorter link, HAProxy or None.")
	s.refuse(ms > clientReach, path, "the app's clients give up before an answer over more than 900 ms. Use a shorter link.")
}

// acknowledged: commits that would each wait for the timeout, since the acknowledgement comes later.
func acknowledged(s *spec) {
	t := s.Topology
	if t.Type != v1alpha1.TopologySemiSync {
		return
	}
	acks, timeout := s.semiSync()
	var trips []int64
	for n := 1; n < int(t.Nodes); n++ {
		trips = append(trips, s.roundTrip(0, n))
	}
	if acks < 1 || int(acks) > len(trips) {
		return
	}
	slices.Sort(trips)
	awaited := trips[acks-1]
	s.refuse(awaited > 0 && awaited >= timeout, at("topology.semiSync.timeoutMilliseconds"),
		fmt.Sprintf("every acknowledgement would come too late. Use more than %d, the round trip that commits wait for, or a shorter link.", awaited))
}

// roundTrip between two nodes, by the links between their zones.
func (s *spec) roundTrip(a, b int) int64 {
	za, zb := s.zone(a), s.zone(b)
	if za < 0 || zb < 0 {
		return 0
	}
	from, to := s.Topology.Zones[za].Name, s.Topology.Zones[zb].Name
	for _, l := range s.Topology.Links {
		if l.From == from && l.To == to || l.From == to && l.To == from {
			return int64(l.RoundTripMilliseconds)
		}
	}
	return 0
}
