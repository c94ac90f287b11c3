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

// probeTimeout bounds one write of the availability probe. It is short so that probes which hang in an outage hold few
// of the app's connections: one second's worth of them at most.
const probeTimeout = time.Second

// availability is the availability probe: small writes through the app, which bound how finely an outage can be told
// whatever the load does. They are sent while the load itself proves nothing, see schedule, and are neither in the ledger
// nor in the load's figures.
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

// run sends each write when it is due until ctx ends, and returns when the last has ended. A write that is due while this
// process was kept from running is sent late, never left out; only when as many writes as the timeout explains are still
// in flight it is skipped, and counted as that.
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

// schedule says when a write of the availability probe is due: an interval after the last acknowledged write of the load,
// or after the probe's own last attempt, whichever is later. So no interval passes without one of them. A load that is
// acknowledged often enough costs no probe; when nothing is acknowledged, the probe is an open loop.
//
// Nothing else of the load puts a write off: not a read, nor a write that failed or has no answer yet. Nor does the
// acknowledgement of a probe: attempts would come an interval and a round trip apart, and tell an outage less finely.
//
// The zero schedule has no probe.
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

// attempt returns how long it is until a write is due. When it is due now, that is 0, and the attempt counts as made: the
// next is due an interval after this one was, so that those which a stalled process missed follow at once.
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
