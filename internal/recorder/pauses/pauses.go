// Package pauses finds the times in which this process did not run, such as while it was stopped. Requests that arrived meanwhile seem to have
// arrived later.
package pauses

import (
	"context"
	"slices"
	"sync"
	"time"

	"replab.dev/internal/timespan"
)

// interval is how often this process notes that it runs.
const interval = 10 * time.Millisecond

// Log has the pauses of this process, by a clock that does not step. It is safe for concurrent use. A nil Log has none.
type Log struct {
	mu   sync.Mutex
	last time.Time // when the process was last seen to run, zero while it is not watched
	// pauses in their order: at most fifty a second, since each takes two intervals. sums[i] is how long the first i+1 pauses lasted.
	pauses []timespan.Span
	sums   []time.Duration
}

// Watch notes at each interval that the process runs, until ctx ends.
func (l *Log) Watch(ctx context.Context, now func() time.Time) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	l.Begin(now())
	defer l.Begin(time.Time{})
	for {
		select {
		case <-ctx.Done():
			l.Ran(now())
			return
		case <-ticker.C:
			l.Ran(now())
		}
	}
}

// Begin watches the process from a time on. The zero time ends it.
func (l *Log) Begin(at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = at
}

// Ran notes that the process runs. Timers are not exact, so a delay of less than an interval is no pause.
func (l *Log) Ran(at time.Time) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last.IsZero() || !at.After(l.last) { // concurrent calls may come in any order
		return
	}
	if due := l.last.Add(interval); at.Sub(due) > interval {
		l.pauses = append(l.pauses, timespan.Span{From: due, To: at})
		l.sums = append(l.sums, l.sum(len(l.sums))+at.Sub(due))
	}
	l.last = at
}

// Resumed notes that the process runs, and reports whether it began to so recently that what is read now may have come in a pause. A busy machine
// takes longer to read what came in a long one: within a tenth of the pause, and at least an interval and at most a second.
func (l *Log) Resumed(at time.Time) bool {
	if l == nil {
		return false
	}
	l.Ran(at)
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.pauses) == 0 {
		return false
	}
	last := l.pauses[len(l.pauses)-1]
	return at.Sub(last.To) < min(max(interval, last.To.Sub(last.From)/10), time.Second)
}

// Within notes that the process runs, and returns how long it did not between two times, of which the second is now.
func (l *Log) Within(from, now time.Time) time.Duration {
	l.Ran(now)
	return l.Paused(from, now)
}

// sum of the first n pauses.
func (l *Log) sum(n int) time.Duration {
	if n == 0 {
		return 0
	}
	return l.sums[n-1]
}

// Paused returns how long the process did not run between two times.
func (l *Log) Paused(from, to time.Time) time.Duration {
	if l == nil || !to.After(from) {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.until(to) - l.until(from)
}

// until returns how long the process did not run before a time.
func (l *Log) until(at time.Time) time.Duration {
	n, _ := slices.BinarySearchFunc(l.pauses, at, func(s timespan.Span, at time.Time) int { return s.From.Compare(at) })
	if n == 0 {
		return 0
	}
	return l.sum(n) - max(l.pauses[n-1].To.Sub(at), 0)
}
