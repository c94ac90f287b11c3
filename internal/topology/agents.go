package topology

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"replab.dev/internal/wire"
)

// Told is what the agent of one node answered, in topologies whose nodes decide among themselves or by their managers.
type Told struct {
	Node string
	// State and History are nil without an answer. History is a part of State.
	State   *wire.NodeState
	History *wire.NodeHistory
	// Why there is no answer.
	Why string
}

// AskAgents are the questions whose answers ReadAgents reads.
func AskAgents(nodes []wire.Node) []Question {
	var all []Question
	for _, n := range nodes {
		all = append(all, Question{Name: n.Name, URL: agentURL(n) + wire.AgentPathState})
	}
	return all
}

// SwitchAgent asks the agent of the node that takes the writes to have another node take them.
func SwitchAgent(nodes []wire.Node, name, from string) Request {
	body, _ := json.Marshal(wire.SwitchoverRequest{Name: name, From: from}) // a struct of strings always marshals
	r := Request{Method: "POST", Body: body}
	for _, n := range nodes {
		if n.Name == from {
			r.URL = agentURL(n) + wire.AgentPathSwitchover
		}
	}
	return r
}

func agentURL(n wire.Node) string { return fmt.Sprintf("http://%s:%d", n.Host, wire.PortAgent) }

// ReadAgents reads the answers of all nodes. history finds a node's history in its state, nil where that has none.
func ReadAgents(nodes []wire.Node, answers Answers, history func(*wire.NodeState) *wire.NodeHistory) []Told {
	var all []Told
	for _, n := range nodes {
		t := Told{Node: n.Name}
		switch answer := answers[n.Name]; {
		case answer.Err != "":
			t.Why = "does not answer: " + answer.Err
		case answer.Body == nil:
			t.Why = "was not asked"
		default:
			var state wire.NodeState
			err := json.Unmarshal(answer.Body, &state)
			if t.History = history(&state); err != nil || t.History == nil {
				t.History = nil
				t.Why = fmt.Sprintf("answers what cannot be read: %q (%v)", answer.Body[:min(len(answer.Body), 100)], err)
				break
			}
			t.State = &state
		}
		all = append(all, t)
	}
	return all
}

// StateOf is what the nodes' histories amount to, without their roles. waits is what a switchover that is under way waits for.
func StateOf(all []Told, waits string) State {
	var s State
	for _, t := range all {
		if t.History == nil {
			s.Silent = append(s.Silent, t.Node)
			continue
		}
		s.Known = true
		for _, term := range t.History.Terms {
			if term.After != "" && term.After != t.Node {
				s.Failovers = append(s.Failovers, failover(t.Node, term))
			}
		}
		for _, a := range t.History.Absences {
			s.Absences = append(s.Absences, Absence{Node: t.Node, Clock: t.Node, Absence: a})
		}
		for _, w := range t.History.Switchovers {
			s.Switchovers = append(s.Switchovers, SwitchoverOf(w, t.Node, waits))
		}
	}
	if !s.Known {
		return State{Why: "no agent of a node answers: " + all[0].Why}
	}
	slices.SortStableFunc(s.Failovers, func(a, b Failover) int { return a.PromotedAt.Compare(b.PromotedAt.Time) })
	slices.SortStableFunc(s.Absences, func(a, b Absence) int { return a.LeftAt.Compare(b.LeftAt.Time) })
	slices.SortStableFunc(s.Switchovers, func(a, b Switchover) int { return a.RequestedAt.Compare(b.RequestedAt.Time) })
	return s
}

// failover is a term of a node that began when another node's had ended, by the clock of the later node's agent.
func failover(node string, t wire.WriterTerm) Failover {
	f := Failover{
		Clock: node, OldWriter: t.After, NewWriter: node, DetectedAt: t.From, PromotedAt: &t.From, ClosedAt: t.ClosedAt, Undetected: t.NoticedAt == nil,
		Waits: t.AfterCounts && t.Switchover == "", Planned: t.Switchover != "", OldServes: t.Switchover != "",
	}
	if t.NoticedAt != nil {
		f.DetectedAt = *t.NoticedAt
	}
	return f
}

// SwitchoverOf is a planned change as the process with this clock tells it. waits is what it waits for while it is under way.
func SwitchoverOf(w wire.Switchover, clock, waits string) Switchover {
	s := Switchover{Name: w.Name, Clock: clock, RequestedAt: w.RequestedAt, OldWriter: w.From, NewWriter: w.To, Why: w.Why}
	switch w.Outcome {
	case wire.SwitchoverDone:
		s.Outcome = SwitchoverDone
	case wire.SwitchoverFailed:
		s.Outcome = SwitchoverFailed
	default:
		s.Why = cmp.Or(w.Why, waits)
	}
	return s
}

// LastWriter is the node that had the writes last, asked while no node is seen to take them; "" where that is not known. It is the one node
// that the others name as the leader. Where none is named it is the last by all nodes' terms: a silent node may have had them since.
func LastWriter(all []Told) string {
	last := named(all)
	if len(last) == 0 && !slices.ContainsFunc(all, func(t Told) bool { return t.History == nil }) {
		last = lastByTerms(all)
	}
	if len(last) != 1 || !slices.ContainsFunc(all, func(t Told) bool { return t.Node == last[0] }) {
		return ""
	}
	return last[0]
}

func named(all []Told) []string {
	var found []string
	for _, t := range all {
		if t.History != nil && t.History.Leader != "" && !slices.Contains(found, t.History.Leader) {
			found = append(found, t.History.Leader)
		}
	}
	return found
}

// lastByTerms are the nodes that had more terms than other nodes followed. The nodes' clocks differ, so that WriterTerm.After tells the order
// and not the times: each term but the last ended with one of another node. There is none where a node does not know which node it followed.
func lastByTerms(all []Told) []string {
	balance := map[string]int{}
	for _, t := range all {
		for i, term := range t.History.Terms {
			switch {
			case term.After == "" && i > 0:
				return nil
			case term.After != t.Node: // else its server took its place again
				balance[t.Node]++
				balance[term.After]--
			}
		}
	}
	var found []string
	for _, t := range all {
		if balance[t.Node] > 0 {
			found = append(found, t.Node)
		}
	}
	return found
}
