package counters

import (
	"slices"
	"time"

	"replab.dev/internal/wire"
)

// heldUpMost is by how much a packet that was held up counts as late at most: agents believe no stamp of an arrival that is older.
const heldUpMost = 10 * time.Second

// LinkSample is a question to an agent for its counters, with the answer.
type LinkSample struct {
	Node   string
	Stage  string        // that was under way when it was asked, "" for none
	At     time.Time     // when it was asked
	Took   time.Duration // until it answered: it told of a moment within that
	Missed bool          // it did not answer: there are no counts
	Counts wire.LinkCounts
}

// Links sums what each node's agent delayed in each stage. It is not safe for concurrent use.
type Links struct {
	nodes     []string
	stages    []string
	agents    map[string]*linked
	held      map[key]*wire.NodeLinks
	uncovered map[key]time.Duration
}

// linked is the state of one node's agent.
type linked struct {
	asked []asking        // since the last answer, that one, and as far back as a packet may have been held up since
	known bool            // it has answered
	at    time.Time       // when it was asked for the last answer
	last  wire.LinkCounts // that it gave
	slow  *overdue        // what was late by the last answer, where that took long: the next stage may have begun meanwhile
}

// asking is when an agent was asked. Its stage was under way at most from the question before to the one after.
type asking struct {
	stage string
	at    time.Time
}

// overdue packets between two answers, and the stages that they count for.
type overdue struct {
	late, heldUp int64
	stages       []string
}

// NewLinks returns sums for nodes and stages; results come in their order.
func NewLinks(nodes, stages []string) *Links {
	return &Links{nodes: nodes, stages: stages, agents: map[string]*linked{}, held: map[key]*wire.NodeLinks{}, uncovered: map[key]time.Duration{}}
}

// Add takes one sample. Packets count for a stage if all questions since the last answer are of it; late ones count for all stages in which they
// may have been due. A restarted agent counts from 0.
func (l *Links) Add(x LinkSample) {
	a := l.agents[x.Node]
	if a == nil {
		a = &linked{}
		l.agents[x.Node] = a
	}
	a.asked = append(a.asked, asking{x.Stage, x.At})
	if s := a.slow; s != nil && !slices.Contains(s.stages, x.Stage) {
		l.charge(x.Node, overdue{s.late, s.heldUp, []string{x.Stage}})
	}
	a.slow = nil
	if x.Missed {
		return
	}
	l.count(a, x)
	a.known, a.at, a.last = true, x.At, x.Counts
	a.forget()
}

// count adds the difference of two answers of an agent.
func (l *Links) count(a *linked, x LinkSample) {
	since := a.since(a.at)
	if !a.known || a.last.Session != x.Counts.Session {
		uncover(l.uncovered, x.Node, since)
		since = []asking{since[0], since[len(since)-1]} // of stages in between nothing is known
		a.last = wire.LinkCounts{}
	}
	if !a.known { // a baseline
		return
	}
	for _, q := range since {
		l.of(x.Node, q.stage)
	}
	if !slices.ContainsFunc(since, func(q asking) bool { return q.stage != x.Stage }) {
		u := l.of(x.Node, x.Stage)
		u.DelayedPackets += max(x.Counts.Packets-a.last.Packets, 0) // they go back where the links were ended
		u.Delays = grown(u.Delays, a.last.Delays, x.Counts.Delays)
	}
	o := overdue{late: max(x.Counts.Late-a.last.Late, 0), heldUp: max(x.Counts.HeldUp-a.last.HeldUp, 0)}
	reach := wire.HeldUpLeast // by which the others were late at most
	if o.heldUp > 0 {
		reach = heldUpMost
	}
	for _, q := range a.since(a.at.Add(-reach)) {
		if !slices.Contains(o.stages, q.stage) {
			o.stages = append(o.stages, q.stage)
		}
	}
	l.charge(x.Node, o)
	if x.Took > wire.HeldUpLeast {
		a.slow = &o
	}
}

// grown adds the differences between two answers to sums by delay.
func grown(sums, from, to []wire.DelayCounts) []wire.DelayCounts {
	for _, now := range to {
		of := func(d wire.DelayCounts) bool { return d.DelayMicroseconds == now.DelayMicroseconds }
		var was wire.DelayCounts
		if i := slices.IndexFunc(from, of); i >= 0 {
			was = from[i]
		}
		i := slices.IndexFunc(sums, of)
		if i < 0 {
			i = len(sums)
			sums = append(sums, wire.DelayCounts{DelayMicroseconds: now.DelayMicroseconds})
		}
		sums[i].Packets += max(now.Packets-was.Packets, 0)
		sums[i].LateMicroseconds += max(now.LateMicroseconds-was.LateMicroseconds, 0)
	}
	return sums
}

// since are the questions whose stages may have been under way after a time.
func (a *linked) since(t time.Time) []asking {
	first := len(a.asked) - 1
	for first > 0 && a.asked[first].at.After(t) {
		first--
	}
	return a.asked[first:]
}

// forget questions that cannot matter any more.
func (a *linked) forget() { a.asked = slices.Clone(a.since(a.at.Add(-heldUpMost))) }

// charge stages with overdue packets.
func (l *Links) charge(node string, o overdue) {
	if o.late == 0 && o.heldUp == 0 {
		return
	}
	for _, stage := range o.stages {
		u := l.of(node, stage)
		u.LatePackets += o.late
		u.HeldUpPackets += o.heldUp
	}
}

// uncover adds the times between questions without an answer. Between questions of different stages it may be either's.
func uncover(sum map[key]time.Duration, node string, asked []asking) {
	for i := 1; i < len(asked); i++ {
		was, is := asked[i-1], asked[i]
		sum[key{node, is.stage}] += is.at.Sub(was.at)
		if was.stage != is.stage {
			sum[key{node, was.stage}] += is.at.Sub(was.at)
		}
	}
}

// of a stage, or of the time without one, which is in no result.
func (l *Links) of(node, stage string) *wire.NodeLinks {
	k := key{node, stage}
	if l.held[k] == nil {
		l.held[k] = &wire.NodeLinks{Node: node, Stage: stage}
	}
	return l.held[k]
}

// Result returns one entry for each sampled node and stage.
func (l *Links) Result() []wire.NodeLinks {
	var all []wire.NodeLinks
	for _, node := range l.nodes {
		a, pending := l.agents[node], map[key]time.Duration{}
		if a != nil {
			uncover(pending, node, a.since(a.at))
		}
		for _, stage := range l.stages {
			k := key{node, stage}
			if u := l.held[k]; u != nil {
				result := *u
				result.Delays = slices.Clone(u.Delays)
				result.UncoveredMicroseconds = (l.uncovered[k] + pending[k]).Microseconds()
				all = append(all, result)
			}
		}
	}
	return all
}
