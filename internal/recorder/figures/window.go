package figures

import (
	"time"

	"replab.dev/internal/timespan"
)

// window is the time that a stage's throughput is over: see wire.StageResult.
type window struct {
	first, lastArrival time.Time // zero without a request
	last               time.Time // completion, zero without one
	arrivals           int64
	limit              time.Time // as planned
	endless            bool      // the limit says nothing: no request named the stage, and no other stage follows
	// answered and succeeded count the completions up to the limit, which are those within the window.
	answered, succeeded int64
	trailing            int64 // completions since the last arrival
}

// end notes a completion.
func (w *window) end(now time.Time, ok bool) {
	w.last = now
	w.trailing++
	if !w.endless && now.After(w.limit) {
		return
	}
	w.answered++
	if ok {
		w.succeeded++
	}
}

// span returns when the window was. A single request has no interval: its window is what was planned, or none.
func (w *window) span() timespan.Span {
	switch {
	case w.arrivals == 0 || w.arrivals == 1 && w.endless:
		return timespan.Span{}
	case w.arrivals == 1:
		return timespan.Span{From: w.first, To: w.limit}
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
	return timespan.Span{From: w.first, To: to}
}
