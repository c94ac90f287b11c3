package director

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/wire"
)

// assess brings what the state tells of the nodes up to what was seen. It makes no intent.
func (s *situation) assess() {
	s.state.Message = ""
	s.orderNodes()
	for i := range s.state.Nodes {
		n := &s.state.Nodes[i]
		if n.Rejoin == wire.RejoinDone && s.hasExtra(n.Name) {
			n.Rejoin, n.GhostTransactions = "", nil // it was rebuilt once, and is to be again
		}
		n.Role, n.Why = s.roleOf(n)
		n.CaughtUp = s.caughtUp(n)
		if n.Role == wire.RoleIsolated {
			s.countGhosts(n)
		}
	}
	following := s.allFollow()
	if f := s.failover(); f != nil && s.state.Opened && f.RepointedAt == nil && following {
		at := s.now()
		f.RepointedAt = &at
	}
	if s.state.Opened && s.healthy(s.state.Primary) && s.primary().Writable && following &&
		len(s.liveReplicas()) == len(s.cfg.Nodes)-1 {
		s.state.Configured = true
	}
	s.endSwitchover()
	s.noteAbsences()
}

// orderNodes gives every configured node its entry, in the order of the configuration.
func (s *situation) orderNodes() {
	nodes := make([]wire.NodeView, 0, len(s.cfg.Nodes))
	for _, c := range s.cfg.Nodes {
		i := slices.IndexFunc(s.state.Nodes, func(n wire.NodeView) bool { return n.Name == c.Name })
		if i < 0 {
			nodes = append(nodes, wire.NodeView{Name: c.Name, Role: wire.RoleDown})
			continue
		}
		nodes = append(nodes, s.state.Nodes[i])
	}
	s.state.Nodes = nodes
}

// roleOf returns a node's role and what is to be said about it. A few failed looks do not change a role.
func (s *situation) roleOf(n *wire.NodeView) (wire.Role, string) {
	o := s.see(n.Name)
	switch {
	case s.failing(n.Name), o.dead():
		return wire.RoleDown, absence(o)
	case !s.healthy(n.Name):
		return n.Role, cmp.Or(n.Why, absence(o))
	case s.setAside(n.Name) || s.hasExtra(n.Name):
		return wire.RoleIsolated, s.isolation(n)
	case n.Name == s.state.Primary:
		return s.roleOfPrimary(o)
	case !s.state.Configured && (s.state.Epoch == 0 || o.Source != s.state.Primary):
		return wire.RoleDown, "is not configured yet"
	}
	if o.Source == s.state.Primary && o.follows() {
		return wire.RoleReader, ""
	}
	return wire.RoleReader, cmp.Or(o.LastError, "does not replicate from the primary at the moment")
}

func (s *situation) roleOfPrimary(o observation) (wire.Role, string) {
	switch {
	case !s.state.Opened && s.failover() == nil:
		return wire.RoleDown, "is not configured yet"
	case !s.state.Opened:
		return wire.RoleReader, "is being promoted"
	case !o.Writable:
		return wire.RoleWriter, "is read-only"
	}
	return wire.RoleWriter, ""
}

// absence says why a node is down.
func absence(o observation) string {
	why := cmp.Or(o.Err, "was not seen yet")
	if o.dead() {
		why = "its server does not run"
	}
	if o.Agent != nil && len(o.Agent.Holds) > 0 {
		why += ", held by fault " + strings.Join(o.Agent.Holds, ", ")
	}
	return why
}

// isolation says why a node is kept apart; a reason that only the moment of failure knew is kept.
func (s *situation) isolation(n *wire.NodeView) string {
	switch n.Rejoin {
	case wire.RejoinFailed:
		return cmp.Or(n.Why, "could not be rebuilt; ask for /rejoin to try again")
	case wire.RejoinRequested, wire.RejoinCloning:
		return "is being rebuilt"
	}
	if s.wasLost(n.Name) {
		return "is an old primary, kept apart until /rejoin"
	}
	return "has transactions that the primary has not, kept apart until /rejoin"
}

// hasExtra tells that a replica whose replication stands still executed something that the open primary did not: a
// replica that was away during a failover and had received more than the one that was chosen.
func (s *situation) hasExtra(name string) bool {
	o := s.see(name)
	return s.state.Opened && name != s.state.Primary && o.Source != s.state.Primary && o.stopped() &&
		s.healthy(s.state.Primary) && !s.primary().Executed.Contains(o.Executed)
}

