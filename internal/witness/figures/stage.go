package figures

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/protocol"
)

// stage are the figures of one stage of the load.
type stage struct {
	protocol.Stage
	first, last time.Time // first arrival, last completion; zero without one
	operations  [operations]operation
}

// operation are the figures of one operation in one stage.
type operation struct {
	requests, failures int64
	latencies          *latencies // nil without a request
}

func (o *operation) record(latency time.Duration, ok bool) {
	if o.latencies == nil { // made when needed: a histogram takes 160 KiB
		o.latencies = newLatencies()
	}
	o.requests++
	if !ok {
		o.failures++
	}
	o.latencies.record(latency)
}

func (o *operation) add(other *operation) {
	if other.latencies == nil {
		return
	}
	if o.latencies == nil {
		o.latencies = newLatencies()
	}
	o.requests += other.requests
	o.failures += other.failures
	o.latencies.add(other.latencies)
}

// result sums up several stages under one name: one stage for its own line, all that count for the total.
func result(name string, discarded bool, stages []*stage) protocol.StageResult {
	var each [operations]operation
	var all operation
	var spans []span
	for _, s := range stages {
		for i := range s.operations {
			each[i].add(&s.operations[i])
		}
		if !s.first.IsZero() && s.last.After(s.first) {
			spans = append(spans, span{s.first, s.last})
		}
	}
	r := protocol.StageResult{Name: name, Discarded: discarded, StartedAt: earliest(stages)}
	for i := range each {
		all.add(&each[i])
		if each[i].requests == 0 {
			continue
		}
		r.Operations = append(r.Operations, protocol.OperationResult{
			Name: Operation(i).String(), Requests: each[i].requests, Failures: each[i].failures, Latency: each[i].latencies.result(),
		})
	}
	r.Requests, r.Failures, r.DurationMicroseconds = all.requests, all.failures, covered(spans).Microseconds()
	if all.latencies != nil {
		r.Latency = all.latencies.result()
	}
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
