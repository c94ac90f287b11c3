package outage

import (
	"context"
	"maps"
	"sync"
	"time"

	"replab.dev/internal/wire"
)

// Log takes the writes of the load and of the availability probe as they end, and finds the gaps among them. Its
// methods may be called concurrently: writes are ordered by the time at which Log took them.
type Log struct {
	now func() time.Time

	mu      sync.Mutex
	gaps    gaps
	writers map[string]time.Time
}

// NewLog returns an empty log. now must not step back: read it off a monotonic clock.
func NewLog(now func() time.Time) *Log {
	return &Log{now: now, writers: map[string]time.Time{}}
}

// Watch makes each silence of at least stall a gap, until ctx ends. Meanwhile writes must be tried at a much shorter
// interval. It also notes when this process does not run: such times are no silence of the database.
func (l *Log) Watch(ctx context.Context, stall time.Duration) {
	ticker := time.NewTicker(beat)
	defer ticker.Stop()
	l.watch(stall, l.now())
	defer l.watch(0, time.Time{})
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			l.ran()
		}
	}
}

func (l *Log) watch(stall time.Duration, from time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.gaps.stall, l.gaps.pauses.last = stall, from
}

func (l *Log) ran() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.gaps.pauses.ran(l.now())
}

// Acknowledged notes a write that node acknowledged; node is empty when the app did not say.
func (l *Log) Acknowledged(node string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	l.gaps.acknowledged(node, now)
	if node != "" {
		l.writers[node] = now
	}
}

// Failed notes a write that was not acknowledged.
func (l *Log) Failed() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.gaps.failed(l.now())
}

// Gaps returns what was found so far.
func (l *Log) Gaps() []wire.Gap {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.gaps.result()
}

// Writers returns when each node acknowledged its last write; a node that acknowledged none is not among them.
func (l *Log) Writers() map[string]time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.writers)
}
