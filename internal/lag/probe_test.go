package lag

import (
	"sync/atomic"
	"testing"
	"time"

	"replab.dev/internal/engine"
	"replab.dev/internal/engine/enginetest"
	"replab.dev/internal/wire"
)

func TestAsynchronousPair(t *testing.T) { enginetest.Each(t, asynchronousPair) }

func asynchronousPair(t *testing.T, flavor enginetest.Flavor) {
	s := followOn(t, flavor, "a", "b")
	c := configure(t, s[0].Endpoint(), s...)
	c.PayloadBytes = []int64{100, 20000}
	p := start(t, c)
	p.until("150 samples, and the engine's figures", func(r wire.LagResult) bool {
		return r.Samples >= 150 && r.Censored <= r.Samples/10 && (!flavor.MeasuresLag || r.Nodes[1].EngineApplyP50Microseconds != nil)
	})
	s[1].Exec("STOP REPLICA SQL_THREAD")
	p.until("10 writes that the replica does not show", func(r wire.LagResult) bool { return r.Unseen >= 10 })
	s[1].Exec("START REPLICA SQL_THREAD")
	p.until("them too, whose resolution is finer than their lags", func(r wire.LagResult) bool { return r.Unseen == 0 && p.readBefore() })
	r := p.stop()
	t.Log(describe(r))

	if r.Nodes[0].Samples != 0 || r.Nodes[0].Unseen != 0 {
		t.Errorf("the primary has samples or unseen writes of its own: %+v", r.Nodes[0])
	}
	if b := r.Nodes[1]; b.Samples != r.Acknowledged || b.Unseen != 0 || b.OldestUnseenMicroseconds != nil {
		t.Errorf("%d writes, %d samples, %d unseen: each must become a sample", r.Acknowledged, b.Samples, b.Unseen)
	}
	if *r.P50Microseconds <= 0 || *r.P99Microseconds < *r.P50Microseconds || *r.MaxMicroseconds < *r.P99Microseconds {
		t.Errorf("p50 %d, p99 %d, max %d", *r.P50Microseconds, *r.P99Microseconds, *r.MaxMicroseconds)
	}
	if *r.ResolutionP50Microseconds <= 0 {
		t.Errorf("resolution %d of a lag of %d", *r.ResolutionP50Microseconds, *r.P50Microseconds)
	}
	if !flavor.MeasuresLag {
		if r.Nodes[1].EngineTransportP50Microseconds != nil || r.Nodes[1].EngineApplyP50Microseconds != nil {
			t.Errorf("the engine has no view of its own: %+v", r.Nodes[1])
		}
	} else if *r.Nodes[1].EngineTransportP50Microseconds <= 0 || *r.Nodes[1].EngineApplyP50Microseconds <= 0 {
		t.Errorf("the engine's own view is not sane: %+v", r.Nodes[1])
	}
	if len(r.Sizes) != 2 || r.Sizes[0].Samples+r.Sizes[1].Samples != r.Samples || r.Sizes[0].InsertP50Microseconds <= 0 {
		t.Errorf("sizes %+v", r.Sizes)
	}
	var rows int64
	var bytes int64
	if err := s[1].DB(wire.AccountProbe, wire.Database).QueryRow("SELECT COUNT(*), SUM(LENGTH(payload)) FROM probe_writes").Scan(&rows, &bytes); err != nil {
		t.Fatal(err)
	}
	if rows != r.Acknowledged || bytes < (rows-1)*10000 { // a last turn may have the small one alone
		t.Errorf("the replica has %d rows of %d bytes, want %d rows of 100 and 20000", rows, bytes, r.Acknowledged)
	}
}

// readBefore tells that writes were looked for before they were seen: a resolution from the write's begin is wider than its lag.
func (p running) readBefore() (some bool) {
	p.locked(func(b *state) { some = *b.all.resolution.percentile(100) < *b.all.lag.percentile(100) })
	return some
}

func TestWritesBeforeAndAfterTheLoadDoNotCount(t *testing.T) {
	enginetest.Each(t, writesBeforeAndAfterTheLoadDoNotCount)
}

