package recorder

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"replab.dev/internal/recorder/figures"
	"replab.dev/internal/recorder/outage"
	"replab.dev/internal/recorder/upstream"
	"replab.dev/internal/wire"
)

// probeTimeout bounds one write of the probe, so that in an outage it holds the app's connections of one second at most.
const probeTimeout = time.Second

// availability is the availability probe: small writes through the app while the load itself proves nothing, see schedule. Neither the ledger nor
// the load's figures have them.
type availability struct {
	app      backend
	ids      func() uint64
	interval time.Duration
	timeout  time.Duration
	schedule *schedule
	outage   *outage.Log
	figures  *figures.Recorder

	sent, acknowledged, failed, skipped atomic.Int64
}

// run sends each write when due until ctx ends, and waits for the last. A late write is sent, not left out, unless as many as the timeout explains
// are in flight: then it counts as skipped.
func (a *availability) run(ctx context.Context) {
	var inFlight sync.WaitGroup
	defer inFlight.Wait()
	defer a.outage.Stop()
	slots := make(chan struct{}, 2*max(int(a.timeout/a.interval), 1))
	timer := time.NewTimer(0)
	defer timer.Stop()
	a.schedule.begin(a.interval, time.Now())
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		if !a.rest(ctx, timer) {
			return
		}
		wait := a.schedule.attempt(time.Now())
		timer.Reset(wait)
		if wait > 0 {
			continue
		}
		select {
		case slots <- struct{}{}:
		default:
			a.skipped.Add(1)
			continue
		}
		inFlight.Go(func() {
			defer func() { <-slots }()
			a.write(a.ids())
		})
	}
}

// rest waits while a stage at rest is planned, and reports whether ctx still stands.
func (a *availability) rest(ctx context.Context, timer *time.Timer) bool {
	name, planned := a.figures.Rest()
	if name == "" {
		return true
	}
	timer.Reset(time.Until(planned.To))
	a.outage.Rest(planned.From, planned.To)
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		a.schedule.begin(a.interval, time.Now())
		return true
	}
}

func (a *availability) write(id uint64) {
	a.sent.Add(1)
	response, err := a.app.Do(&upstream.Request{
		Method: http.MethodPut, Target: wire.SocialPathProbe + strconv.FormatUint(id, 10),
	}, a.timeout)
	if err != nil || !successful(response.Status) {
		a.failed.Add(1)
		a.outage.Failed()
		return
	}
	node := response.Header.Get(wire.HeaderNode)
	a.acknowledged.Add(1)
	a.outage.Acknowledged(node)
	a.figures.Wrote(node)
}

// result is to be asked after run has returned.
func (a *availability) result() *wire.AvailabilityResult {
	return &wire.AvailabilityResult{
		IntervalMilliseconds: a.interval.Milliseconds(),
		Sent:                 a.sent.Load(), Acknowledged: a.acknowledged.Load(), Skipped: a.skipped.Load(),
		MaxLateMicroseconds: a.schedule.late().Microseconds(),
		Gaps:                a.outage.Gaps(),
		Silences:            a.outage.Silences(),
	}
}

// schedule: a probe's write is due an interval after the load's last acknowledged write, or after the probe's last attempt if that is later. Other
// events do not defer it: not reads, failed writes, or the probe's own acknowledgements. The zero schedule has no probe.
type schedule struct {
	mu       sync.Mutex
	interval time.Duration
	due      time.Time
	maxLate  time.Duration // of an acknowledgement or an attempt behind due
}

// begin makes the first write due at a time.
func (s *schedule) begin(interval time.Duration, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.interval, s.due = interval, at
}

// acknowledged notes a write of the load.
func (s *schedule) acknowledged(at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.due.IsZero() {
		return
	}
	s.maxLate = max(s.maxLate, at.Sub(s.due))
	if next := at.Add(s.interval); next.After(s.due) { // acknowledgements at once may come in either order
		s.due = next
	}
}

// attempt returns the time until a write is due. 0 counts as an attempt; the next is due an interval after this one was, so that missed ones follow
// at once.
func (s *schedule) attempt(now time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if wait := s.due.Sub(now); wait > 0 {
		return wait
	}
	s.maxLate = max(s.maxLate, now.Sub(s.due))
	s.due = s.due.Add(s.interval)
	return 0
}

func (s *schedule) late() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.maxLate
}
