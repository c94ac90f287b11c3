package validation

import (
	"slices"

	"replab.dev/api/v1alpha1"
)

// A group of Galera goes on while more than half of its members hear each other. Members that leave in order, or were given up, are counted no more.
// Who is paused or cut off for a while comes back as a member; who is killed comes back as a new one.

// lostSince is when a member was lost to its group at a time, -1 while it is in it. A member that is given up shrinks the group.
func (m *simulator) lostSince(w *world, node int, at int64) (since int64, givenUp bool) {
	since = -1
	for _, e := range w.nodes[node] {
		if e.since > at || !m.loses(e, at) {
			continue
		}
		if since < 0 || e.since < since {
			since = e.since
		}
		givenUp = givenUp || e.action == v1alpha1.ActionDeletePod || (at-e.since)*1000 >= m.suspect
	}
	return since, givenUp
}

// loses tells whether an effect keeps its member away from the group at a time.
func (m *simulator) loses(e effect, at int64) bool {
	switch e.action {
	case v1alpha1.ActionKill:
		return at < e.until || (at-e.since < backAfter && (at-e.since)*1000 < m.suspect)
	case v1alpha1.ActionDeletePod:
		return at < e.until && e.since+leaveSeconds <= at
	case v1alpha1.ActionPause:
		return e.until == forever
	case v1alpha1.ActionPartition: // by zone: of those that are no part of the majority
		return e.until == forever && m.Faults[e.fault].PartitionFrom != v1alpha1.PartitionClients && m.Faults[e.fault].PartitionFrom != v1alpha1.PartitionZone
	}
	return false
}

// members is how many members a group has that nobody has given up.
func (m *simulator) members(w *world, at int64) int {
	count := m.n
	for n := range m.n {
		if m.givenUp(w, n, at) {
			count--
		}
	}
	return count
}

func (m *simulator) givenUp(w *world, node int, at int64) bool {
	_, up := m.lostSince(w, node, at)
	return up || m.outvoted(w, node, at)
}

// outvoted tells of a member that zones cut off for good, long enough ago, from a majority.
func (m *simulator) outvoted(w *world, node int, at int64) bool {
	old := func(e effect) bool { return e.until == forever && (at-e.since)*1000 >= m.suspect && e.since < at }
	if !m.cutByZone(w, old) {
		return false
	}
	for _, part := range m.split(w, allNodes(m.n), old) {
		if slices.Contains(part, node) {
			return 2*len(part) <= m.n && m.majorityIn(w, old)
		}
	}
	return false
}

func (m *simulator) cutByZone(w *world, counts func(effect) bool) bool {
	return slices.ContainsFunc(w.nodes, func(all []effect) bool {
		return slices.ContainsFunc(all, func(e effect) bool {
			return counts(e) && m.Faults[e.fault].PartitionFrom == v1alpha1.PartitionZone
		})
	})
}

func (m *simulator) majorityIn(w *world, counts func(effect) bool) bool {
	return slices.ContainsFunc(m.split(w, allNodes(m.n), counts), func(part []int) bool { return 2*len(part) > m.n })
}

// parts are the members of a group that hear each other at a time.
func (m *simulator) parts(w *world, at int64, counts func(effect) bool) [][]int {
	there := slices.DeleteFunc(allNodes(m.n), func(n int) bool {
		since, _ := m.lostSince(w, n, at)
		return since >= 0 || m.outvoted(w, n, at)
	})
	return m.split(w, there, counts)
}

// split nodes into those that are connected.
func (m *simulator) split(w *world, nodes []int, counts func(effect) bool) (parts [][]int) {
	for len(nodes) > 0 {
		part := []int{nodes[0]}
		nodes = nodes[1:]
		for i := 0; i < len(part); i++ {
			nodes = slices.DeleteFunc(slices.Clone(nodes), func(n int) bool {
				near := m.connected(w, part[i], n, counts)
				if near {
					part = append(part, n)
				}
				return near
			})
		}
		parts = append(parts, part)
	}
	return parts
}

// majorityLost tells whether a fault leaves a group without a majority while a member is held until the audit is done: it is begun anew only once
// all members have answered.
func (m *simulator) majorityLost(w *world, f v1alpha1.Fault) bool {
	if !m.galera() || m.n == 1 || !m.breaks(f) || !m.heldForGood(w) {
		return false
	}
	at := f.AtSeconds
	return !slices.ContainsFunc(m.parts(w, at, func(e effect) bool { return e.until == forever }), func(part []int) bool {
		return 2*len(part) > m.members(w, at)
	})
}

// breaks tells of a fault that a member does not come back from as a member.
func (m *simulator) breaks(f v1alpha1.Fault) bool {
	switch f.Action {
	case v1alpha1.ActionKill:
		return true
	case v1alpha1.ActionPause:
		return f.HoldSeconds < 0
	case v1alpha1.ActionPartition:
		return f.HoldSeconds < 0 && f.PartitionFrom != v1alpha1.PartitionClients
	}
	return false
}

func (m *simulator) heldForGood(w *world) bool {
	return slices.ContainsFunc(w.nodes, func(all []effect) bool {
		return slices.ContainsFunc(all, func(e effect) bool { return e.until == forever && (e.down() || e.cut.nodes != 0) })
	})
}
