package starter

import (
	"errors"
	"time"
)

const (
	// failuresMost in a row, of which none came further than one before, and the server goes on with the data that it had.
	failuresMost = 5
	failurePause = 2 * time.Second
	// waitMost is how long a donor may give another a copy without any progress: longer than it goes on with one that takes nothing.
	waitMost  = stallMost + 30*time.Second
	waitPause = time.Second
)

// donorBusy is a donor that gives another node a copy.
type donorBusy struct {
	given int64 // bytes that it has given so far
	err   error
}

func (b *donorBusy) Error() string { return b.err.Error() }

// brokenOff is a copy that did not come whole.
type brokenOff struct {
	received int64 // bytes
	err      error
}

func (b *brokenOff) Error() string { return b.err.Error() }
func (b *brokenOff) Unwrap() error { return b.err }

// patience is how long a copy that does not come about is tried again: as long as something moves, be it for another node.
type patience struct {
	failures int
	furthest int64     // bytes of the copy that came furthest
	given    int64     // by the donor, when it was found busy
	moved    time.Time // when that was seen to change; zero while the donor is not known to be busy
}

// after a failure at that time, it tells whether to try again, and when.
func (p *patience) after(now time.Time, err error) (pause time.Duration, again bool) {
	var busy *donorBusy
	if errors.As(err, &busy) {
		if p.moved.IsZero() || busy.given != p.given {
			p.given, p.moved = busy.given, now
		}
		return waitPause, now.Sub(p.moved) < waitMost
	}
	p.moved = time.Time{}
	var broken *brokenOff
	if errors.As(err, &broken) && broken.received > p.furthest {
		p.furthest, p.failures = broken.received, 0
	}
	p.failures++
	return failurePause, p.failures < failuresMost
}
