package validation

import (
	"slices"

	"replab.dev/api/v1alpha1"
)

// effect is what a fault did to one node.
type effect struct {
	fault  int // its number in the spec
	action v1alpha1.FaultAction
	since  int64
	until  int64  // not included
	cut    cutOff // of a partition
}

// cutOff is whom a node's agent keeps away.
type cutOff struct {
	nodes                   uint16 // a bit each
	clients, manager, store bool
}

// covers tells whether another partition adds nothing.
func (c cutOff) covers(other cutOff) bool {
	return other.nodes&^c.nodes == 0 && (c.clients || !other.clients) && (c.manager || !other.manager) && (c.store || !other.store)
}

func (c cutOff) join(other cutOff) cutOff {
	return cutOff{c.nodes | other.nodes, c.clients || other.clients, c.manager || other.manager, c.store || other.store}
}

// active tells whether an effect is there at a time. What takes no time is there in its own second.
func (e effect) active(at int64) bool { return e.since == at || at < e.until }

// down tells of an effect that keeps the server from running.
func (e effect) down() bool {
	return e.action == v1alpha1.ActionKill || e.action == v1alpha1.ActionDeletePod || e.action == v1alpha1.ActionPause
}

// world is one way in which a run may go.
type world struct {
	nodes  [][]effect
	leader int
	// lost is when the leader was lost, -1 while it is in its place. Until it is certain who follows it, anybody may have.
	lost int64
}

func (w *world) clone() *world {
	c := &world{leader: w.leader, lost: w.lost, nodes: make([][]effect, len(w.nodes))}
	for i := range w.nodes {
		c.nodes[i] = slices.Clip(w.nodes[i])
	}
	return c
}

// find the effect of a node that is active and as asked for.
func (w *world) find(node int, at int64, as func(effect) bool) *effect {
	for i := range w.nodes[node] {
		if e := &w.nodes[node][i]; e.active(at) && as(*e) {
			return e
		}
	}
	return nil
}

// held finds the effect that holds a node's server down, beyond the second in which it began.
func (w *world) held(node int, at int64) *effect {
	return w.find(node, at, func(e effect) bool { return e.down() && at < e.until })
}

// cuts are all that keeps a node away from others.
func (w *world) cuts(node int, at int64) (all cutOff) {
	for _, e := range w.nodes[node] {
		if e.active(at) {
			all = all.join(e.cut)
		}
	}
	return all
}
