package figures

import (
	"time"

	"replab.dev/internal/recorder/pulse"
	"replab.dev/internal/wire"
)

// Recent returns the last of the load's seconds that are over, at most so many. Unlike Timeline it may be asked while the load runs: it
// changes nothing of what is counted.
func (r *Recorder) Recent(most int) []wire.Second {
	r.mu.Lock()
	seconds, from := r.timeline.recent(r.now(), most)
	r.mu.Unlock()
	return whole(seconds, from, r.Pulse)
}

// Live returns how far each stage has come.
func (r *Recorder) Live() []wire.LiveStage {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]wire.LiveStage, 0, len(r.stages))
	for _, s := range r.stages {
		live := wire.LiveStage{Name: s.Name, DurationSeconds: s.DurationSeconds, StartedAt: microTime(s.first)}
		for i := range s.operations {
			live.Requests += s.operations[i].requests
			live.Failures += s.operations[i].failures
		}
		all = append(all, live)
	}
	return all
}

// recent returns copies of the last seconds before that of now, and when the first of them began. Of the one that no later request has
// followed yet the percentiles are in the running histogram.
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

func whole(seconds []second, from time.Time, p *pulse.Pulse) []wire.Second {
	all := make([]wire.Second, 0, len(seconds))
	for i := range seconds {
		at := from.Add(time.Duration(i) * time.Second)
		all = append(all, seconds[i].result(at, p.Paused(at, at.Add(time.Second))))
	}
	return all
}
