package counters

import "replab.dev/internal/engine"

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