func writesBeforeAndAfterTheLoadDoNotCount(t *testing.T, flavor enginetest.Flavor) {
	s := followOn(t, flavor, "a", "b")
	c := configure(t, s[0].Endpoint(), s...)
	var load atomic.Bool
	c.Counted = load.Load
	p := start(t, c)
	p.until("30 writes before the load", func(r wire.LagResult) bool { return r.Uncounted >= 30 })
	load.Store(true)
	p.until("30 samples of the load", func(r wire.LagResult) bool { return r.Samples >= 30 })
	s[1].Exec("STOP REPLICA SQL_THREAD")
	p.until("10 of the load unseen", func(r wire.LagResult) bool { return r.Unseen >= 10 })
	load.Store(false)
	during := p.Result()
	p.until("30 writes after the load", func(r wire.LagResult) bool { return r.Uncounted >= during.Uncounted+30 })
	s[1].Exec("START REPLICA SQL_THREAD")
	p.until("all of the load seen", func(r wire.LagResult) bool { return r.Unseen == 0 })
	r := p.stop()
	t.Log(describe(r))
	if r.Samples != r.Acknowledged || r.Acknowledged > during.Acknowledged+1 {
		t.Errorf("%d writes of the load when it ended, then %d, %d samples", during.Acknowledged, r.Acknowledged, r.Samples)
	}
	if *r.MaxMicroseconds < 600_000 { // 30 writes went by until the replica went on
		t.Errorf("largest lag %d µs: what the replica showed after the load must keep its lag", *r.MaxMicroseconds)
	}
}

// The positive control: a delay of one second that the server itself keeps.
func TestADelayedReplicaShowsItsDelayInEverySample(t *testing.T) {
	enginetest.Each(t, aDelayedReplicaShowsItsDelayInEverySample)
}

func aDelayedReplicaShowsItsDelayInEverySample(t *testing.T, flavor enginetest.Flavor) {
	s := followOn(t, flavor, "a", "b")
	s[1].Exec("STOP REPLICA SQL_THREAD; " + flavor.DelaySQL + "; START REPLICA SQL_THREAD")
	p := start(t, configure(t, s[0].Endpoint(), s...))
	p.until("100 samples, with a resolution much finer than the lag", func(r wire.LagResult) bool {
		return r.Samples >= 100 && *r.ResolutionP50Microseconds <= *r.P50Microseconds/5
	})
	r := p.stop()
	t.Log(describe(r))

	if r.Samples+r.Unseen != r.Acknowledged {
		t.Errorf("%d writes, %d samples, %d unseen", r.Acknowledged, r.Samples, r.Unseen)
	}
	// The server waits for the end of the second in which the delay has passed.
	if *r.P50Microseconds < 1_000_000 {
		t.Errorf("p50 %d µs behind a delay of 1 s", *r.P50Microseconds)
	}
	if flavor.MeasuresLag && (*r.Nodes[1].EngineApplyP50Microseconds < 1_000_000 || *r.Nodes[1].EngineTransportP50Microseconds > 900_000) {
		t.Errorf("the engine's own view must show the delay in apply alone: %+v", r.Nodes[1])
	}
}

func TestAStalledReplicaHasAGrowingLagAndLaterAllItsSamples(t *testing.T) {
	enginetest.Each(t, aStalledReplicaHasAGrowingLagAndLaterAllItsSamples)
}

func aStalledReplicaHasAGrowingLagAndLaterAllItsSamples(t *testing.T, flavor enginetest.Flavor) {
	s := followOn(t, flavor, "a", "b")
	f := newForwarder(t, address(s[0]))
	p := start(t, configure(t, f.endpoint(), s...))
	p.until("20 samples", func(r wire.LagResult) bool { return r.Samples >= 20 })

	s[1].Exec("STOP REPLICA SQL_THREAD")
	p.until("30 unseen", func(r wire.LagResult) bool { return r.Unseen >= 30 })
	first := p.Latest()
	f.move(address(s[0])) // a new session for the writer finds the same server: nothing is lost by that
	p.until("60 unseen", func(r wire.LagResult) bool { return r.Unseen >= 60 })
	second := p.Latest()
	if first[0] != -1 || second[0] != -1 || first[1] < 400_000 || second[1] < first[1]+400_000 {
		t.Errorf("latest %v, then %v: the primary must have none and the replica a growing one", first, second)
	}
	stalled := p.Result().Nodes[1]
	if *stalled.OldestUnseenMicroseconds < 1_000_000 {
		t.Errorf("60 writes unseen, the oldest for %d µs", *stalled.OldestUnseenMicroseconds)
	}

	s[1].Exec("START REPLICA SQL_THREAD")
	p.until("all seen", func(r wire.LagResult) bool { return r.Nodes[1].Samples >= stalled.Samples+stalled.Unseen })
	if latest := p.Latest(); latest[1] < second[1] {
		t.Errorf("latest %d after the stall, want at least %d: the largest lag since the last call", latest[1], second[1])
	}
	r := p.stop()
	t.Log(describe(r))
	if r.Samples != r.Acknowledged || r.Unseen != 0 || stalled.Lost != 0 {
		t.Errorf("%d writes, %d samples, %d unseen, %d once lost: a stall must yield all its samples", r.Acknowledged, r.Samples, r.Unseen, stalled.Lost)
	}
	if *r.MaxMicroseconds < 1_000_000 {
		t.Errorf("largest lag %d µs, want the stall", *r.MaxMicroseconds)
	}
}

