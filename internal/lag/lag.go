// Package lag measures replication lag from outside: it writes rows through the write path and watches every node for each of them, in one
// process on one monotonic clock. docs/internals.md, "The lag probe", says what a sample is, and what is never seen.
package lag

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

// Config configures a probe. All of it is needed but Counted, Resting, Paused and Address.
type Config struct {
	Open   Open          // the engine's sessions
	Nodes  []wire.Node   // every database node, the primary too
	Writes wire.Endpoint // where the primary of the moment is reached
	Secret string        // password of wire.AccountProbe
	// Interval lies between the beginnings of two writes.
	Interval time.Duration
	// PayloadBytes are the sizes of the rows' payloads; several take turns in random order, and each gets its row in LagResult.Sizes.
	PayloadBytes []int64
	// ProbeIDs returns a new id for a row of wire.ProbeTable.
	ProbeIDs func() uint64
	// Counted is asked when a write begins: whether its lag is one of the figures. Those that do not count are made and
	// watched all the same. Without it all count. It may be called from any goroutine.
	Counted func() bool
	// Resting is asked when a write is due: whether it is left out. Without it none is. It may be called from any goroutine.
	Resting func() bool
	// Paused is asked when a write is seen: how long this process did not run between two times, of which it ran at the second. Without it that was never.
	Paused func(from, to time.Time) time.Duration
	// SeveralWriters: nodes take writes side by side, so no node becomes a former primary.
	SeveralWriters bool
	Log            *slog.Logger
	// Address returns host or host:port of a node's server, when it is not the node's Host.
	Address func(wire.Node) string
}

// Probe measures the lag of every node. Its methods may be called at any time, from any goroutine.
type Probe struct {
	cfg    Config
	engine Engine
	origin time.Time // of the monotonic clock that every time below counts from

	mu    sync.Mutex
	state *state
	ended *time.Duration // when Run stopped watching

	signals []signals
}

// signals wake the goroutines of one node; each holds at most one.
type signals struct {
	begun chan struct{} // a write began, for a waiter that had nothing to wait for
	acked chan struct{} // a write was acknowledged, for the checker
}

// New returns a probe that is not running yet. It fails on a configuration that cannot be run.
func New(c Config) (*Probe, error) {
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("configure the lag probe: %w", err)
	}
	if c.Address == nil {
		c.Address = func(n wire.Node) string { return n.Host }
	}
	if c.Resting == nil {
		c.Resting = func() bool { return false }
	}
	if c.Paused == nil {
		c.Paused = func(time.Time, time.Time) time.Duration { return 0 }
	}
	if c.Counted == nil {
		c.Counted = func() bool { return true }
	}
	target := engine.LagTarget{Writes: c.Writes, Password: c.Secret, PayloadBytes: c.PayloadBytes, LongestWait: waitSlice}
	p := &Probe{cfg: c, engine: c.Open(target), origin: time.Now(), state: newState(c.Nodes, c.PayloadBytes, maxOutstanding)}
	p.state.several = c.SeveralWriters
	p.state.paused = func(from, to time.Duration) time.Duration { return c.Paused(p.origin.Add(from), p.origin.Add(to)) }
	for range c.Nodes {
		p.signals = append(p.signals, signals{make(chan struct{}, 1), make(chan struct{}, 1)})
	}
	return p, nil
}

func (c Config) check() error {
	switch {
	case c.Open == nil:
		return errors.New("there is no engine")
	case len(c.Nodes) == 0:
		return errors.New("there is no node to watch")
	case c.Writes.Host == "":
		return errors.New("there is no endpoint for writes")
	case c.Interval <= 0:
		return fmt.Errorf("the interval %v must be positive", c.Interval)
	case len(c.PayloadBytes) == 0:
		return errors.New("there is no payload size")
	case c.ProbeIDs == nil || c.Log == nil:
		return errors.New("ProbeIDs and Log must be set")
	}
	for _, bytes := range c.PayloadBytes {
		if bytes < 0 || bytes > maxPayloadBytes {
			return fmt.Errorf("a payload of %d bytes does not fit the column: use 0 to %d", bytes, maxPayloadBytes)
		}
	}
	return nil
}

// maxPayloadBytes is what the payload column of wire.ProbeTable holds.
const maxPayloadBytes = 65000

// drainTime is how long the last writes are awaited after the end of the context.
const drainTime = time.Second

// Run writes and watches until ctx ends, then awaits the last writes for up to a second. Dead nodes never end it, so its error is always nil. It
// returns within 8 s of the end of ctx, also where servers no longer answer. It may be called once.
func (p *Probe) Run(ctx context.Context) error {
	watching, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var watchers sync.WaitGroup
	for i := range p.cfg.Nodes {
		watchers.Go(func() { p.keep(watching, i, p.awaitWrites) })
		watchers.Go(func() { p.keep(watching, i, p.checkWrites) })
	}
	p.writeAtIntervals(ctx)
	p.drain()
	p.locked(func(*state) {
		ended := p.now()
		p.ended = &ended
	})
	stop()
	watchers.Wait()
	return nil
}

func (p *Probe) drain() {
	deadline := time.After(drainTime)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		var complete bool
		p.locked(func(b *state) { complete = b.complete() })
		if complete {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			return
		}
	}
}

// Result returns the figures up to now, or to the end of Run.
func (p *Probe) Result() wire.LagResult {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if p.ended != nil {
		now = *p.ended
	}
	return p.state.result(now)
}

// Latest returns in microseconds, in the order of Config.Nodes, the largest lag seen since the previous call or the age of the oldest
// unseen write, whichever is larger; -1 for neither. Negative lags show as 0.
func (p *Probe) Latest() []int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state.latest(p.now())
}

// FormerPrimaries are the nodes that took writes before another node did, and have not followed that one yet.
func (p *Probe) FormerPrimaries() (names []string) {
	p.locked(func(b *state) {
		for _, n := range b.tracks {
			if b.former(n) {
				names = append(names, n.name)
			}
		}
	})
	return names
}

func (p *Probe) now() time.Duration { return time.Since(p.origin) }

// locked reads the state.
func (p *Probe) locked(read func(*state)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	read(p.state)
}

// update changes the state, unless the probe has ended: the result stands then.
func (p *Probe) update(change func(*state)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended == nil {
		change(p.state)
	}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
