package replication

import (
	"encoding/json"
	"fmt"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/kube"
	"replab.dev/internal/topology"
	"replab.dev/internal/wire"
)

// directorQuestion is the only one: the director knows all.
const directorQuestion = "director"

// Questions implements topology.Driver.
func (Driver) Questions(p topology.Params) []topology.Question {
	return []topology.Question{{Name: directorQuestion, URL: directorURL(p) + wire.DirectorPathState}}
}

// Assess implements topology.Driver.
func (Driver) Assess(p topology.Params, answers topology.Answers) topology.State {
	answer := answers[directorQuestion]
	if answer.Err != "" {
		return topology.State{Why: "the director does not answer: " + answer.Err}
	}
	var told wire.DirectorState
	if err := json.Unmarshal(answer.Body, &told); err != nil {
		return topology.State{Why: "the director's answer cannot be read: " + err.Error()}
	}
	state := topology.State{Known: true, Deployed: told.Configured, Why: told.Message}
	if told.Opened {
		state.Writers = []string{told.Primary}
	}
	for _, n := range told.Nodes {
		state.Nodes = append(state.Nodes, nodeState(n))
	}
	for _, f := range told.Failovers {
		state.Failovers = append(state.Failovers, topology.Failover{
			Clock: kube.ComponentManager, OldWriter: f.OldPrimary, NewWriter: f.NewPrimary,
			DetectedAt: f.DetectedAt, PromotedAt: f.PromotedAt, Unapplied: f.Unapplied, Planned: f.Planned,
		})
	}
	for _, w := range told.Switchovers {
		state.Switchovers = append(state.Switchovers, topology.SwitchoverOf(w, kube.ComponentManager, told.Message))
	}
	for _, a := range told.Absences {
		if a.Resync != nil {
			a.Resync.Method = copied(p)
		}
		state.Absences = append(state.Absences, topology.Absence{Node: a.Node, Clock: kube.ComponentManager, Absence: a.Absence})
	}
	return state
}

// copied is by what way a node got another's data: where start wrappers give copies, those are backups.
func copied(p topology.Params) v1alpha1.ResyncMethod {
	if nodes(p).Program.CopyPort != 0 {
		return v1alpha1.ResyncBackup
	}
	return v1alpha1.ResyncClone
}

// clocks: the director tells of failovers.
func clocks(p topology.Params) []wire.ClockSource {
	return []wire.ClockSource{{Name: kube.ComponentManager, URL: directorURL(p) + wire.DirectorPathClock}}
}

// nodeState takes a node whose role it does not know for down: it can vouch for nothing of it.
func nodeState(n topology.NodeState) topology.NodeState {
	switch n.Role {
	case topology.Writer, topology.Reader, topology.Isolated, topology.Down:
		return n
	}
	why := fmt.Sprintf("has the unknown role %q", n.Role)
	if n.Why != "" {
		why += "; " + n.Why
	}
	n.Role, n.Why = topology.Down, why
	return n
}
