package figures

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/percentile"
	"replab.dev/internal/recorder/pulse"
	"replab.dev/internal/wire"
)

// MaxSeconds bounds the timeline.
const MaxSeconds = 2 * 60 * 60

// timeline are the load's seconds, counted from its start. Its caller serialises the calls and gives times that do not
// go back, so that one histogram, that of the second which is running, is enough.
type timeline struct {
	start   time.Time // of the load
	first   int       // the second in which this process began to watch; those before were not measured
	seconds []second
	current int // the second whose latencies are in running
	running *latencies
}

type second struct {
	requests, failures int64
	latency            *wire.Latency // nil while the second runs, and when no request succeeded
	lag                []int64
	writer             string
}

// begin sets the load's start. A process that comes up in the middle of a load gives a start in the past.
func (t *timeline) begin(start, now time.Time) {
	t.start, t.running = start, newLatencies()
	t.first = int(max(now.Sub(start), 0) / time.Second)
	t.current = t.first
}

// at returns the second of now, or nil before the load and after MaxSeconds.
func (t *timeline) at(now time.Time) *second {
	if t.running == nil {
		return nil
	}
	return t.index(int(max(now.Sub(t.start), 0) / time.Second))
}

func (t *timeline) index(i int) *second {
	if i < t.first || i >= MaxSeconds {
		return nil
	}
	for len(t.seconds) <= i-t.first {
		t.seconds = append(t.seconds, second{})
	}
	return &t.seconds[i-t.first]
}

func (t *timeline) record(now time.Time, latency time.Duration, ok bool) {
	s := t.at(now)
	if s == nil {
		return
	}
	t.turn(int(now.Sub(t.start) / time.Second))
	s.requests++
	if !ok {
		s.failures++
		return
	}
	t.running.record(latency)
}

// turn completes the running second when i is a later one.
func (t *timeline) turn(i int) {
	if i <= t.current {
		return
	}
	if t.running.histogram.TotalCount() > 0 {
		s := t.index(t.current)
		s.latency = t.running.result(unseen{slower: s.failures})
		t.running.histogram.Reset()
		t.running.sum = 0
	}
	t.current = i
}

// result returns the seconds up to now, those in which nothing happened too, and how many are left out since they lie
// beyond MaxSeconds.
func (t *timeline) result(now time.Time, p *pulse.Pulse) (seconds []wire.Second, omitted int64) {
	if t.running == nil {
		return nil, 0
	}
	last := int(max(now.Sub(t.start), 0) / time.Second)
	t.index(min(last, MaxSeconds-1))
	t.turn(max(last, t.current) + 1)
	for i := range t.seconds {
		at := t.start.Add(time.Duration(t.first+i) * time.Second)
		seconds = append(seconds, t.seconds[i].result(at, p.Paused(at, at.Add(time.Second))))
	}
	return seconds, int64(max(last+1-max(t.first, MaxSeconds), 0))
}

func (s *second) result(at time.Time, paused time.Duration) wire.Second {
	r := wire.Second{
		At: metav1.NewMicroTime(at), Requests: s.requests, Failures: s.failures, LagMicroseconds: s.lag, Writer: s.writer,
		PausedMicroseconds: paused.Microseconds(),
	}
	if s.latency == nil {
		return r
	}
	r.P50Microseconds, r.P99Microseconds = &s.latency.P50Microseconds, &s.latency.P99Microseconds
	for _, p := range percentiles {
		if (p.name == v1alpha1.P50 || p.name == v1alpha1.P99) &&
			(slices.Contains(s.latency.LowerBounds, p.name) || percentile.LeavesOutLess(p.percent, int64(paused), int64(time.Second))) {
			r.LowerBounds = append(r.LowerBounds, p.name)
		}
	}
	return r
}
