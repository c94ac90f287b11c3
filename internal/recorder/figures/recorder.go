// Package figures counts during the load: latencies, requests and failures by stage and operation, and the timeline by the second.
package figures

import (
	"sync"
	"time"

	"replab.dev/internal/recorder/pauses"
	"replab.dev/internal/timespan"
	"replab.dev/internal/wire"
)

// Operation of the app that a request calls.
type Operation int

// Operations, in the order of the results.
const (
	Register Operation = iota
	Profile
	Search
	Login
	Update
	Other
	operations
)

// String returns the operation's name in the results.
func (o Operation) String() string {
	return [operations]string{wire.OperationRegister, wire.OperationProfile, "search", "login", "update", "other"}[o]
}

// TotalName is the name of the result that all stages which count have together.
const TotalName = "total"

// Recorder counts requests. Its methods may be called concurrently: one lock is held for well under a microsecond.
type Recorder struct {
	now    func() time.Time
	byName map[string]int
	// Pauses, if set, knows when this process did not run.
	Pauses *pauses.Log

	mu       sync.Mutex
	stages   []*stage
	timeline timeline
	counting counting
	inFlight int64
	recent   int  // stage of the most recent request
	touched  bool // a request came or ended since the last Activity
}

// New returns a recorder for at least one stage. now must not step back.
func New(stages []wire.Stage, now func() time.Time) *Recorder {
	r := &Recorder{now: now, byName: map[string]int{}}
	for i, s := range stages {
		r.byName[s.Name] = i
		r.stages = append(r.stages, &stage{Stage: s})
	}
	return r
}

// Start begins timeline and stages. load is the load's start, in the past after a restart.
func (r *Recorder) Start(load time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.timeline.begin(load, r.now())
}

// Rest returns the stage at rest that is planned for now, and its span. It is empty at other times, and before the load.
func (r *Recorder) Rest() (stage string, planned timespan.Span) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	for i, s := range r.stages {
		if rest := r.restOf(i); s.Rest && !now.Before(rest.From) && now.Before(rest.To) {
			return s.Name, rest
		}
	}
	return "", timespan.Span{}
}

// restOf returns the span that is planned for a stage at rest. It is empty of other stages, and before the load.
func (r *Recorder) restOf(stage int) timespan.Span {
	if r.timeline.start.IsZero() || !r.stages[stage].Rest {
		return timespan.Span{}
	}
	from := r.timeline.start
	for _, s := range r.stages[:stage] {
		from = from.Add(s.planned())
	}
	return timespan.Span{From: from, To: from.Add(r.stages[stage].planned())}
}

// Resting reports whether a stage at rest is planned for now.
func (r *Recorder) Resting() bool {
	stage, _ := r.Rest()
	return stage != ""
}

// Call is a request that has arrived and not ended.
type Call struct {
	recorder *Recorder
	stage    int
	op       Operation
	arrived  time.Time
}

// Begin notes the arrival of a request. One that names no stage belongs to the one in whose planned time it arrives.
func (r *Recorder) Begin(stageName string, op Operation) Call {
	i, named := r.byName[stageName]
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	if !named {
		i = r.planned(now)
	}
	r.stages[i].arrive(now, named, i == len(r.stages)-1)
	if r.Pauses.Resumed(now) {
		r.stages[i].heldUp++
	}
	r.inFlight++
	r.counting.begin(r.stages[i], now)
	r.recent, r.touched = i, true
	return Call{recorder: r, stage: i, op: op, arrived: now}
}

// planned returns the stage that is planned for now: the last one when the time of all is over.
func (r *Recorder) planned(now time.Time) int {
	elapsed := now.Sub(r.timeline.start)
	for i, s := range r.stages {
		if elapsed -= s.planned(); elapsed < 0 {
			return i
		}
	}
	return len(r.stages) - 1
}

// Counts reports whether the request's stage is not discarded.
func (c Call) Counts() bool { return !c.recorder.stages[c.stage].Discard }

