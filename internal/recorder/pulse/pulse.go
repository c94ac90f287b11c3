// Package pulse finds the times in which this process did not run though it should have. An instrument that stood still
// measured too little: what came meanwhile looks as if it had come after.
package pulse

import (
	"context"
	"slices"
	"sync"
	"time"

	"replab.dev/internal/timespan"
)

// beat is how often this process shows that it runs.
const beat = 10 * time.Millisecond

// Pulse takes the times at which this process ran, of one clock that does not step. Its methods may be called concurrently,
// also of a nil Pulse, which knows of no pause. The zero value takes no times until Watch.
type Pulse struct {
	mu   sync.Mutex
	last time.Time // when the process was last seen to run, zero while it does not show it at each beat
	// pauses in their order: at most fifty a second, since each takes two beats. sums has with each how long all up to it lasted.
	pauses []timespan.Span
	sums   []time.Duration
}

// Watch shows at each beat that the process runs, until ctx ends.
func (p *Pulse) Watch(ctx context.Context, now func() time.Time) {
	ticker := time.NewTicker(beat)
	defer ticker.Stop()
	p.Begin(now())
	defer p.Begin(time.Time{})
	for {
		select {
		case <-ctx.Done():
			p.Ran(now())
			return
		case <-ticker.C:
			p.Ran(now())
		}
	}
}

// Begin takes the process for running from a time on; with the zero time, for nobody's concern.
func (p *Pulse) Begin(at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = at
}

// Ran notes that the process runs. What comes late by less than a beat ends no pause: timers are not exact.
func (p *Pulse) Ran(at time.Time) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last.IsZero() || !at.After(p.last) { // the zero time is before all others, and who came first is not known of two at once
		return
	}
	if due := p.last.Add(beat); at.Sub(due) > beat {
		p.pauses = append(p.pauses, timespan.Span{From: due, To: at})
		p.sums = append(p.sums, p.sum(len(p.sums))+at.Sub(due))
	}
	p.last = at
}

// sum of the first n pauses.
func (p *Pulse) sum(n int) time.Duration {
	if n == 0 {
		return 0
	}
	return p.sums[n-1]
}

// Paused returns how long the process did not run between two times.
func (p *Pulse) Paused(from, to time.Time) time.Duration {
	if p == nil || !to.After(from) {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.until(to) - p.until(from)
}

// until returns how long the process did not run before a time.
func (p *Pulse) until(at time.Time) time.Duration {
	n, _ := slices.BinarySearchFunc(p.pauses, at, func(s timespan.Span, at time.Time) int { return s.From.Compare(at) })
	if n == 0 {
		return 0
	}
	return p.sum(n) - max(p.pauses[n-1].To.Sub(at), 0)
}
