package validation

import (
	"fmt"

	"replab.dev/api/v1alpha1"
)

// play refuses the faults that come to nothing, and those after which nobody could take writes until the audit is done.
func (m *simulator) play() {
	for _, number := range m.order() {
		f := m.Faults[number]
		m.follow(f.AtSeconds)
		if !m.merge() {
			return
		}
		m.refusePointless(number)
		fatal, majority, switched := true, true, true
		for _, w := range m.worlds {
			if f.Action == v1alpha1.ActionSwitchover {
				switched = switched && !m.canSwitch(w, f.AtSeconds)
				fatal, majority = false, false
				if w.lost < 0 {
					w.lost = f.AtSeconds
				}
				continue
			}
			m.hit(w, number, m.withZones(f, m.targets(w, f)))
			fatal = fatal && m.nobodyLeft(w, f)
			majority = majority && m.majorityLost(w, f)
		}
		path := at("faults", number)
		m.refuse(f.Action == v1alpha1.ActionSwitchover && switched, path.Child("action"),
			"no other node can take over at that moment: faults hold all others down or cut off. Move the switchover, or shorten the holds.")
		why := "no node is left that could take writes until the audit is done."
		if m.awaited(f.AtSeconds) > 0 {
			why = "commits wait until the audit is done for nodes that are gone."
		}
		m.refuse(fatal, path.Child("holdSeconds"), why+" Give the hold an end, or spare a node.")
		m.refuse(majority && !fatal, path, "the group loses its majority for good, and nobody would take writes again. Give the holds an end, or lose fewer members at a time.")
	}
}

// refusePointless refuses a fault that changes nothing in any world, and says why in the first.
func (m *simulator) refusePointless(number int) {
	f := m.Faults[number]
	if f.Action == v1alpha1.ActionSwitchover {
		return
	}
	why := ""
	for _, w := range m.worlds {
		now := m.pointless(w, f)
		if now == "" {
			return
		}
		if why == "" {
			why = now
		}
	}
	m.refuse(true, at("faults", number), why)
}

// pointless says why a fault changes nothing, "" where it does something to every node that it hits.
func (m *simulator) pointless(w *world, f v1alpha1.Fault) string {
	targets := m.targets(w, f)
	if len(targets) == 0 {
		return "no replica is up at that moment: earlier faults hold all of them. Start it later, or shorten the holds."
	}
	for _, n := range m.withZones(f, targets) {
		if e := m.covering(w, f, n); e != nil {
			return m.stillHeld(f, n, *e)
		}
	}
	return ""
}

// stillHeld says which earlier fault leaves nothing to do to a node.
func (m *simulator) stillHeld(f v1alpha1.Fault, node int, e effect) string {
	state := "down"
	switch e.action {
	case v1alpha1.ActionPartition:
		state = "cut off"
	case v1alpha1.ActionPause:
		state = "paused"
	}
	if e.since == f.AtSeconds {
		return fmt.Sprintf("faults[%d] hits node %d in the same second, so nothing is left to do. Choose another second or node.", e.fault, node)
	}
	return fmt.Sprintf("node %d is still %s from faults[%d] at %d s. Start it later or shorten the first.", node, state, e.fault, f.AtSeconds)
}

// covering is the effect that leaves nothing to do for a fault on a node, nil without one.
func (m *simulator) covering(w *world, f v1alpha1.Fault, node int) *effect {
	if f.Action == v1alpha1.ActionPartition {
		if e := m.outlasting(w, f, node); e != nil || !w.cuts(node, f.AtSeconds).covers(m.cutOf(f, node)) {
			return e
		}
		return w.find(node, f.AtSeconds, func(e effect) bool { return e.action == v1alpha1.ActionPartition })
	}
	return w.find(node, f.AtSeconds, func(e effect) bool {
		switch e.action {
		case f.Action:
			return true
		case v1alpha1.ActionKill:
			return f.Action == v1alpha1.ActionKillServer || f.Action == v1alpha1.ActionPause
		case v1alpha1.ActionDeletePod:
			return f.Action != v1alpha1.ActionDeletePod && e.since < f.AtSeconds
		}
		return false
	})
}