// End counts the request. late is how long before its arrival it should have been sent.
func (c Call) End(ok bool, late time.Duration) {
	r := c.recorder
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now() // under the lock: completions are in the order of their times
	latency := now.Sub(c.arrived) + late
	s := r.stages[c.stage]
	s.end(now, ok)
	s.record(c.op, latency, r.Pauses.Within(now.Add(-latency), now), ok)
	r.timeline.record(now, latency, ok)
	r.inFlight--
	r.counting.end(s)
	r.touched = true
}

// Wrote notes which node acknowledged a write, of the load or of the probe.
func (r *Recorder) Wrote(node string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.timeline.at(r.now()); s != nil {
		s.writer = node
	}
}

// SetLag sets the lag of the load's given second, per node in microseconds.
func (r *Recorder) SetLag(second int, lag []int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.timeline.index(second); s != nil {
		s.lag = lag
	}
}

// Ended returns when the last request ended, zero without one.
func (r *Recorder) Ended() (last time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.stages {
		if s.last.After(last) {
			last = s.last
		}
	}
	return last
}

// Activity returns the stage of the most recent request, and whether any request was under way since the last call.
func (r *Recorder) Activity() (stage string, active bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	active = r.touched || r.inFlight > 0
	r.touched = false
	return r.stages[r.recent].Name, active
}

// UnderWay returns how many requests are, and when the first one of each stage came that had any.
func (r *Recorder) UnderWay() (inFlight int64, first map[string]time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	first = map[string]time.Time{}
	for _, s := range r.stages {
		if !s.first.IsZero() {
			first[s.Name] = s.first
		}
	}
	return r.inFlight, first
}

// Stages returns each stage's figures in the order of the configuration.
func (r *Recorder) Stages() []wire.StageResult {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]wire.StageResult, 0, len(r.stages))
	for i, s := range r.stages {
		result := r.result(s.Name, s.Discard, []*stage{s})
		if rest := r.restOf(i); s.Rest && r.now().After(rest.From) {
			result.StartedAt, result.EndedAt = microTime(rest.From), microTime(rest.To)
		}
		all = append(all, result)
	}
	return all
}

// Total returns the figures of all stages that are not discarded, from merged histograms.
func (r *Recorder) Total() wire.StageResult {
	r.mu.Lock()
	defer r.mu.Unlock()
	var counted []*stage
	for _, s := range r.stages {
		if !s.Discard {
			counted = append(counted, s)
		}
	}
	return r.result(TotalName, false, counted)
}

// Timeline returns the load's seconds so far, and how many lie beyond MaxSeconds and are left out.
func (r *Recorder) Timeline() (seconds []wire.Second, omitted int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.timeline.result(r.now(), r.Pauses)
}

// Tally is how many requests of an operation ended in a stage.
type Tally struct {
	Stage              string
	Operation          Operation
	Requests, Failures int64
}

// Tallies returns the counts so far of every stage and operation, also those of 0, so that counters begin there.
func (r *Recorder) Tallies() []Tally {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []Tally
	for _, s := range r.stages {
		for i := range s.operations {
			o := &s.operations[i]
			all = append(all, Tally{s.Name, Operation(i), o.requests, o.failures})
		}
	}
	return all
}

// countingPause is how long a stage counts as running after a request arrived.
const countingPause = time.Second

// counting follows the requests of the stages that are not discarded.
type counting struct {
	inFlight int64
	arrived  time.Time // the last one
}

func (c *counting) begin(s *stage, now time.Time) {
	if !s.Discard {
		c.inFlight++
		c.arrived = now
	}
}

func (c *counting) end(s *stage) {
	if !s.Discard {
		c.inFlight--
	}
}

func (c *counting) running(now time.Time) bool {
	return c.inFlight > 0 || !c.arrived.IsZero() && now.Sub(c.arrived) < countingPause
}

// Counting reports whether a counting stage is under way: a request of it is in flight, or arrived within the last second.
func (r *Recorder) Counting() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.counting.running(r.now())
}
