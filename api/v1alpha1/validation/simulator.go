package validation

import (
	"cmp"
	"slices"

	"replab.dev/api/v1alpha1"
)

// The simulator plays the faults in their order and follows which nodes are down, cut off or leading. Which node leads after a failover is not
// known before a run, so it follows every node that may: each is a world of its own. A fault is wrong where it is so in every world.

const (
	seenDownAfter = 3 // seconds until a node that is held down counts as down
	leaveSeconds  = 5 // in which a member of a group leaves it in order
	backAfter     = 3 // seconds that a server is away that is killed and not held
	mostWorlds    = 1024
	forever       = int64(1) << 40 // the end of a hold until the audit is done
)

// simulator of one spec.
type simulator struct {
	*spec
	n       int
	worlds  []*world
	named   uint16 // nodes that faults name by their number
	longest int64  // milliseconds until a lost leader has certainly been replaced
	suspect int64  // milliseconds until a silent member of a group is given up
}

func newSimulator(s *spec) *simulator {
	m := &simulator{spec: s, n: int(s.Topology.Nodes), suspect: 5000}
	d := s.Topology.Director
	m.longest = d.LeaseMilliseconds + d.PeriodMilliseconds*int64(d.FailureThreshold) + 2001
	if s.postgres() {
		m.longest = 42_001
		if p := s.Topology.Patroni; p != nil {
			m.longest = (p.TTLSeconds+p.LoopWaitSeconds)*1000 + 2001
		}
	}
	if s.galera() {
		if g := s.Topology.Galera; g != nil && g.SuspectTimeoutMilliseconds > 0 {
			m.suspect = g.SuspectTimeoutMilliseconds
		}
		m.longest = m.suspect + 15_000
	}
	for _, f := range s.Faults {
		if f.Node != nil {
			m.named |= 1 << *f.Node
		}
	}
	first := []int{0} // the first leader; with Patroni nobody knows
	if s.postgres() && s.Topology.Failover != v1alpha1.FailoverNone {
		first = m.distinct(&world{nodes: make([][]effect, m.n)}, allNodes(m.n))
	}
	for _, leader := range first {
		m.worlds = append(m.worlds, &world{nodes: make([][]effect, m.n), leader: leader, lost: -1})
	}
	return m
}

func allNodes(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// order in which faults are played: a switchover of the same second comes after the others.
func (m *simulator) order() []int {
	order := allNodes(len(m.Faults))
	late := func(i int) int {
		if m.Faults[i].Action == v1alpha1.ActionSwitchover {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(m.Faults[a].AtSeconds, m.Faults[b].AtSeconds), late(a)-late(b))
	})
	return order
}

// distinct leaves of nodes one of each kind: nodes in the same zone to which the same has happened, and which nobody names, are alike.
func (m *simulator) distinct(w *world, nodes []int) (kept []int) {
	for _, n := range nodes {
		if m.named&(1<<n) != 0 || !slices.ContainsFunc(kept, func(k int) bool { return m.alike(w, k, n) }) {
			kept = append(kept, n)
		}
	}
	return kept
}

func (m *simulator) alike(w *world, a, b int) bool {
	return m.named&(1<<a|1<<b) == 0 && m.zone(a) == m.zone(b) && slices.Equal(w.nodes[a], w.nodes[b])
}

// follow makes the worlds of a time: in each a leader that was lost may have been replaced, and has been once that is certain.
func (m *simulator) follow(at int64) {
	var next []*world
	for _, w := range m.worlds {
		if w.lost < 0 || w.lost >= at || m.Topology.Failover == v1alpha1.FailoverNone {
			next = append(next, w)
			continue
		}
		heirs := m.distinct(w, slices.DeleteFunc(allNodes(m.n), func(n int) bool { return n == w.leader || !m.mayLead(w, n, at) }))
		if len(heirs) == 0 || m.mayLead(w, w.leader, at) || (at-w.lost)*1000 < m.longest {
			next = append(next, w)
		}
		for _, n := range heirs {
			c := w.clone()
			c.leader, c.lost = n, -1
			next = append(next, c)
		}
	}
	m.worlds = next
}

// mayLead tells whether a node could take writes at a time.
func (m *simulator) mayLead(w *world, node int, at int64) bool {
	return w.held(node, at) == nil && (!m.out(w.cuts(node, at)) || m.galera())
}

// out tells of a node that is cut off from who would have it take writes.
func (m *simulator) out(c cutOff) bool {
	if m.postgres() {
		failsafe := m.Topology.Patroni != nil && m.Topology.Patroni.FailsafeMode
		return c.store && (m.n == 1 || !failsafe)
	}
	if m.dualPrimary() {
		return c.clients
	}
	return c.manager
}

