package controllers

import (
	"sync"
	"time"
)

// lasting knows since when something is so of experiments, as far as this operator has seen.
type lasting[K comparable] struct {
	mu    sync.Mutex
	since map[K]time.Time
}

// lasts is for how long it has been so.
func (l *lasting[K]) lasts(of K, now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	since, known := l.since[of]
	if !known {
		if l.since == nil {
			l.since = map[K]time.Time{}
		}
		l.since[of], since = now, now
	}
	return now.Sub(since)
}

// end notes that it is not so.
func (l *lasting[K]) end(of K) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.since, of)
}
