package counters

import (
	"maps"
	"slices"
	"time"

	"replab.dev/internal/engine"
	"replab.dev/internal/timespan"
	"replab.dev/internal/wire"
)

// Group sums what the members of a group counted since the load began. It is not safe for concurrent use.
type Group struct {
	loadStart time.Time // zero until then
	members   map[string]*memberCount
}

// memberCount is one member's account.
type memberCount struct {
	last     engine.GroupCounts
	at       time.Time // of the last sample, zero without one
	counting bool      // at the last sample, and whenever it was asked since
	sum      wire.NodeGroup
	asked    asked
	covered  time.Duration // of the stages that count
	paused   time.Duration // of covered
	ahead    time.Duration // paused after the last sample was asked for, of which its late answer told
	queued   int64         // sum of the queues' lengths in the samples that count
	queues   int64         // how many those are
	queueMax [2]int64      // at least, at most
	deadlock *int64
	lost     time.Duration // see wire.NodeGroup.UncountedMicroseconds
}

// asked is when a member was asked, whether it answered or not.
type asked struct {
	at       time.Time // the last time
	counting bool      // then
	counted  time.Duration
}

func (a *asked) again(at time.Time, counting bool) {
	if a.counting && counting {
		a.counted += at.Sub(a.at)
	}
	a.at, a.counting = at, counting
}

// Start begins to count: the samples so far are the baseline. load is when the load began.
func (g *Group) Start(load time.Time) { g.loadStart = load }

// Add takes one sample.
func (g *Group) Add(x Sample[engine.GroupCounts]) {
	if g.members == nil {
		g.members = map[string]*memberCount{}
	}
	m := g.members[x.Node]
	if m == nil {
		m = &memberCount{}
		g.members[x.Node] = m
	}
	m.asked.again(x.At, x.Counting)
	if x.Missed {
		m.counting = m.counting && x.Counting
		return
	}
	if !g.loadStart.IsZero() {
		m.sum.Samples++
		m.add(g.loadStart, x.At, x.Counts, x.Counting)
	}
	m.last, m.at, m.counting = x.Counts, x.At, x.Counting
}

func (m *memberCount) add(load, at time.Time, c engine.GroupCounts, counting bool) {
	if counting {
		m.queued, m.queues = m.queued+c.ReceiveQueue, m.queues+1
		m.raise(c.ReceiveQueue, c.ReceiveQueueMax)
	}
	origin := originOf(load, m.at, at, m.fell(c), m.last.UpSeconds, c.UpSeconds)
	if origin == fromLast {
		m.count(m.last, c, at.Sub(m.at), counting)
		return
	}
	unseen := at.Sub(timespan.Later(m.at, load))
	m.ahead = 0 // it is within the unseen time
	switch origin {
	case fromUnknown:
		m.conflicts(m.last, c)
	case fromZero:
		least := time.Duration(max(c.UpSeconds-1, 0)) * time.Second
		m.count(engine.GroupCounts{}, c, min(least, unseen), counting)
		m.ahead = 0
		unseen -= least
	}
	m.lost += max(unseen, time.Microsecond) // however soon the next process began
}

// count adds what one process counted between two samples.
func (m *memberCount) count(from, to engine.GroupCounts, took time.Duration, counting bool) {
	m.conflicts(from, to)
	if !counting || !m.counting {
		m.ahead = 0
		return
	}
	paused := m.ahead + to.FlowControlPaused - from.FlowControlPaused
	m.covered += took
	m.paused += min(paused, took)
	m.ahead = max(paused-took, 0)
	if to.ReceiveQueueMax > from.ReceiveQueueMax { // the maximum is of this interval
		m.raise(to.ReceiveQueueMax, to.ReceiveQueueMax)
	}
}

// conflicts adds those between two samples.
func (m *memberCount) conflicts(from, to engine.GroupCounts) {
	m.sum.CertificationFailures += to.CertificationFailures - from.CertificationFailures
	m.sum.ForcedAborts += to.ForcedAborts - from.ForcedAborts
	if to.Deadlocks != nil {
		n := *to.Deadlocks
		if from.Deadlocks != nil {
			n -= *from.Deadlocks
		}
		if m.deadlock != nil {
			n += *m.deadlock
		}
		m.deadlock = &n
	}
}

func (m *memberCount) raise(least, most int64) {
	m.queueMax = [2]int64{max(m.queueMax[0], least), max(m.queueMax[1], least, most)}
}

// fell reports whether a counter went back, so that the server restarted since the last sample.
func (m *memberCount) fell(c engine.GroupCounts) bool {
	return c.CertificationFailures < m.last.CertificationFailures || c.ForcedAborts < m.last.ForcedAborts ||
		c.FlowControlPaused < m.last.FlowControlPaused || c.ReceiveQueueMax < m.last.ReceiveQueueMax ||
		m.last.Deadlocks != nil && c.Deadlocks != nil && *c.Deadlocks < *m.last.Deadlocks
}

// Result returns the sums of each node that was asked in the load, whether it wrote or not: conflicting transactions are not acknowledged.
func (g *Group) Result(map[string]time.Time) *wire.GroupResult {
	var all []wire.NodeGroup
	for _, name := range slices.Sorted(maps.Keys(g.members)) {
		m := g.members[name]
		if g.loadStart.IsZero() || m.asked.at.Before(g.loadStart) {
			continue
		}
		n := m.sum
		n.Name, n.Deadlocks = name, m.deadlock
		n.UncountedMicroseconds = (m.lost + max(m.asked.at.Sub(timespan.Later(m.at, g.loadStart)), 0)).Microseconds()
		n.CoveredMicroseconds, n.FlowControlPausedMicroseconds = m.covered.Microseconds(), m.paused.Microseconds()
		n.UncoveredMicroseconds = max(m.asked.counted-m.covered, 0).Microseconds()
		if m.queues > 0 {
			mean := (m.queued*1000 + m.queues/2) / m.queues
			least, most := m.queueMax[0], m.queueMax[1]
			n.ReceiveQueueMeanThousandths, n.ReceiveQueueMax, n.ReceiveQueueMaxAtMost = &mean, &least, &most
		}
		all = append(all, n)
	}
	return &wire.GroupResult{Nodes: all}
}
