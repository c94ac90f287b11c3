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

// Commits adds up the commits of all nodes since the load began. What a server had counted before, such as the
// seeding, is left out. It is not safe for concurrent use.
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
	alone     aloneSum
	standbys  standbySpans
	samples   int64
	uncounted time.Duration
}

// Start begins to count: the samples so far are the baseline. load is when the load began.
func (s *Commits) Start(load time.Time) { s.loadStart = load }

// Add takes one sample. Of a node that has never answered nothing is known.
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
	known := !n.at.IsZero()
	fell := known && (c.Acknowledged < n.last.Acknowledged || c.Unacknowledged < n.last.Unacknowledged)
	if known && !fell && !younger(n.last.UpSeconds, c.UpSeconds, at.Sub(n.at)) {
		counted := interval(n.last, c)
		n.sum.add(counted, counted)
		if c.Waiting != nil {
			n.standbys.add(n.at, at, *n.last.Waiting, *c.Waiting)
			n.alone.add(n.at, at, *n.last.Waiting, *c.Waiting, counted.Transactions)
		}
		return
	}
	// All that a process has counted; of a server that was not seen before any transaction may be new.
	all := interval(engine.Commits{Transactions: n.last.Transactions}, c)
	began := at // of the process that answers, at the latest; it has run for up to a second less than it says, which is the difference of two whole ones
	switch {
	case known && !fell: // another process, or the same one, whose clock was set back
		n.sum.add(interval(n.last, c), all)
	case known || at.Add(-time.Duration(c.UpSeconds+1)*time.Second).After(load): // one that began at 0; what the one before had counted last went with that one
		n.sum.add(all, all)
		began = at.Add(-time.Duration(max(c.UpSeconds-1, 0)) * time.Second)
	} // else the node's baseline: it could not be asked before the load, and may have counted the seeding
	from := timespan.Later(n.at, load)
	if c.Waiting != nil { // of the time before this sample a process that counts no waits tells nothing
		began = at
		n.alone.begin(from, at, wrote, *c.Waiting)
	}
	closed := c.Closed
	if known {
		closed = n.last.Closed
	}
	n.uncounted += unseen(closed, from, began, wrote)
}

// unseen is for how long a server may have had commits between two times of which no sample tells. One that took no writes had none, unless
// it acknowledged some after all: it was opened then. Of one that took writes an acknowledgement tells nothing: those that it had under
// way when it died may have gone on without a replica, and nobody had their answer. However short the time was, it may have had some.
func unseen(closed bool, from, to, wrote time.Time) time.Duration {
	if closed && !wrote.After(from) {
		return 0
	}
	return max(to.Sub(from), time.Microsecond)
}

// Result returns the sums of the nodes that were sampled since the load began, and those that wrote, which are given with
// the time of their last write, or that may have.
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
			n.DegradedCommits += c.alone.least
			n.DegradedCommitsAtMost += c.alone.atMost
			n.StandbySpans = c.standbys.spans
			n.DegradedSpans, n.AloneMicroseconds = c.alone.until(wrote[name]), c.alone.alone.Microseconds()
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

// unseenSince is for how long a server may have had commits since its last sample: until it was asked in vain the last time, or until it
// acknowledged its last write.
func (n *commitCount) unseenSince(load, wrote time.Time) time.Duration {
	from := timespan.Later(n.at, load)
	if n.last.Closed && !wrote.After(from) {
		return 0
	}
	return max(timespan.Later(wrote, n.asked).Sub(from), 0)
}

// commitSum adds up the waits of one node, and bounds how many commits they were of. A commit is seen among the transactions at or
// after the sample that counts its wait, and at the next one at the latest.
type commitSum struct {
	acknowledged, unacknowledged int64 // waits, at least
	perhaps                      int64 // waits without an acknowledgement that there may have been beside these

	// degraded are the transactions of intervals in which, as in the one before, waits ended without an acknowledgement and none
	// with one: none of them was acknowledged.
	degraded int64
	// atMost are those of intervals in which a wait may have ended without one, or in the one before.
	atMost int64

	certain, possible bool // in the interval before
	exact             bool
}

// interval is what a server counted between two samples. Transactions never go back but in a clone, which brings another's.
func interval(from, to engine.Commits) engine.Commits {
	to.Acknowledged -= from.Acknowledged
	to.Unacknowledged -= from.Unacknowledged
	to.Transactions = max(to.Transactions-from.Transactions, 0)
	return to
}

// add takes what was counted in an interval, at least and at most.
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

// bounds are how many commits at least and at most went on without an acknowledgement.
func (s *commitSum) bounds() (least, most int64) {
	if s.exact {
		return s.unacknowledged, s.unacknowledged + s.perhaps
	}
	least = max(s.unacknowledged, s.degraded) // a wait is of one commit at least
	return least, max(least, s.unacknowledged+s.perhaps, s.atMost)
}
