package patroni

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/internal/topology"
	"replab.dev/internal/wire"
)

// Questions implements topology.Driver.
func (Driver) Questions(p topology.Params) []topology.Question {
	return topology.AskAgents(nodes(p).Nodes())
}

// Assess implements topology.Driver.
func (Driver) Assess(p topology.Params, answers topology.Answers) topology.State {
	return cluster(p).Assess(answers)
}

// Cluster are nodes that Patroni runs, deployed by replab or by another operator.
type Cluster struct {
	topology.Params
	Nodes []wire.Node
	// Lacks says what else the node that takes the writes lacks until all is in its place: "" for nothing.
	Lacks func(wire.ManagerState) string
}

func cluster(p topology.Params) Cluster {
	same := func(a, b string) bool { return a == b }
	return Cluster{Params: p, Nodes: nodes(p).Nodes(), Lacks: func(writer wire.ManagerState) string { return Differs(p, writer.Config, nil, same) }}
}

// member is a node with what its agent told.
type member struct {
	topology.Told
	told *wire.ManagerState // nil without an answer
}

// Assess makes sense of the agents' answers.
func (c Cluster) Assess(answers topology.Answers) topology.State {
	told := topology.ReadAgents(c.Nodes, answers, history)
	state := topology.StateOf(told, "Patroni has not answered yet")
	if !state.Known {
		return state
	}
	var all []member
	for _, t := range told {
		m := member{Told: t}
		if t.State != nil {
			m.told = t.State.Manager
		}
		all = append(all, m)
	}
	markFailovers(state)
	state.RestartsInPlace, state.Manager = restartsInPlace(told), kept(all)
	writer := writerOf(all)
	if writer != nil {
		state.Writers = []string{writer.Node}
	} else if last := lastWriter(told, all); last != "" { // it, or the node that takes its place, is to again
		state.Writers = []string{last}
	}
	for _, m := range all {
		state.Nodes = append(state.Nodes, m.node(writer))
	}
	state.Why = why(c.Params, state, writer)
	lacks := c.missing(state, all, writer)
	state.Deployed, state.Why = lacks == "", cmp.Or(state.Why, lacks)
	return state
}

// history leaves out the leader that a manager named which does not answer any more: that may be long over.
func history(s *wire.NodeState) *wire.NodeHistory {
	if s.Manager == nil {
		return nil
	}
	if !s.Manager.Answers {
		s.Manager.Leader = ""
	}
	return &s.Manager.NodeHistory
}

// why says what a topology waits for that is not at rest.
func why(p topology.Params, state topology.State, writer *member) string {
	if writer == nil {
		return fmt.Sprintf("no node takes writes (%s); a standby that lacks more than %d bytes is not promoted: raise topology.patroni.maximumLagOnFailoverBytes",
			firstWhy(state), spec(p).MaximumLagOnFailoverBytes)
	}
	return firstWhy(state)
}

func firstWhy(state topology.State) string {
	for _, n := range state.Nodes {
		if n.Why != "" {
			return n.Name + " " + n.Why
		}
	}
	return ""
}

// writerOf is the node that takes the writes, nil while none does. Where two say so, for a moment, the lock has gone from one to the other:
// that one's history is the later one.
func writerOf(all []member) *member {
	var found *member
	for i := range all {
		m := &all[i]
		if m.told == nil || !m.told.Writes {
			continue
		}
		if found == nil || cmp.Or(cmp.Compare(m.told.Timeline, found.told.Timeline), m.since().Compare(found.since())) > 0 {
			found = m
		}
	}
	return found
}

// lastWriter is the node that had the writes last, "" where that is not known. One whose server answers as a standby has them no more, or not
// yet.
func lastWriter(told []topology.Told, all []member) string {
	last := topology.LastWriter(told)
	if slices.ContainsFunc(all, func(m member) bool {
		return m.Node == last && m.told != nil && m.runs() && m.answers() && !m.writable()
	}) {
		return ""
	}
	return last
}

// runs tells whether the node's server does.
func (m member) runs() bool { return m.State.ServerPID != 0 || m.told.Runs }

