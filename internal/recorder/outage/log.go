package outage

import (
	"context"
	"maps"
	"sync"
	"time"

	"replab.dev/internal/recorder/pauses"
	"replab.dev/internal/wire"
)

// Log finds gaps among the writes of the load and of the availability probe. It is safe for concurrent use, and orders writes by their calls.
type Log struct {
	now func() time.Time

	mu      sync.Mutex
	gaps    gaps
	writers map[string]time.Time
	unnamed int64     // acknowledged writes of which nobody said the node
	stopped time.Time // when writes were no longer tried, zero before
	several bool      // see SideBySide
}

// NewLog returns an empty log. now must not step back. The pauses of p are no silence of the database; p may be nil.
func NewLog(now func() time.Time, p *pauses.Log) *Log {
	return &Log{now: now, gaps: gaps{pauses: p}, writers: map[string]time.Time{}}
}

// SideBySide says that nodes take writes side by side, so another node's acknowledgement is no gap.
func (l *Log) SideBySide() { l.several = true }

// Begin notes when the load began: with it the first silence.
func (l *Log) Begin(load time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.gaps.silences.begin(load)
}

// Rest notes that no write is due between two times: that is no silence. It may be called in the rest.
func (l *Log) Rest(from, to time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.gaps.restFrom, l.gaps.restTo = from, to
}

// Stop notes the end of writes: a silence that is open then has no known end.
func (l *Log) Stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopped = l.now()
	l.gaps.pauses.Ran(l.stopped)
	l.gaps.wake(l.stopped)
}

// Watch makes each silence of at least stall a gap, until ctx ends. Writes must be tried at a much shorter interval.
func (l *Log) Watch(ctx context.Context, stall time.Duration) {
	l.watch(stall)
	defer l.watch(0)
	<-ctx.Done()
}

func (l *Log) watch(stall time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.gaps.stall = stall
}

// Acknowledged notes a write that node acknowledged; node is empty when the app did not say.
func (l *Log) Acknowledged(node string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if node == "" {
		l.unnamed++
	} else {
		l.writers[node] = now
	}
	if l.several {
		node = ""
	}
	l.gaps.acknowledged(node, now)
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
	return l.gaps.result(l.now())
}

// Silences returns those so far, nil before the load.
func (l *Log) Silences() *wire.Silences {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.gaps.silences.result()
	if from := latest(l.gaps.at, l.gaps.silences.from); r != nil && l.stopped.After(from) {
		last := silence{l.stopped.Sub(r.From.Time), l.stopped.Sub(from), l.gaps.pauses.Paused(from, l.stopped)}.result()
		r.Last = &last
	}
	return r
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// Writers returns when each node acknowledged its last write, if any.
func (l *Log) Writers() map[string]time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.writers)
}

// Unnamed counts the acknowledged writes whose node the app did not say.
func (l *Log) Unnamed() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.unnamed
}
