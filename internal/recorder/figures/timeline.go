package figures

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/percentile"
	"replab.dev/internal/recorder/pauses"
	"replab.dev/internal/wire"
)

// MaxSeconds bounds the timeline.
const MaxSeconds = 2 * 60 * 60

// timeline are the load's seconds. Its calls are serialised, and their times do not go back, so one histogram suffices.
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
	t.running.record(latency, 0)
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

// result returns all seconds up to now, and the number of those beyond MaxSeconds, which are omitted.
func (t *timeline) result(now time.Time, p *pauses.Log) (seconds []wire.Second, omitted int64) {
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

// Recent returns the load's last complete seconds, and changes no counts.
func (r *Recorder) Recent(most int) []wire.Second {
	r.mu.Lock()
	seconds, from := r.timeline.recent(r.now(), most)
	r.mu.Unlock()
	return whole(seconds, from, r.Pauses)
}

// Live returns how far each stage has come.
func (r *Recorder) Live() []wire.LiveStage {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]wire.LiveStage, 0, len(r.stages))
	for i, s := range r.stages {
		live := wire.LiveStage{Name: s.Name, DurationSeconds: s.DurationSeconds, StartedAt: microTime(s.first)}
		if rest := r.restOf(i); s.Rest && r.now().After(rest.From) {
			live.StartedAt = microTime(rest.From)
		}
		for i := range s.operations {
			live.Requests += s.operations[i].requests
			live.Failures += s.operations[i].failures
		}
		all = append(all, live)
	}
	return all
}

// recent returns copies of the last seconds before now, and when the first began. The latest may be in the running histogram.
func (t *timeline) recent(now time.Time, most int) (seconds []second, from time.Time) {
	if t.running == nil {
		return nil, from
	}
	end := int(max(now.Sub(t.start), 0) / time.Second)
	if end > MaxSeconds {
		return nil, from // nothing of the timeline is recent any more
	}
	first := max(end-most, t.first)
	for i := first; i < end; i++ {
		var s second // without a request
		if k := i - t.first; k < len(t.seconds) {
			s = t.seconds[k]
		}
		if i == t.current && s.latency == nil {
			s.latency = t.running.result(unseen{slower: s.failures})
		}
		seconds = append(seconds, s)
	}
	return seconds, t.start.Add(time.Duration(first) * time.Second)
}

func whole(seconds []second, from time.Time, p *pauses.Log) []wire.Second {
	all := make([]wire.Second, 0, len(seconds))
	for i := range seconds {
		at := from.Add(time.Duration(i) * time.Second)
		all = append(all, seconds[i].result(at, p.Paused(at, at.Add(time.Second))))
	}
	return all
}
