package figures

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/timespan"
	"replab.dev/internal/wire"
)

// stage are the figures of one stage of the load.
type stage struct {
	wire.Stage
	window
	unnamed    int64 // requests that belong to the stage by the time of their arrival alone
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

// operation are the figures of one operation in one stage.
type operation struct {
	requests, failures int64
	succeeded, failed  *latencies // nil without a request
}

func (o *operation) record(latency time.Duration, ok bool) {
	o.requests++
	l := &o.succeeded
	if !ok {
		o.failures++
		l = &o.failed
	}
	if *l == nil { // made when needed: a histogram takes 160 KiB
		*l = newLatencies()
	}
	(*l).record(latency)
}

func (o *operation) add(other *operation) {
	o.requests += other.requests
	o.failures += other.failures
	o.succeeded = o.succeeded.add(other.succeeded)
	o.failed = o.failed.add(other.failed)
}

// result sums up several stages under one name: one stage for its own line, all that count for the total.
func result(name string, discarded bool, stages []*stage) wire.StageResult {
	var each [operations]operation
	var all operation
	var windows []timespan.Span
	r := wire.StageResult{Name: name, Discarded: discarded, StartedAt: earliest(stages)}
	for _, s := range stages {
		for i := range s.operations {
			each[i].add(&s.operations[i])
		}
		r.Unnamed += s.unnamed
		r.Trailing += s.trailing
		if w := s.span(); w.To.After(w.From) {
			windows = append(windows, w)
			r.Answered += s.answered
			r.Succeeded += s.succeeded
		}
	}
	for i := range each {
		all.add(&each[i])
		if each[i].requests == 0 {
			continue
		}
		r.Operations = append(r.Operations, wire.OperationResult{
			Name: Operation(i).String(), Requests: each[i].requests, Failures: each[i].failures,
			Latency: each[i].succeeded.result(each[i].failures), FailedLatency: each[i].failed.result(0),
		})
	}
	r.Requests, r.Failures, r.DurationMicroseconds = all.requests, all.failures, timespan.Covered(windows).Microseconds()
	r.Latency, r.FailedLatency = all.succeeded.result(all.failures), all.failed.result(0)
	return r
}

func earliest(stages []*stage) *metav1.MicroTime {
	var first time.Time
	for _, s := range stages {
		if !s.first.IsZero() && (first.IsZero() || s.first.Before(first)) {
			first = s.first
		}
	}
	if first.IsZero() {
		return nil
	}
	return new(metav1.NewMicroTime(first))
}