// outlasting is the effect that keeps a server gone for as long as a partition cuts it off. A leader that was just lost still has a part in who follows.
func (m *simulator) outlasting(w *world, f v1alpha1.Fault, node int) *effect {
	end := f.AtSeconds + f.HoldSeconds
	if f.HoldSeconds < 0 {
		end = forever
	}
	if node == w.leader && m.Topology.Failover != v1alpha1.FailoverNone {
		return nil
	}
	return w.find(node, f.AtSeconds, func(e effect) bool {
		gone := e.action == v1alpha1.ActionKill || e.action == v1alpha1.ActionDeletePod && e.since+leaveSeconds <= f.AtSeconds
		return gone && e.since < f.AtSeconds && e.until >= end
	})
}

// nobodyLeft tells whether a hold until the audit is done leaves no node that could take writes.
func (m *simulator) nobodyLeft(w *world, f v1alpha1.Fault) bool {
	if f.HoldSeconds >= 0 {
		return false
	}
	left, able := 0, false
	for n := range m.n {
		if m.goneForGood(w, n) {
			continue
		}
		left++
		able = able || n == w.leader || m.Topology.Failover != v1alpha1.FailoverNone // else it is not promoted
	}
	return !able || left <= m.awaited(f.AtSeconds)
}

// awaited is how many other nodes a commit waits for until the end of the load, whatever happens to them.
func (m *simulator) awaited(at int64) int {
	if p := m.Topology.Patroni; p != nil && p.Strict && p.SynchronousMode != modeOff {
		return 1 // Patroni lowers the number, but not to 0
	}
	if acks, timeout := m.semiSync(); timeout >= (m.Load.Seconds()-at)*1000 {
		return int(acks)
	}
	return 0
}

// goneForGood tells whether a node takes no writes until the audit is done.
func (m *simulator) goneForGood(w *world, node int) bool {
	var cut cutOff
	for _, e := range w.nodes[node] {
		if e.until == forever && e.down() {
			return true
		}
		if e.until == forever {
			cut = cut.join(e.cut)
		}
	}
	return !m.galera() && m.out(cut)
}

// canSwitch tells whether the leader could hand over to another node.
func (m *simulator) canSwitch(w *world, at int64) bool {
	away := func(n int) bool { return w.held(n, at) != nil || m.apart(w, n, at) }
	if m.galera() {
		for _, part := range m.parts(w, at, func(e effect) bool { return e.active(at) }) {
			able := 0
			for _, n := range part {
				if !away(n) {
					able++
				}
			}
			if 2*len(part) > m.members(w, at) && able > 1 {
				return true
			}
		}
		return false
	}
	if away(w.leader) {
		return false
	}
	for n := range m.n {
		if n != w.leader && !away(n) && m.connected(w, n, w.leader, func(e effect) bool { return e.active(at) }) {
			return true
		}
	}
	return false
}

// apart tells of a node that is cut off from all other nodes, or from who decides.
func (m *simulator) apart(w *world, node int, at int64) bool {
	return w.find(node, at, func(e effect) bool {
		switch m.Faults[e.fault].PartitionFrom {
		case v1alpha1.PartitionPeers, v1alpha1.PartitionEveryone, v1alpha1.PartitionStore:
			return true
		}
		return false
	}) != nil
}

// connected tells whether neither of two nodes keeps the other away by an effect that counts.
func (m *simulator) connected(w *world, a, b int, counts func(effect) bool) bool {
	cuts := func(from, to int) bool {
		for _, e := range w.nodes[from] {
			if counts(e) && e.cut.nodes&(1<<to) != 0 {
				return true
			}
		}
		return false
	}
	return !cuts(a, b) && !cuts(b, a)
}
