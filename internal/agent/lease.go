package agent

import (
	"errors"
	"time"
)

// errFencing refuses a lease to a server that is still being fenced for the last one.
var errFencing = errors.New("the last lease is over and the server is not fenced yet; ask again")

// fenceAhead is the part of a lease, its last tenth, that is kept for fencing: its giver counts on a server that is
// fenced when the lease ends, not on one that begins to be.
const fenceAhead = 10

// lease decides whether the server may be writable. It is pure: every method is told the time, of the monotonic clock.
//
// A lease is taken before the server is opened and renewed while it is to be writable. When it expires, or is voided,
// the server must be fenced before the next lease is given. A server that is seen writable without a lease is fenced as
// well, once any lease was ever given to this node: before that nobody says who may be primary.
type lease struct {
	ttl        time.Duration // of the last lease given; 0: none ever was
	until      time.Time     // the lease stands before
	fenceAt    time.Time     // from then on the server must be fenced; zero: it need not be
	lastFenced time.Time
}

// resumed is the state after a restart of the agent: nothing is held, and the holder has one ttl to renew.
func resumed(now time.Time, ttl time.Duration) lease {
	if ttl == 0 {
		return lease{}
	}
	return lease{ttl: ttl, fenceAt: now.Add(ttl)}
}

func (l *lease) renew(now time.Time, ttl time.Duration) error {
	if l.mustFence(now) {
		return errFencing
	}
	l.ttl, l.until = ttl, now.Add(ttl-ttl/fenceAhead)
	l.fenceAt = l.until
	return nil
}

func (l *lease) void(now time.Time) { l.until, l.fenceAt = now, now }

func (l *lease) held(now time.Time) bool { return now.Before(l.until) }

func (l *lease) mustFence(now time.Time) bool { return !l.fenceAt.IsZero() && !now.Before(l.fenceAt) }

// fenced notes that the server was fenced, or is dead.
func (l *lease) fenced(now time.Time) { l.fenceAt, l.lastFenced = time.Time{}, now }

// seenWritable notes that the server was found writable, by a question asked at the given time. The answer may be
// older than the last fencing.
func (l *lease) seenWritable(asked time.Time) {
	if l.ttl > 0 && l.fenceAt.IsZero() && !l.held(asked) && asked.After(l.lastFenced) {
		l.fenceAt = asked
	}
}
