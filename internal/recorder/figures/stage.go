package figures

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"replab.dev/internal/percentile"
	"replab.dev/internal/timespan"
	"replab.dev/internal/wire"
)

// stage are the figures of one stage of the load.
type stage struct {
	wire.Stage
	window
	unnamed    int64 // requests that belong to the stage by the time of their arrival alone
	timeouts   int64
	heldUp     int64 // requests that may have come while this process did not run
	operations [operations]operation
}

func (s *stage) planned() time.Duration { return time.Duration(s.DurationSeconds) * time.Second }

// arrive notes the arrival of a request, which named this stage or not. last tells that no stage follows.
func (s *stage) arrive(now time.Time, named, last bool) {
	if s.arrivals == 0 {
		s.first, s.endless = now, last && !named
		s.limit = now.Add(s.planned())
	}
	if !named {
		s.unnamed++
	}
	s.arrivals++
	s.trailing = 0
	s.lastArrival = now
}

func (s *stage) record(op Operation, latency, paused time.Duration, ok bool) {
	s.operations[op].record(latency, paused, ok)
	if s.TimeoutMilliseconds > 0 && latency > time.Duration(s.TimeoutMilliseconds)*time.Millisecond {
		s.timeouts++
	}
}

// operation are the figures of one operation in one stage.
type operation struct {
	requests, failures int64
	succeeded, failed  *latencies // nil without a request
}

func (o *operation) record(latency, paused time.Duration, ok bool) {
	o.requests++
	l := &o.succeeded
	if !ok {
		o.failures++
		l = &o.failed
	}
	if *l == nil { // made when needed: a histogram takes 160 KiB
		*l = newLatencies()
	}
	(*l).record(latency, paused)
}

func (o *operation) add(other *operation) {
	o.requests += other.requests
	o.failures += other.failures
	o.succeeded = o.succeeded.add(other.succeeded)
	o.failed = o.failed.add(other.failed)
}

// result sums up several stages under one name: one stage for its own line, all that count for the total.
func (r *Recorder) result(name string, discarded bool, stages []*stage) wire.StageResult {
	var each [operations]operation
	var all operation
	var windows []timespan.Span
	out := wire.StageResult{Name: name, Discarded: discarded, StartedAt: earliest(stages), EndedAt: latest(stages)}
	for _, s := range stages {
		for i := range s.operations {
			each[i].add(&s.operations[i])
		}
		if s.TimeoutMilliseconds > 0 {
			out.Timeouts = ptr.To(ptr.Deref(out.Timeouts, 0) + s.timeouts)
		}
		out.Unnamed += s.unnamed
		out.Trailing += s.trailing
		out.PausedRequests += s.heldUp
		if w := s.span(); w.To.After(w.From) {
			windows = append(windows, w)
			out.Answered += s.answered
			out.Succeeded += s.succeeded
		}
	}
	covered, paused := timespan.Covered(windows), r.pausedIn(windows)
	for i := range each {
		all.add(&each[i])
	}
	hidden := func(o *operation) unseen { return unseen{o.failures, out.PausedRequests, all.requests} }
	for i := range each {
		if o := &each[i]; o.requests > 0 {
			out.Operations = append(out.Operations, wire.OperationResult{
				Name: Operation(i).String(), Requests: o.requests, Failures: o.failures,
				Latency: o.succeeded.result(hidden(o)), FailedLatency: o.failed.result(unseen{}),
			})
		}
	}
	out.Requests, out.Failures = all.requests, all.failures
	out.DurationMicroseconds, out.PausedMicroseconds = covered.Microseconds(), paused.Microseconds()
	if name == TotalName && all.succeeded != nil {
		out.Histogram = percentile.Buckets(all.succeeded.histogram)
	}
	out.Latency, out.FailedLatency = all.succeeded.result(hidden(&all)), all.failed.result(unseen{})
	return out
}

// pausedIn returns for how long of all windows together this process did not run.
func (r *Recorder) pausedIn(windows []timespan.Span) (sum time.Duration) {
	var end time.Time
	slices.SortFunc(windows, func(a, b timespan.Span) int { return a.From.Compare(b.From) })
	for _, w := range windows {
		from := w.From
		if from.Before(end) {
			from = end
		}
		sum += r.Pauses.Paused(from, w.To)
		if w.To.After(end) {
			end = w.To
		}
	}
	return sum
}

func earliest(stages []*stage) *metav1.MicroTime {
	var first time.Time
	for _, s := range stages {
		if !s.first.IsZero() && (first.IsZero() || s.first.Before(first)) {
			first = s.first
		}
	}
	return microTime(first)
}

func latest(stages []*stage) *metav1.MicroTime {
	var last time.Time
	for _, s := range stages {
		if s.last.After(last) {
			last = s.last
		}
	}
	return microTime(last)
}

// microTime is nil for a time that never was.
func microTime(t time.Time) *metav1.MicroTime {
	if t.IsZero() {
		return nil
	}
	return new(metav1.NewMicroTime(t))
}

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
	// The last of n requests takes its interval too: an open loop of one request a second lasts as long as planned.
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