// countGhosts counts the transactions that an isolated node alone has, once it is closed and both could be asked.
func (s *situation) countGhosts(n *wire.NodeView) {
	o := s.see(n.Name)
	if n.Rejoin != "" && n.GhostTransactions != nil {
		return // the rebuilding may have begun to change what it has
	}
	if s.healthy(n.Name) && !o.Writable && o.stopped() && s.state.Opened && s.healthy(s.state.Primary) {
		ghosts := o.Executed.Beyond(s.primary().Executed)
		n.GhostTransactions = &ghosts
	}
}

func (s *situation) caughtUp(n *wire.NodeView) bool {
	o := s.see(n.Name)
	return n.Role == wire.RoleReader && n.Name != s.state.Primary && s.healthy(n.Name) && o.Source == s.state.Primary &&
		s.healthy(s.state.Primary) && o.Executed.Contains(s.primary().Executed)
}

// allFollow tells that every live replica replicates from the primary; true without one.
func (s *situation) allFollow() bool {
	return !slices.ContainsFunc(s.liveReplicas(), func(r string) bool {
		o := s.see(r)
		return o.Source != s.state.Primary || !o.follows()
	})
}

// stamp notes in the state what an act that succeeded, and ended now, means.
func stamp(state wire.DirectorState, a act, now time.Time) wire.DirectorState {
	state = copyState(state)
	at := microTime(now)
	var f *wire.DirectedFailover
	if n := len(state.Failovers); n > 0 && state.Failovers[n-1].Epoch == state.Epoch {
		f = &state.Failovers[n-1]
	}
	switch {
	case a.Kind == actFence && f != nil && f.OldPrimary == a.Node && f.FencedAt == nil:
		f.FencedAt = &at
	case a.Kind == actPromote && f != nil && state.Primary == a.Node:
		state.Opened, f.PromotedAt = true, &at
	case a.Kind == actOpen && state.Primary == a.Node:
		state.Opened = true
	}
	return state
}

// noteAbsences keeps account of when nodes leave their places and are back.
func (s *situation) noteAbsences() {
	if !s.state.Configured {
		return
	}
	for _, n := range s.cfg.Nodes {
		away := openAbsence(&s.state, n.Name)
		switch {
		case away == nil && !s.inPlace(n.Name):
			a := wire.DirectedAbsence{Node: n.Name, Absence: wire.Absence{LeftAt: s.now()}}
			if o := s.see(n.Name); !o.FailingSince.IsZero() {
				a.LeftAt = microTime(o.FailingSince)
			}
			s.state.Absences = append(s.state.Absences, a)
		case away != nil && s.inPlace(n.Name) && s.hasAll(n.Name):
			at := s.now()
			if away.BackAt = &at; away.RequestedAt != nil && away.Resync == nil {
				away.Resync = &v1alpha1.ResyncStatus{}
			}
		}
	}
	for len(s.state.Absences) > wire.MaxAbsences {
		oldest := max(0, slices.IndexFunc(s.state.Absences, func(a wire.DirectedAbsence) bool { return a.BackAt != nil }))
		s.state.Absences = slices.Delete(s.state.Absences, oldest, oldest+1)
	}
}

// inPlace tells that the last look found a node open as the primary, or following it.
func (s *situation) inPlace(name string) bool {
	o := s.see(name)
	if name == s.state.Primary {
		return s.state.Opened && s.healthy(name) && o.Writable
	}
	return s.healthy(name) && s.node(name).Role == wire.RoleReader && o.Source == s.state.Primary && o.follows()
}

// hasAll tells that a node has executed what the primary had by the look before the last: under load it never has what the primary
// has just executed.
func (s *situation) hasAll(name string) bool {
	if name == s.state.Primary {
		return true
	}
	before := s.primary().ExecutedBefore
	return s.healthy(s.state.Primary) && before.Transactions() != nil && s.see(name).Executed.Contains(before)
}

// openAbsence of a node in a state, nil while it is in its place.
func openAbsence(state *wire.DirectorState, node string) *wire.DirectedAbsence {
	for i := range state.Absences {
		if a := &state.Absences[i]; a.Node == node && a.BackAt == nil {
			return a
		}
	}
	return nil
}
