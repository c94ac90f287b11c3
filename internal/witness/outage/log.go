package outage

import (
	"sync"
	"time"

	"replab.dev/internal/protocol"
)

// Log takes the writes of the load and of the availability probe as they end, and finds the gaps among them. Its
// methods may be called concurrently: writes are ordered by the time at which Log took them.
type Log struct {
	now func() time.Time

	mu   sync.Mutex
	gaps gaps
}

// NewLog returns an empty log. now must not step back: read it off a monotonic clock.
func NewLog(now func() time.Time) *Log {
	return &Log{now: now}
}

// Acknowledged notes a write that node acknowledged; node is empty when the app did not say.
func (l *Log) Acknowledged(node string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.gaps.acknowledged(node, l.now())
}

// Failed notes a write that was not acknowledged.
func (l *Log) Failed() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.gaps.failed(l.now())
}

// Gaps returns what was found so far.
func (l *Log) Gaps() []protocol.Gap {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.gaps.result()
}