func TestWritesThatAReplicaNeverShowsAreUnseen(t *testing.T) {
	s := follow(t, "a", "b")
	p := start(t, configure(t, s[0].Endpoint(), s...))
	p.until("20 samples", func(r wire.LagResult) bool { return r.Samples >= 20 })
	s[1].Exec("STOP REPLICA SQL_THREAD")
	p.until("30 unseen", func(r wire.LagResult) bool { return r.Unseen >= 30 })
	r := p.stop()
	t.Log(describe(r))
	if r.Unseen < 30 || r.Samples+r.Unseen != r.Acknowledged || r.Lost != 0 {
		t.Errorf("%d writes, %d samples, %d unseen, %d lost", r.Acknowledged, r.Samples, r.Unseen, r.Lost)
	}
	if r.OldestUnseenMicroseconds == nil || *r.OldestUnseenMicroseconds < 1_000_000 { // 30 writes and the second at the end
		t.Errorf("oldest unseen %s", number(r.OldestUnseenMicroseconds))
	}
	if again := p.Result(); *again.OldestUnseenMicroseconds != *r.OldestUnseenMicroseconds {
		t.Error("the result changes after the end")
	}
}

func TestAReplicaWithoutCommitOrderIsMeasuredToo(t *testing.T) {
	s := follow(t, "a", "b")
	s[1].Exec("STOP REPLICA; SET GLOBAL replica_preserve_commit_order=OFF; START REPLICA")
	p := start(t, configure(t, s[0].Endpoint(), s...))
	p.until("20 samples", func(r wire.LagResult) bool { return r.Samples >= 20 })
	s[1].Exec("STOP REPLICA SQL_THREAD")
	p.until("10 unseen", func(r wire.LagResult) bool { return r.Unseen >= 10 })
	s[1].Exec("START REPLICA SQL_THREAD")
	p.until("50 samples more", func(r wire.LagResult) bool { return r.Samples >= 80 })
	if r := p.stop(); r.Samples != r.Acknowledged {
		t.Errorf("%d writes, %d samples", r.Acknowledged, r.Samples)
	}
}

func TestConfigurationsThatCannotBeRunAreRefused(t *testing.T) {
	good := func() Config { return configure(t, wire.Endpoint{Host: "x", Port: 1}) }
	for name, spoil := range map[string]func(*Config){
		"no engine":                   func(c *Config) { c.Open = nil },
		"no node":                     func(*Config) {},
		"a payload that does not fit": func(c *Config) { c.PayloadBytes = []int64{100, 65001} },
		"no payload size":             func(c *Config) { c.PayloadBytes = nil },
		"no interval":                 func(c *Config) { c.Interval = 0 * time.Second },
		"no source of ids":            func(c *Config) { c.ProbeIDs = nil },
	} {
		c := good()
		if name != "no node" {
			c.Nodes = []wire.Node{{Name: "a", Host: "a"}}
		}
		spoil(&c)
		if _, err := New(c); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestNothingIsWrittenAtRest(t *testing.T) {
	var due atomic.Int64
	c := configure(t, wire.Endpoint{Host: "a"})
	c.Open, c.Nodes, c.Interval = func(engine.LagTarget) Engine { return &foreseeing{} }, []wire.Node{{Name: "b"}}, time.Millisecond
	c.Resting = func() bool { return due.Add(1) > 0 }
	p := start(t, c)
	for due.Load() < 5 {
		time.Sleep(time.Millisecond)
	}
	if r := p.stop(); r.Acknowledged+r.Uncounted+r.Discarded != 0 {
		t.Errorf("%+v", r)
	}
}
