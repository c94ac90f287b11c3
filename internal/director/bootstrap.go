package director

import (
	"cmp"

	"replab.dev/internal/wire"
)

// chooseFirst makes the first node primary once all nodes answer.
func chooseFirst(s *situation) bool {
	if s.state.Epoch > 0 {
		return false
	}
	for _, n := range s.cfg.Nodes {
		if !s.healthy(n.Name) {
			s.say("waits until %s answers: %s", n.Name, s.see(n.Name).Err)
			return true
		}
	}
	if fenceIntruders(s) {
		return true
	}
	first := s.cfg.Nodes[0].Name
	for _, n := range s.cfg.Nodes[1:] {
		// Empty servers have no transactions. These have a past that this director does not know.
		if extra := s.see(n.Name).Received.Beyond(s.see(first).Executed); extra > 0 {
			s.say("%s has %d transactions that %s lacks, and no state says which is the primary: "+
				"restore the state, or start with empty volumes", n.Name, extra, first)
			return true
		}
	}
	s.state.Epoch, s.state.Primary, s.state.Opened = 1, first, false
	return s.record()
}

// bootstrap puts every node in its place before the first primary is opened, so that its first write is replicated.
func bootstrap(s *situation) bool {
	if s.state.Opened || s.failover() != nil {
		return false
	}
	p := s.primary()
	switch {
	case !s.healthy(s.state.Primary):
		s.say("waits until %s answers: %s", s.state.Primary, p.Err)
		return true
	case p.Writable: // opened before this director was started
		s.state.Opened = true
		return false
	case s.semiSyncIsOff() && s.do(actSemiSyncSource, s.state.Primary), followPrimary(s):
		return true
	}
	for _, r := range s.replicas() {
		if o := s.see(r); !s.healthy(r) || o.Source != s.state.Primary || !o.follows() {
			s.say("waits until %s replicates: %s", r, cmp.Or(o.Err, o.LastError, "its source is not connected yet"))
			return true
		}
	}
	if sync := s.cfg.SemiSync; sync != nil && p.SemiSyncClients < int64(sync.AckReplicas) {
		s.say("waits for %d replicas that acknowledge, has %d", sync.AckReplicas, p.SemiSyncClients)
		return true
	}
	s.do(actOpen, s.state.Primary)
	return true
}

// semiSyncIsOff tells that the primary does not wait for acknowledgements although it should.
func (s *situation) semiSyncIsOff() bool { return s.cfg.SemiSync != nil && !s.primary().SemiSyncSource }

// keepOpen opens the primary again when it came back read-only, as every server boots.
func keepOpen(s *situation) bool {
	if !s.state.Opened || !s.healthy(s.state.Primary) {
		return false
	}
	p := s.primary()
	if p.Writable {
		return s.semiSyncIsOff() && s.do(actSemiSyncSource, s.state.Primary)
	}
	if ahead := s.ahead(p.Executed); len(ahead) > 0 {
		s.say("%s came back without transactions that %s received from it; it stays closed, since its replicas would "+
			"silently differ from it", s.state.Primary, list(ahead))
		return false
	}
	s.say("%s is read-only and is opened again", s.state.Primary)
	return s.do(actOpen, s.state.Primary)
}

// followPrimary makes every live replica replicate from the primary.
func followPrimary(s *situation) bool {
	for _, r := range s.liveReplicas() {
		o := s.see(r)
		switch {
		case o.Source == s.state.Primary:
			if !o.started() && s.do(actStart, r) {
				return true
			}
		case !s.healthy(s.state.Primary):
			continue // what the replica has cannot be compared
		case !o.stopped():
			// Stopped first: what it executes must stand still to be compared.
			if s.do(actStop, r) {
				return true
			}
		case s.primary().Executed.Contains(o.Executed):
			if s.attach(r) {
				return true
			}
		}
	}
	return false
}

func (s *situation) attach(node string) bool {
	return s.doAct(act{Kind: actAttach, Node: node, From: s.state.Primary})
}

// fenceIntruders closes every node that is writable without being the primary.
func fenceIntruders(s *situation) bool {
	for _, n := range s.cfg.Nodes {
		if o := s.see(n.Name); n.Name != s.state.Primary && o.Answers && o.Writable {
			s.say("%s is writable without being the primary and is fenced", n.Name)
			if s.do(actFence, n.Name) {
				return true
			}
		}
	}
	return false
}

// stopIsolated stops the replication of nodes that are kept apart, as of one that was lost while it was promoted: what they have must stand
// still to be counted.
func stopIsolated(s *situation) bool {
	for _, n := range s.state.Nodes {
		if n.Role == wire.RoleIsolated && n.Rejoin == "" && s.healthy(n.Name) && !s.see(n.Name).stopped() && s.do(actStop, n.Name) {
			return true
		}
	}
	return false
}

// rebuild brings nodes that were kept apart back, once their ghosts were counted, as the operator says by /rejoin.
func rebuild(s *situation) bool {
	if !s.state.Opened || !s.healthy(s.state.Primary) {
		return false
	}
	for i := range s.state.Nodes {
		n := &s.state.Nodes[i]
		if n.Rejoin == wire.RejoinRequested {
			n.Rejoin = wire.RejoinCloning
			return s.record()
		}
		if n.Rejoin == wire.RejoinCloning && s.rebuildNode(n) {
			return true
		}
	}
	return false
}
