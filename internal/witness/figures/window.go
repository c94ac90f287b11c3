package figures

import (
	"slices"
	"time"
)

// window is the time that a stage's throughput is over: see protocol.StageResult.
type window struct {
	first, lastArrival time.Time // zero without a request
	last               time.Time // completion, zero without one
	arrivals           int64
	limit              time.Time // as planned
	endless            bool      // the limit says nothing: no request named the stage, and no other stage follows
	// answered and succeeded count the completions up to the limit, which are those within the window.
	answered, succeeded int64
}

// end notes a completion.
func (w *window) end(now time.Time, ok bool) {
	w.last = now
	if !w.endless && now.After(w.limit) {
		return
	}
	w.answered++
	if ok {
		w.succeeded++
	}
}

// span returns when the window was. A single request has no interval: its window is what was planned, or none.
func (w *window) span() span {
	switch {
	case w.arrivals == 0 || w.arrivals == 1 && w.endless:
		return span{}
	case w.arrivals == 1:
		return span{w.first, w.limit}
	}
	// The last of n requests at an interval still takes its interval: an open loop of one request a second is no shorter
	// than planned because nothing came in its last second.
	interval := w.lastArrival.Sub(w.first) / time.Duration(w.arrivals-1)
	to := w.lastArrival.Add(interval)
	if w.last.After(to) {
		to = w.last
	}
	if !w.endless && to.After(w.limit) {
		to = w.limit
	}
	return span{w.first, to}
}

type span struct{ from, to time.Time }

// covered returns how long at least one of the spans lasts. Stages overlap a little where one runs out while the next
// has begun, and a discarded stage may lie between two that count: neither may enter a throughput.
func covered(spans []span) time.Duration {
	slices.SortFunc(spans, func(a, b span) int { return a.from.Compare(b.from) })
	var total time.Duration
	var end time.Time
	for _, s := range spans {
		if s.from.Before(end) {
			s.from = end
		}
		if s.to.After(s.from) {
			total += s.to.Sub(s.from)
			end = s.to
		}
	}
	return total
}
