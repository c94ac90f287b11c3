package recorder

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"replab.dev/internal/ledger"
	"replab.dev/internal/wire"
)

// moody is an app that keeps the ids of the writes it committed, and answers in every way that an app can.
type moody struct {
	mu        sync.Mutex
	seen      map[uint64]int
	committed ledger.Bitmap
}

func (m *moody) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.ParseUint(r.Header.Get(wire.HeaderWriteID), 10, 64)
	if err != nil {
		w.WriteHeader(http.StatusNotFound) // a read, or a probe
		return
	}
	mood := rand.IntN(20)
	m.mu.Lock()
	m.seen[id]++
	if mood > 2 {
		m.committed.Add(id)
	}
	m.mu.Unlock()
	w.Header().Set("Got", strconv.FormatUint(id, 10))
	switch mood {
	case 0, 1:
		w.Header().Set(wire.HeaderRejected, wire.RejectedDeadlock)
		w.WriteHeader(http.StatusServiceUnavailable)
	case 2, 3:
		w.WriteHeader(http.StatusInternalServerError)
	case 4:
		reset(w, "")
	case 5:
		reset(w, "HTTP/1.1 201 Created\r\nContent-Length: 9\r\n\r\n{")
	default:
		w.WriteHeader(http.StatusCreated)
	}
}

// clients write through the recorder until told to stop, and keep what they were told.
type clients struct {
	url          string
	mu           sync.Mutex
	acknowledged ledger.Bitmap
	rejected     ledger.Bitmap
	told         atomic.Int64
}

func (c *clients) run(ctx context.Context) {
	client := http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1}}
	for ctx.Err() == nil {
		r, err := client.Post(c.url, "", strings.NewReader("{}"))
		if err != nil { // the recorder is down, or went down over this write
			runtime.Gosched()
			continue
		}
		_, err = io.Copy(io.Discard, r.Body)
		r.Body.Close()
		id, parseErr := strconv.ParseUint(r.Header.Get("Got"), 10, 64)
		if err != nil || parseErr != nil {
			continue
		}
		c.mu.Lock()
		if successful(r.StatusCode) {
			c.acknowledged.Add(id)
			c.told.Add(1)
		} else if r.Header.Get(wire.HeaderRejected) != "" {
			c.rejected.Add(id)
		}
		c.mu.Unlock()
	}
}

// TestARecorderKilledAtAnyInstantFabricatesNoLoss kills real recorder processes under load, and compares what the clients
// were told and what the app committed with the ledger that is left.
func TestARecorderKilledAtAnyInstantFabricatesNoLoss(t *testing.T) {
	const kills = 12
	m := &moody{seen: map[uint64]int{}}
	b := newBench(t, m.ServeHTTP)
	b.cfg.AvailabilityIntervalMilliseconds = 20
	c := &clients{url: "http://" + b.cfg.Listen + wire.SocialPathRegister}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var load sync.WaitGroup
	for range 8 {
		load.Go(func() { c.run(ctx) })
	}
	for range kills {
		recorder := startProcess(t, childConfig, b.cfg)
		enough := c.told.Load() + 1 + rand.Int64N(400)
		eventually(t, "the clients were told of some writes", func() bool { return c.told.Load() >= enough })
		if err := recorder.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = recorder.Wait() // it says that it was killed
	}
	last := startProcess(t, childConfig, b.cfg)
	enough := c.told.Load() + 100
	eventually(t, "the clients were told of some writes", func() bool { return c.told.Load() >= enough })
	cancel()
	load.Wait()
	status, results := b.finish()
	if status != http.StatusOK {
		t.Fatalf("finish: %d", status)
	}
	_, body := b.get(b.control(wire.RecorderPathLedger))
	if err := errors.Join(last.Process.Signal(syscall.SIGTERM), last.Wait()); err != nil {
		t.Errorf("the last recorder: %v", err)
	}
	sets, err := ledger.Load(bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if results.Restarts != kills || sets.Restarts != kills || results.Incomplete == "" || results.Failed != "" {
		t.Errorf("%d restarts, incomplete %q, failed %q", results.Restarts, results.Incomplete, results.Failed)
	}
	checkLedger(t, sets, c, m)
	t.Logf("%d sent, %d acknowledged, %d rejected, %d indeterminate; clients know of %d", results.Writes.Sent,
		results.Writes.Acknowledged, results.Writes.Rejected, results.Writes.Indeterminate, c.acknowledged.Count())
}

func checkLedger(t *testing.T, sets ledger.Sets, c *clients, m *moody) {
	t.Helper()
	var seen ledger.Bitmap
	for id, n := range m.seen {
		seen.Add(id)
		if n != 1 {
			t.Errorf("the app got write %d %d times", id, n)
		}
	}
	for what, ids := range map[string]ledger.Bitmap{
		"told as acknowledged to a client, not acknowledged in the ledger": ledger.AndNot(c.acknowledged, sets.Acknowledged),
		"told as rejected to a client, not rejected in the ledger":         ledger.AndNot(c.rejected, sets.Rejected),
		"acknowledged in the ledger and never committed (a false loss)":    ledger.AndNot(sets.Acknowledged, m.committed),
		"rejected in the ledger and committed":                             ledger.And(sets.Rejected, m.committed),
		"sent to the app and not in the ledger":                            ledger.AndNot(seen, sets.Sent),
	} {
		if ids.Count() > 0 {
			t.Errorf("%d writes were %s, such as %v", ids.Count(), what, ids.First(5))
		}
	}
	if sum := sets.Acknowledged.Count() + sets.Rejected.Count() + sets.Indeterminate.Count(); sum != sets.Sent.Count() {
		t.Errorf("%d sent, %d have an outcome", sets.Sent.Count(), sum)
	}
	if sets.Acknowledged.Count() == 0 || sets.Rejected.Count() == 0 || sets.Indeterminate.Count() == 0 {
		t.Error("an outcome that never came: the test tests nothing")
	}
}
