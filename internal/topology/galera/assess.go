package galera

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/topology"
	"replab.dev/internal/wire"
)

// Questions implements topology.Driver: each agent knows its own member.
func (Driver) Questions(p topology.Params) []topology.Question {
	var all []topology.Question
	for _, n := range nodes(p).Nodes() {
		all = append(all, topology.Question{Name: n.Name, URL: agentURL(p, n.Name) + wire.AgentPathState})
	}
	return all
}

// member is a node and what its agent told.
type member struct {
	name string
	told *wire.NodeState
	why  string // it told nothing
}

// Assess implements topology.Driver.
func (Driver) Assess(p topology.Params, answers topology.Answers) topology.State {
	all := members(p, answers)
	told := testimonies(all)
	state := topology.State{
		Writers: writers(all, p.WriteAll), Silent: topology.Silent(told), Failovers: failovers(all), OldServes: !p.WriteAll, Absences: absences(all),
		Switchovers: topology.Switchovers(told, "no other member has said that it takes the writes"),
	}
	for _, m := range all {
		n := m.node(slices.Contains(state.Writers, m.name))
		state.Known = state.Known || m.told != nil
		state.Nodes = append(state.Nodes, n)
		if n.Why != "" && state.Why == "" {
			state.Why = n.Name + " " + n.Why
		}
	}
	if !state.Known {
		return topology.State{Why: "no agent of a node answers: " + all[0].why}
	}
	state.Deployed = together(all)
	return state
}

func members(p topology.Params, answers topology.Answers) []member {
	var all []member
	for _, n := range nodes(p).Nodes() {
		m := member{name: n.Name}
		switch answer := answers[n.Name]; {
		case answer.Err != "":
			m.why = "does not answer: " + answer.Err
		case answer.Body == nil:
			m.why = "was not asked"
		default:
			var told wire.NodeState
			if err := json.Unmarshal(answer.Body, &told); err != nil || told.Group == nil {
				m.why = fmt.Sprintf("answers what cannot be read: %q (%v)", answer.Body[:min(len(answer.Body), 100)], err)
				break
			}
			m.told = &told
		}
		all = append(all, m)
	}
	return all
}

// writers are the members that take writes. While none does it is the last one that did, where that is known: it, or who follows it, is to
// again. With several writers there are no terms.
func writers(all []member, every bool) []string {
	var found []string
	for _, m := range all {
		if m.told != nil && m.told.Group.Writes {
			found = append(found, m.name)
		}
	}
	if len(found) > 1 && !every { // for a moment, while the news of a change passes
		found = found[:1]
	}
	if len(found) > 0 {
		return found
	}
	if every {
		return nil
	}
	if last := topology.LastWriter(testimonies(all)); last != "" {
		return []string{last}
	}
	return nil
}

// testimonies are what members tell of who takes the writes.
func testimonies(all []member) []topology.Testimony {
	var found []topology.Testimony
	for _, m := range all {
		a := topology.Testimony{Node: m.name, Answered: m.told != nil}
		if a.Answered {
			a.Leader, a.Terms, a.Switchovers = m.told.Group.Writer, m.told.Group.Terms, m.told.Group.Switchovers
		}
		found = append(found, a)
	}
	return found
}

// node is the state of one member. One whose server runs apart from the primary component is a reader that is behind: it comes back
// by itself.
func (m member) node(writer bool) topology.NodeState {
	n := topology.NodeState{Name: m.name, Role: topology.Down, Why: m.why}
	switch {
	case m.told == nil:
	case m.told.ServerPID == 0:
		n.Why = "has no server"
		if s := m.told.Group.Start; s != nil && s.Why != "" {
			n.Why += ": " + s.Why
		}
	case m.told.Group.View == nil:
		n.Why = "has a server that does not answer, or is still joining: " + m.told.Group.Why
	case writer && m.told.Group.Writes:
		n.Role, n.CaughtUp = topology.Writer, m.told.Group.CaughtUp
	default:
		n.Role, n.CaughtUp = topology.Reader, m.told.Group.CaughtUp
		if !m.told.Group.View.Primary || !m.told.Group.View.Synced {
			n.Why = m.told.Group.Why
		}
	}
	return n
}

// together tells whether all members are in step in one primary component.
func together(all []member) bool {
	for _, m := range all {
		if m.told == nil || m.told.Group.View == nil {
			return false
		}
		v, first := m.told.Group.View, all[0].told.Group.View
		if !v.Primary || !v.Synced || v.Component != first.Component || len(v.Members) != len(all) {
			return false
		}
	}
	return true
}

// methods of resynchronisation by what a transfer brings.
var methods = map[wire.TransferKind]v1alpha1.ResyncMethod{wire.TransferFull: v1alpha1.ResyncSST, wire.TransferIncremental: v1alpha1.ResyncIST}

// absences are the times in which members were not in step in a primary component, by their own agents' clocks.
func absences(all []member) []topology.Absence {
	var found []topology.Absence
	for _, m := range all {
		if m.told == nil {
			continue
		}
		for _, a := range m.told.Group.Absences {
			away := topology.Absence{Node: m.name, Clock: m.name, LeftAt: a.LeftAt, BackAt: a.BackAt}
			if t := a.Transfer; t != nil {
				away.Resync = &v1alpha1.ResyncStatus{Method: methods[t.Kind], DurationMilliseconds: t.Milliseconds, NetworkReceivedBytes: t.NetworkReceivedBytes}
			}
			found = append(found, away)
		}
	}
	slices.SortStableFunc(found, func(a, b topology.Absence) int { return cmp.Compare(a.LeftAt.UnixMicro(), b.LeftAt.UnixMicro()) })
	return found
}

// failovers are the terms of members that began when another one's had ended, each by its own agent's clock, in about their order.
func failovers(all []member) []topology.Failover {
	var found []topology.Failover
	for _, m := range all {
		if m.told == nil {
			continue
		}
		for _, t := range m.told.Group.Terms {
			if t.After == "" || t.After == m.name || t.NoticedAt == nil {
				continue
			}
			found = append(found, topology.Failover{
				Clock: m.name, OldWriter: t.After, NewWriter: m.name, DetectedAt: *t.NoticedAt, PromotedAt: &t.From,
				Waits: t.AfterCounts && t.Switchover == "", Planned: t.Switchover != "", OldServes: t.Switchover != "",
			})
		}
	}
	slices.SortStableFunc(found, func(a, b topology.Failover) int {
		return cmp.Compare(a.PromotedAt.UnixMicro(), b.PromotedAt.UnixMicro())
	})
	return found
}
