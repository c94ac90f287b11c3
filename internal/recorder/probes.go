package recorder

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"replab.dev/internal/lag"
	"replab.dev/internal/recorder/counters"
	"replab.dev/internal/recorder/figures"
	"replab.dev/internal/wire"
)

// probes are the recorder's own measurements. The samplers run from its start, for a baseline; the rest runs during the load.
type probes struct {
	figures      *figures.Recorder
	now          func() time.Time
	resources    *resources
	clocks       *clocks
	inspection   *inspection
	commits      *commits      // nil when they are not counted
	group        *group        // nil when the servers form none
	availability *availability // nil when it is off
	lag          *lag.Probe    // nil when it is off
	lastLag      atomic.Pointer[[]int64]

	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup
}

func newProbes(cfg wire.RecorderConfig, env environment, d *forwarder, ids func() uint64, password string) (*probes, error) {
	p := &probes{figures: d.figures, now: d.now, resources: newResources(cfg, env.agent, d), clocks: newClocks(cfg.Clocks, d.now)}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.inspection = newInspection(cfg, env.server, env.engine.Inspector(password))
	var err error
	if cfg.CountCommits {
		if p.commits, err = newCommits(cfg, env, password, d); err != nil {
			return nil, err
		}
	}
	if cfg.CountGroup {
		if p.group, err = newGroup(cfg, env, password, d); err != nil {
			return nil, err
		}
	}
	if interval := time.Duration(cfg.AvailabilityIntervalMilliseconds) * time.Millisecond; interval > 0 {
		p.availability = &availability{
			app: d.app, ids: ids, interval: interval, timeout: min(probeTimeout, d.timeout),
			schedule: &d.probing, outage: d.outage, figures: d.figures,
		}
	}
	if interval := time.Duration(cfg.LagIntervalMilliseconds) * time.Millisecond; interval > 0 {
		p.lag, err = lag.New(lag.Config{
			Open: env.engine.Lag, Nodes: cfg.Nodes, Writes: cfg.Writes, Secret: password, Interval: interval,
			PayloadBytes: cfg.LagPayloadBytes, ProbeIDs: ids, Counted: d.figures.Counting, Resting: d.figures.Resting, Log: slog.Default(), Address: env.server,
			SeveralWriters: cfg.SeveralWriters, Paused: d.figures.Pauses.Within,
		})
		if err != nil {
			return nil, fmt.Errorf("lag probe: %w", err)
		}
	}
	return p, nil
}

// watch begins to sample, and to log pauses of this process.
func (p *probes) watch() {
	p.running.Go(func() { p.figures.Pauses.Watch(p.ctx, p.now) })
	p.running.Go(func() { everyInterval(p.ctx, counters.Interval, p.resources.sample) })
	p.running.Go(func() { everyInterval(p.ctx, counters.Interval, p.clocks.sample) })
	p.running.Go(func() { p.inspection.watch(p.ctx) })
	if p.commits != nil {
		p.running.Go(func() { p.commits.watch(p.ctx) })
	}
	if p.group != nil {
		p.running.Go(func() { p.group.watch(p.ctx) })
	}
}

// start begins with the rest. load is when the load started.
func (p *probes) start(load time.Time) {
	p.figures.Start(load)
	p.inspection.start()
	if p.commits != nil {
		p.commits.start(load)
	}
	if p.group != nil {
		p.group.start(load)
	}
	if p.availability != nil {
		p.availability.outage.Begin(load)
		p.running.Go(func() { p.availability.outage.Watch(p.ctx, stall(p.availability.interval)) })
		p.running.Go(func() { p.availability.run(p.ctx) })
	}
	if p.lag != nil {
		p.running.Go(func() {
			if err := p.lag.Run(p.ctx); err != nil {
				slog.Error("the lag probe failed", "error", err)
			}
		})
		p.running.Go(func() { p.followLag(load) })
	}
}

// stall is the shortest silence without a failed write that is an outage: several writes of the probe, and longer than a busy disk's stalls.
func stall(probeInterval time.Duration) time.Duration {
	return max(5*probeInterval, 100*time.Millisecond)
}

func (p *probes) formerPrimaries() []string {
	if p == nil || p.lag == nil {
		return nil
	}
	return p.lag.FormerPrimaries()
}

// followLag notes the lag of each of the load's seconds when it is over.
func (p *probes) followLag(load time.Time) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	defer p.lastLag.Store(nil)
	for second := int(max(time.Since(load), 0) / time.Second); ; second++ {
		timer.Reset(time.Until(load.Add(time.Duration(second+1) * time.Second)))
		select {
		case <-p.ctx.Done():
			return
		case <-timer.C:
		}
		latest := p.lag.Latest()
		p.lastLag.Store(&latest)
		p.figures.SetLag(second, latest)
	}
}

// stop ends the probes, waits for them, and takes the last samples.
func (p *probes) stop() {
	p.cancel()
	p.running.Wait()
	last := context.WithoutCancel(p.ctx)
	p.resources.sample(last)
	if p.commits != nil {
		p.commits.finish(last)
	}
	if p.group != nil {
		p.group.finish(last)
	}
	p.inspection.finish(last) // the last, since it may take a while
}

// report adds the probes' figures to r.
func (p *probes) report(r *wire.RecorderResults) {
	r.Resources, r.Clocks = p.resources.result()
	r.Traffic = p.resources.exchanged()
	r.Clocks = append(r.Clocks, p.clocks.result()...)
	r.Links = p.resources.held()
	r.Settings = p.inspection.result()
	if p.commits != nil {
		r.Commits = p.commits.result()
	}
	if p.group != nil {
		r.Group = p.group.result()
	}
	if p.availability != nil {
		r.Availability = p.availability.result()
		r.Availability.StallMilliseconds = stall(p.availability.interval).Milliseconds()
	}
	if p.lag != nil {
		r.Lag = new(p.lag.Result())
		figures.MarkLag(r.Lag, r.Load)
	}
}