// targets of a fault in a world. For a replica that is the first which no other fault has, while there is such a one.
func (m *simulator) targets(w *world, f v1alpha1.Fault) []int {
	at := f.AtSeconds
	switch f.Target {
	case v1alpha1.TargetPrimary:
		return []int{w.leader}
	case v1alpha1.TargetNode:
		return []int{int(*f.Node)}
	}
	replicas := slices.DeleteFunc(allNodes(m.n), func(n int) bool { return n == w.leader })
	if f.Target == v1alpha1.TargetAllReplicas {
		return slices.DeleteFunc(replicas, func(n int) bool { return m.seenDown(w, n, at, seenDownAfter) })
	}
	free := slices.IndexFunc(replicas, func(n int) bool { return w.find(n, at, func(effect) bool { return true }) == nil })
	if free < 0 {
		free = slices.IndexFunc(replicas, func(n int) bool { return !m.seenDown(w, n, at, 1) })
	}
	if free < 0 {
		return nil
	}
	return replicas[free : free+1]
}

// seenDown tells whether a node counts as down: it has been held down for so many seconds, or its manager has not reached it for a while.
func (m *simulator) seenDown(w *world, node int, at, seconds int64) bool {
	if h := w.held(node, at); h != nil && h.since+seconds <= at {
		return true
	}
	return m.replication() && w.find(node, at, func(e effect) bool { return e.cut.manager && e.since+seenDownAfter <= at }) != nil
}

// cutOf is whom a partition keeps away from a node.
func (m *simulator) cutOf(f v1alpha1.Fault, node int) cutOff {
	others := uint16(1<<m.n-1) &^ (1 << node)
	switch f.PartitionFrom {
	case v1alpha1.PartitionPeers:
		return cutOff{nodes: others}
	case v1alpha1.PartitionClients:
		return cutOff{clients: true}
	case v1alpha1.PartitionEveryone:
		return cutOff{nodes: others, clients: true, manager: true, store: true}
	case v1alpha1.PartitionStore:
		return cutOff{store: true}
	}
	for _, n := range m.together(node) {
		others &^= 1 << n
	}
	return cutOff{nodes: others}
}

// together are the nodes of a node's zone, itself included.
func (m *simulator) together(node int) []int {
	z := m.zone(node)
	if z < 0 {
		return []int{node}
	}
	return slices.DeleteFunc(allNodes(m.n), func(n int) bool { return m.zone(n) != z })
}

// withZones adds the nodes that a partition by zone cuts off together with its targets.
func (m *simulator) withZones(f v1alpha1.Fault, targets []int) []int {
	if f.PartitionFrom != v1alpha1.PartitionZone {
		return targets
	}
	var all []int
	for _, t := range targets {
		all = append(all, m.together(t)...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// hit lets a fault happen to its targets.
func (m *simulator) hit(w *world, number int, targets []int) {
	f := m.Faults[number]
	e := effect{fault: number, action: f.Action, since: f.AtSeconds, until: f.AtSeconds + f.HoldSeconds}
	if f.HoldSeconds < 0 {
		e.until = forever
	}
	for _, n := range targets {
		own := e
		if f.Action == v1alpha1.ActionPartition {
			own.cut = m.cutOf(f, n)
		}
		w.nodes[n] = append(slices.Clip(w.nodes[n]), own)
		if n == w.leader && w.lost < 0 && m.moves(f) {
			w.lost = f.AtSeconds
		}
	}
}

// moves tells of a fault after which another node may lead.
func (m *simulator) moves(f v1alpha1.Fault) bool {
	if m.dualPrimary() && f.Action == v1alpha1.ActionPartition {
		return m.cutOf(f, 0).clients
	}
	switch f.PartitionFrom {
	case v1alpha1.PartitionClients:
		return false
	case v1alpha1.PartitionZone: // the manager still reaches the leader; members of a group decide among themselves
		return m.galera()
	}
	return true
}

// merge worlds that are the same. It fails where there are too many to follow.
func (m *simulator) merge() bool {
	type led struct {
		leader int
		lost   int64
	}
	var kept []*world
	known := map[led][]*world{}
	for _, w := range m.worlds {
		by := led{w.leader, w.lost}
		if slices.ContainsFunc(known[by], func(k *world) bool { return slices.EqualFunc(k.nodes, w.nodes, slices.Equal[[]effect]) }) {
			continue
		}
		kept, known[by] = append(kept, w), append(known[by], w)
		if len(kept) > mostWorlds {
			return false
		}
	}
	m.worlds = kept
	return true
}
