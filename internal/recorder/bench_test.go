package recorder

import (
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"replab.dev/internal/ledger"
	"replab.dev/internal/recorder/figures"
	"replab.dev/internal/recorder/outage"
	"replab.dev/internal/recorder/upstream"
	"replab.dev/internal/wire"
	"replab.dev/test/benchmark"
)

// benchPath is a recorder before an app that takes a while for each write, and the app without the recorder.
func benchPath(b testing.TB, took time.Duration) (direct, through *upstream.Client) {
	b.Helper()
	a := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if took > 0 {
			time.Sleep(took) // an app that takes its time
		}
		w.Header().Set(wire.HeaderNode, "node-0")
		w.Header().Set(wire.HeaderUserID, r.Header.Get(wire.HeaderWriteID))
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"user_id":"10001"}`)
	}))
	b.Cleanup(a.Close)
	now := steadyClock()
	path := filepath.Join(b.TempDir(), "ledger")
	l, err := ledger.Open(path, now())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { l.Close() })
	d := &forwarder{
		app: upstream.New(a.Listener.Addr().String()), timeout: time.Minute, now: now, ledger: l, state: newState(path+stateSuffix, now),
		figures: figures.New(stages, now), outage: outage.NewLog(now, nil),
	}
	d.state.started = d.figures.Start
	return upstream.New(a.Listener.Addr().String()), upstream.New(serveForwarder(b, d))
}

var benchRequest = &upstream.Request{
	Method: http.MethodPost, Target: wire.SocialPathRegister,
	Header: http.Header{"Content-Type": {"application/json"}, wire.HeaderStage: {"steady"}, "User-Agent": {"k6/1.8"}},
	Body:   []byte(`{"first_name":"Ada","second_name":"Lovelace","birthdate":"1815-12-10","city":"London","password":"secret"}`),
}

// writes sends n requests in a closed loop of users.
func writes(b testing.TB, client *upstream.Client, users, n int) time.Duration {
	var left atomic.Int64
	left.Store(int64(n))
	var running sync.WaitGroup
	start := time.Now()
	for range users {
		running.Go(func() {
			for left.Add(-1) >= 0 {
				r, err := client.Do(benchRequest, time.Minute)
				if err != nil || r.Status != http.StatusCreated {
					b.Errorf("answer %+v, %v", r, err)
					return
				}
			}
		})
	}
	running.Wait()
	return time.Since(start)
}

// BenchmarkForwarder shows what a write costs in all with an app that does nothing: client, app, and the recorder or not.
func BenchmarkForwarder(b *testing.B) {
	direct, through := benchPath(b, 0)
	for name, client := range map[string]*upstream.Client{"direct": direct, "through": through} {
		b.Run(name, func(b *testing.B) {
			before := cpuTime(b)
			writes(b, client, 16, b.N)
			b.ReportMetric(float64((cpuTime(b)-before).Microseconds())/float64(b.N), "cpu-µs/op")
		})
	}
}

// cpuTime is what this process used of the processors, which does not depend on what else runs.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestBenchRecorderBeforeASlowApp is the case in which nothing is short: 50 users on an app that takes 10 ms, as a durable
// commit does on a common disk.
func TestBenchRecorderBeforeASlowApp(t *testing.T) {
	benchmark.Skip(t)
	const users, requests, pairs = 50, 4000, 9
	direct, through := benchPath(t, 10*time.Millisecond)
	rate := func(client *upstream.Client) func() float64 {
		return func() float64 { return requests / writes(t, client, users, requests).Seconds() }
	}
	rate(direct)()
	rate(through)()
	throughs, directs := benchmark.Pairs(pairs, rate(through), rate(direct))
	same := func(r float64) float64 { return r }
	benchmark.OfPairs("recorder in the path: an app that takes 10 ms", benchmark.Both(throughs, "with it", directs, "without", same, "/s"),
		benchmark.Ratios(throughs, directs, same), benchmark.AtLeast(0.95)).Print()
}
