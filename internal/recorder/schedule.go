package recorder

import (
	"sync"
	"time"
)

// schedule says when a write of the availability probe is due: an interval after the last acknowledged write of the load,
// or after the probe's own last attempt, whichever is later. So no interval passes without one of them. A load that is
// acknowledged often enough costs no probe; when nothing is acknowledged, the probe is an open loop.
//
// Nothing else of the load puts a write off: not a read, nor a write that failed or has no answer yet. Nor does the
// acknowledgement of a probe: attempts would come an interval and a round trip apart, and tell an outage less finely.
//
// The zero schedule has no probe.
type schedule struct {
	mu       sync.Mutex
	interval time.Duration
	due      time.Time
	maxLate  time.Duration // of an acknowledgement or an attempt behind due
}

// begin makes the first write due at a time.
func (s *schedule) begin(interval time.Duration, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.interval, s.due = interval, at
}

// acknowledged notes a write of the load.
func (s *schedule) acknowledged(at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.due.IsZero() {
		return
	}
	s.maxLate = max(s.maxLate, at.Sub(s.due))
	if next := at.Add(s.interval); next.After(s.due) { // acknowledgements at once may come in either order
		s.due = next
	}
}

// attempt returns how long it is until a write is due. When it is due now, that is 0, and the attempt counts as made: the
// next is due an interval after this one was, so that those which a stalled process missed follow at once.
func (s *schedule) attempt(now time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if wait := s.due.Sub(now); wait > 0 {
		return wait
	}
	s.maxLate = max(s.maxLate, now.Sub(s.due))
	s.due = s.due.Add(s.interval)
	return 0
}

func (s *schedule) late() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.maxLate
}
