package dualprimary

import (
	"replab.dev/internal/topology"
	"replab.dev/internal/wire"
)

// Questions implements topology.Driver: each agent knows its own server.
func (Driver) Questions(p topology.Params) []topology.Question {
	return topology.AskAgents(nodes(p).Nodes())
}

// Assess implements topology.Driver. A node that takes writes is a writer, however far behind it is.
func (Driver) Assess(p topology.Params, answers topology.Answers) topology.State {
	all := topology.ReadAgents(nodes(p).Nodes(), answers, history)
	state := topology.StateOf(all, "")
	if !state.Known {
		return state
	}
	state.Deployed, state.Independent = true, true
	for _, t := range all {
		state.Deployed = state.Deployed && t.State != nil && t.State.Pair.Placed
		n := nodeState(t)
		if n.Role == topology.Writer {
			state.Writers = append(state.Writers, n.Name)
		}
		state.Nodes = append(state.Nodes, n)
		if n.Why != "" && state.Why == "" {
			state.Why = n.Name + " " + n.Why
		}
	}
	return state
}

func history(s *wire.NodeState) *wire.NodeHistory {
	if s.Pair == nil {
		return nil
	}
	return &s.Pair.NodeHistory
}

func nodeState(t topology.Told) topology.NodeState {
	n := topology.NodeState{Name: t.Node, Role: topology.Down, Why: t.Why}
	if t.State == nil {
		return n
	}
	s := t.State.Pair
	switch {
	case t.State.ServerPID == 0:
		n.Why = "has no server"
	case !s.Answers:
		n.Why = "has a server that does not answer: " + s.Why
	default:
		n.Role, n.CaughtUp, n.Stopped, n.Why = topology.Reader, s.CaughtUp, s.Stopped != "", s.Why
		if s.Writes {
			n.Role = topology.Writer
		}
	}
	return n
}
