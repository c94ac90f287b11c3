package galera

import (
	"slices"

	"replab.dev/internal/topology"
	"replab.dev/internal/wire"
)

// Questions implements topology.Driver: each agent knows its own member.
func (Driver) Questions(p topology.Params) []topology.Question {
	return topology.AskAgents(nodes(p).Nodes())
}

// Assess implements topology.Driver.
func (Driver) Assess(p topology.Params, answers topology.Answers) topology.State {
	all := topology.ReadAgents(nodes(p).Nodes(), answers, history)
	state := topology.StateOf(all, "no other member has said that it takes the writes")
	if !state.Known {
		return state
	}
	state.Writers, state.OldServes, state.Deployed = writers(all, p.WriteAll), !p.WriteAll, together(all)
	for _, t := range all {
		n := nodeState(t, slices.Contains(state.Writers, t.Node))
		state.Nodes = append(state.Nodes, n)
		if n.Why != "" && state.Why == "" {
			state.Why = n.Name + " " + n.Why
		}
	}
	return state
}

func history(s *wire.NodeState) *wire.NodeHistory {
	if s.Group == nil {
		return nil
	}
	return &s.Group.NodeHistory
}

// writers are the members that take writes. While none does it is the last one that did, where that is known: it, or the member that follows
// it, is to again. With several writers there are no terms.
func writers(all []topology.Told, every bool) []string {
	var found []string
	for _, t := range all {
		if t.History != nil && t.History.Writes {
			found = append(found, t.Node)
		}
	}
	switch last := topology.LastWriter(all); {
	case len(found) > 1 && !every: // for a moment, while the news of a change passes
		return found[:1]
	case len(found) > 0 || every || last == "":
		return found
	default:
		return []string{last}
	}
}

// nodeState is the state of one member. One whose server runs apart from the primary component is a reader that is behind: it comes back
// by itself.
func nodeState(t topology.Told, writer bool) topology.NodeState {
	n := topology.NodeState{Name: t.Node, Role: topology.Down, Why: t.Why}
	if t.State == nil {
		return n
	}
	switch g := t.State.Group; {
	case t.State.ServerPID == 0:
		n.Why = "has no server"
		if g.Start != nil && g.Start.Why != "" {
			n.Why += ": " + g.Start.Why
		}
	case g.View == nil:
		n.Why = "has a server that does not answer, or is still joining: " + g.Why
	case writer && g.Writes:
		n.Role, n.CaughtUp = topology.Writer, g.CaughtUp
	default:
		n.Role, n.CaughtUp = topology.Reader, g.CaughtUp
		if !g.View.Primary || !g.View.Synced {
			n.Why = g.Why
		}
	}
	return n
}

// together tells whether all members are in step in one primary component.
func together(all []topology.Told) bool {
	var first string
	for i, t := range all {
		if t.State == nil || t.State.Group.View == nil {
			return false
		}
		v := t.State.Group.View
		if i == 0 {
			first = v.Component
		}
		if !v.Primary || !v.Synced || v.Component != first || len(v.Members) != len(all) {
			return false
		}
	}
	return true
}
