package counters

import "replab.dev/internal/engine"

// commitSum adds up the waits of one node, and bounds how many commits they were of. A commit is seen among the transactions at or
// after the sample that counts its wait, and at the next one at the latest.
type commitSum struct {
	acknowledged, unacknowledged int64 // waits

	// degraded are the transactions of intervals in which, as in the one before, waits ended without an acknowledgement and none
	// with one: none of them was acknowledged.
	degraded int64
	// atMost are those of intervals in which a wait ended without one, or in the one before.
	atMost int64
	last   engine.Commits // the interval before
	exact  bool
}

// interval is what a server counted between two samples. Transactions never go back but in a clone, which brings another's.
func interval(from, to engine.Commits) engine.Commits {
	to.Acknowledged -= from.Acknowledged
	to.Unacknowledged -= from.Unacknowledged
	to.Transactions = max(to.Transactions-from.Transactions, 0)
	return to
}

// add takes what was counted in an interval.
func (s *commitSum) add(c engine.Commits) {
	s.exact = c.WaitsAreCommits
	s.acknowledged += c.Acknowledged
	s.unacknowledged += c.Unacknowledged
	if c.Unacknowledged > 0 || s.last.Unacknowledged > 0 {
		s.atMost += c.Transactions
	}
	if isDegraded(c) && isDegraded(s.last) {
		s.degraded += c.Transactions
	}
	s.last = c
}

func isDegraded(c engine.Commits) bool { return c.Unacknowledged > 0 && c.Acknowledged == 0 }

// bounds are how many commits at least and at most went on without an acknowledgement.
func (s *commitSum) bounds() (least, most int64) {
	if s.exact {
		return s.unacknowledged, s.unacknowledged
	}
	least = max(s.unacknowledged, s.degraded) // a wait is of one commit at least
	return least, max(least, s.atMost)
}