// node is the state of one node beside the writer, which is nil while there is none.
func (m member) node(writer *member) topology.NodeState {
	n := topology.NodeState{Name: m.Node, Role: topology.Down}
	switch {
	case m.told == nil:
		n.Why = m.Why
	case !m.runs():
		n.Why = m.words("has no server")
	case !m.answers():
		n.Why = m.words("has a server that does not answer")
	case writer != nil && writer.Node == m.Node:
		n.Role, n.CaughtUp = topology.Writer, true
	case m.writable(): // it has not heard yet, or cannot hear, that it is to stop
		n.Role, n.Why = topology.Reader, m.words("is open for writes, and its lock is over")
	default:
		n.Role = topology.Reader
		n.CaughtUp, n.Why = m.follows(writer)
	}
	return n
}

// follows tells whether a standby has applied all that the writer had when they were asked, and what it lacks for it.
func (m member) follows(writer *member) (caughtUp bool, why string) {
	switch {
	case !m.told.Streaming:
		return false, m.words("receives nothing")
	case writer == nil:
		return false, "has no node to follow: none takes the writes"
	case m.told.Timeline != writer.told.Timeline:
		return false, fmt.Sprintf("is on timeline %d, and %s on %d", m.told.Timeline, writer.Node, writer.told.Timeline)
	}
	return m.told.Applied >= writer.told.Written, ""
}

// answers tells whether the server did: then it has a position.
func (m member) answers() bool {
	return m.told.Timeline != 0 || m.told.Written|m.told.Received|m.told.Applied != 0
}

// writable tells whether the server takes writes, by right or not: standbys write no log of their own.
func (m member) writable() bool { return m.told.Written != 0 }

// words of a node's state, with Patroni's and the agent's own.
func (m member) words(what string) string {
	if m.told.State != "" {
		what += fmt.Sprintf(", and is %q", m.told.State)
	}
	if m.told.Why != "" {
		what += ": " + m.told.Why
	}
	return what
}

// switchoverSpan is how long after it was asked for another node may take the writes by a switchover: longer than Patroni tries. As much
// as slack before it may seem to have, since nodes have clocks of their own.
const (
	switchoverSpan  = time.Minute
	switchoverSlack = 5 * time.Second
)

// since is when the last of a node's terms as the writer began, zero for one that had none.
func (m member) since() time.Time {
	if m.told == nil || len(m.told.Terms) == 0 {
		return time.Time{}
	}
	return m.told.Terms[len(m.told.Terms)-1].From.Time
}

// markFailovers marks all as found by looks, and as planned those that switchovers came to: of each the first from the node that was asked, to
// the one that it named.
func markFailovers(s topology.State) {
	for i := range s.Failovers {
		s.Failovers[i].Seen = true
	}
	for _, w := range s.Switchovers {
		if w.Outcome == topology.SwitchoverFailed {
			continue
		}
		i := slices.IndexFunc(s.Failovers, func(f topology.Failover) bool {
			after := f.PromotedAt.Sub(w.RequestedAt.Time)
			return !f.Planned && f.OldWriter == w.OldWriter && (w.NewWriter == "" || w.NewWriter == f.NewWriter) &&
				after > -switchoverSlack && after < switchoverSpan
		})
		if i >= 0 {
			s.Failovers[i].Planned = true
		}
	}
}

// restartsInPlace are the terms of nodes that began after their own.
func restartsInPlace(all []topology.Told) []topology.RestartInPlace {
	var found []topology.RestartInPlace
	for _, t := range all {
		if t.History == nil {
			continue
		}
		var lost metav1.MicroTime // when the term before ended
		for _, term := range t.History.Terms {
			if term.After == t.Node {
				found = append(found, topology.RestartInPlace{Node: t.Node, Clock: t.Node, At: term.From, LostAt: lost})
			}
			lost = ptr.Deref(term.To, metav1.MicroTime{})
		}
	}
	slices.SortStableFunc(found, func(a, b topology.RestartInPlace) int { return a.At.Compare(b.At.Time) })
	return found
}
