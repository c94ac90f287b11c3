// Package lasting measures for how long something has been so, as far as this operator has seen.
package lasting

import (
	"sync"
	"time"
)

// Since knows since when something is so of several things. Its zero value knows nothing.
type Since[K comparable] struct {
	mu    sync.Mutex
	since map[K]time.Time
}

// Lasts is for how long it has been so: 0 when it is asked for the first time.
func (s *Since[K]) Lasts(of K, now time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	since, known := s.since[of]
	if !known {
		if s.since == nil {
			s.since = map[K]time.Time{}
		}
		s.since[of], since = now, now
	}
	return now.Sub(since)
}

// End notes that it is not so.
func (s *Since[K]) End(of K) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.since, of)
}
