package counters

import (
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/engine"
	"replab.dev/internal/timespan"
	"replab.dev/internal/wire"
)

// Commits sums the commits of all nodes since the load began, without those of the seeding. It is not safe for concurrent use.
type Commits struct {
	loadStart time.Time // zero until then
	nodes     map[string]*commitCount
}

// commitCount is one node's account.
type commitCount struct {
	last      engine.Commits
	at        time.Time // of the last sample
	asked     time.Time // the last time, whether it answered or not
	sum       commitSum
	degraded  degradedSum
	standbys  standbySpans
	samples   int64
	uncounted time.Duration
}

// Start begins to count: the samples so far are the baseline. load is when the load began.
func (s *Commits) Start(load time.Time) { s.loadStart = load }

// Add takes one sample. A node has no entry before its first answer.
func (s *Commits) Add(x Sample[engine.Commits]) {
	n := s.nodes[x.Node]
	switch {
	case n == nil && x.Missed:
		return
	case n == nil:
		if s.nodes == nil {
			s.nodes = map[string]*commitCount{}
		}
		n = &commitCount{}
		s.nodes[x.Node] = n
	}
	n.asked = x.At
	if x.Missed {
		return
	}
	if !s.loadStart.IsZero() {
		n.add(s.loadStart, x.At, x.Counts, x.Wrote)
	}
	n.last, n.at = x.Counts, x.At
}

func (n *commitCount) add(load, at time.Time, c engine.Commits, wrote time.Time) {
	n.samples++
	origin := originOf(load, n.at, at, c.Acknowledged < n.last.Acknowledged || c.Unacknowledged < n.last.Unacknowledged, n.last.UpSeconds, c.UpSeconds)
	if origin == fromLast {
		counted := interval(n.last, c)
		n.sum.add(counted, counted)
		if c.Waiting != nil {
			n.standbys.add(n.at, at, *n.last.Waiting, *c.Waiting)
			n.degraded.add(n.at, at, *n.last.Waiting, *c.Waiting, counted.Transactions)
		}
		return
	}
	all := interval(engine.Commits{Transactions: n.last.Transactions}, c) // transactions outlive a process
	began := at                                                           // of the process, at the latest
	switch origin {
	case fromUnknown:
		n.sum.add(interval(n.last, c), all)
	case fromZero:
		n.sum.add(all, all)
		began = at.Add(-time.Duration(max(c.UpSeconds-1, 0)) * time.Second)
	}
	from := timespan.Later(n.at, load)
	if c.Waiting != nil { // a process without counters of waits says nothing of the time before its first sample
		began = at
		n.degraded.begin(from, at, wrote, *c.Waiting)
	}
	closed := c.Closed
	if !n.at.IsZero() {
		closed = n.last.Closed
	}
	n.uncounted += unseen(closed, from, began, wrote)
}

// unseen is for how long a server may have committed between two samples: 0 if it took and acknowledged no writes. Otherwise it is above 0: commits
// under way when a server dies may have no acknowledgement.
func unseen(closed bool, from, to, wrote time.Time) time.Duration {
	if closed && !wrote.After(from) {
		return 0
	}
	return max(to.Sub(from), time.Microsecond)
}

// Result returns the sums of nodes that were sampled in the load, that wrote (wrote has the time of the last write), or that may have written.
func (s *Commits) Result(wrote map[string]time.Time) *wire.CommitsResult {
	names := maps.Clone(wrote)
	if names == nil {
		names = map[string]time.Time{}
	}
	for name, n := range s.nodes {
		if n.samples > 0 || !s.loadStart.IsZero() && n.asked.After(s.loadStart) && !n.last.Closed {
			names[name] = wrote[name]
		}
	}
	r := &wire.CommitsResult{}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		n := wire.NodeCommits{Name: name}
		if c := s.nodes[name]; c != nil {
			n.AcknowledgedWaits, n.UnacknowledgedWaits, n.Samples = c.sum.acknowledged, c.sum.unacknowledged, c.samples
			n.DegradedCommits, n.DegradedCommitsAtMost = c.sum.bounds()
			n.DegradedCommits += c.degraded.least
			n.DegradedCommitsAtMost += c.degraded.atMost
			n.StandbySpans = c.standbys.spans
			n.DegradedSpans, n.DegradedMicroseconds = c.degraded.until(wrote[name]), c.degraded.sum.Microseconds()
			r.OfTransactions = r.OfTransactions || c.last.Waiting != nil
			n.UncountedMicroseconds = (c.uncounted + c.unseenSince(s.loadStart, wrote[name])).Microseconds()
		}
		if at := wrote[name]; !at.IsZero() {
			n.LastWriteAt = new(metav1.NewMicroTime(at))
		}
		r.Nodes = append(r.Nodes, n)
		r.DegradedCommits += n.DegradedCommits
		r.DegradedCommitsAtMost += n.DegradedCommitsAtMost
	}
	return r
}

// unseenSince is for how long a server may have committed after its last sample: until the last question without an answer, or its last write.
func (n *commitCount) unseenSince(load, wrote time.Time) time.Duration {
	from := timespan.Later(n.at, load)
	if n.last.Closed && !wrote.After(from) {
		return 0
	}
	return max(timespan.Later(wrote, n.asked).Sub(from), 0)
}

// commitSum sums the waits of one node, and bounds the number of their commits. A commit is among the transactions of the sample that counts its
// wait, or of the next one.
type commitSum struct {
	acknowledged, unacknowledged int64 // waits, at least
	perhaps                      int64 // more waits that perhaps ended without an acknowledgement
	degraded                     int64 // transactions of intervals in which, as in the one before, waits ended, and all without an acknowledgement
	atMost                       int64 // transactions of intervals in which, or in the one before, a wait may have ended without one

	certain, possible bool // in the interval before
	exact             bool
}

// interval is what a server counted between two samples. Transactions go back only in a clone.
func interval(from, to engine.Commits) engine.Commits {
	to.Acknowledged -= from.Acknowledged
	to.Unacknowledged -= from.Unacknowledged
	to.Transactions = max(to.Transactions-from.Transactions, 0)
	return to
}

// add takes the bounds of an interval's counts.
func (s *commitSum) add(least, most engine.Commits) {
	s.exact = most.WaitsAreCommits
	s.acknowledged += least.Acknowledged
	s.unacknowledged += least.Unacknowledged
	s.perhaps += most.Unacknowledged - least.Unacknowledged
	certain, possible := least.Unacknowledged > 0 && most.Acknowledged == 0, most.Unacknowledged > 0
	if possible || s.possible {
		s.atMost += most.Transactions
	}
	if certain && s.certain {
		s.degraded += least.Transactions
	}
	s.certain, s.possible = certain, possible
}

// bounds of the number of commits without an acknowledgement.
func (s *commitSum) bounds() (least, most int64) {
	if s.exact {
		return s.unacknowledged, s.unacknowledged + s.perhaps
	}
	least = max(s.unacknowledged, s.degraded) // a wait is of one commit at least
	return least, max(least, s.unacknowledged+s.perhaps, s.atMost)
}
