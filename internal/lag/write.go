package lag

import (
	"context"
	"math/rand/v2"
	"time"

	"replab.dev/internal/engine"
)

// reopenPause is the least time between two attempts to open a session.
const reopenPause = 100 * time.Millisecond

const (
	// receiveTime is how long a server may take to receive what another has acknowledged that takes writes beside it.
	receiveTime = time.Second
	// receivePause lies between two questions whether it has.
	receivePause = 5 * time.Millisecond
)

// writeAtIntervals starts a write at every interval until ctx ends.
func (p *Probe) writeAtIntervals(ctx context.Context) {
	w := writing{probe: p}
	defer w.end()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for due := p.now(); ; {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		if !p.cfg.Resting() && !w.once(ctx) {
			p.miss(1)
		}
		due += p.cfg.Interval
		if late := p.now() - due; late > 0 { // the intervals that the write took up have no write of their own
			skipped := late / p.cfg.Interval
			due += skipped * p.cfg.Interval
			p.miss(int64(skipped))
		}
		timer.Reset(due - p.now())
	}
}

// miss notes writes that were due and not begun.
func (p *Probe) miss(writes int64) {
	if p.cfg.Counted() {
		p.update(func(b *state) { b.missed += writes })
	}
}

// writing is the write path's state.
type writing struct {
	probe   *Probe
	session Writer // nil without one
	last    uint64 // number of the last write
	turn    []int  // sizes that are still due in this turn, as indices
	tried   time.Duration
	failing bool
}

// once does one write and returns false when it could not be begun.
func (w *writing) once(ctx context.Context) bool {
	if w.session == nil && !w.open(ctx) {
		return false
	}
	p := w.probe
	w.last++
	size := w.next()
	taker, counted := w.session.Server(), p.cfg.Counted()
	begun := p.now()
	p.update(func(b *state) { b.begin(w.last, taker, size, counted, begun) })
	for _, s := range p.signals {
		signal(s.begun)
	}
	err := w.session.Write(w.last, p.cfg.ProbeIDs(), size)
	acked := p.now()
	if c, ok := w.session.(Confirmer); ok && err == nil {
		err = c.Confirm(w.last)
	}
	if err != nil {
		p.update((*state).discard)
		w.fail(err)
		return true
	}
	p.update(func(b *state) {
		b.acknowledge(acked)
		for i, t := range b.tracks {
			if len(t.writes) > 0 { // the others have nothing to check
				signal(p.signals[i].acked)
			}
		}
	})
	return true
}

// next is the size of the next write. Each turn has all sizes in an order of its own: else one of them would always meet what the servers or
// the probes do every so many intervals.
func (w *writing) next() int {
	if len(w.turn) == 0 {
		w.turn = rand.Perm(len(w.probe.cfg.PayloadBytes))
	}
	size := w.turn[0]
	w.turn = w.turn[1:]
	return size
}

// open opens a session and sets apart what its server does not have. A server that takes writes while it lacks some that
// were acknowledged has lost them, or has not received them yet from another that took writes before.
func (w *writing) open(ctx context.Context) bool {
	p := w.probe
	if w.tried != 0 && p.now()-w.tried < reopenPause {
		return false
	}
	w.tried = p.now()
	session, err := p.engine.OpenWriter(ctx)
	if err != nil {
		w.fail(err)
		return false
	}
	w.session = session
	var first, last uint64
	var some bool
	p.locked(func(b *state) { first, last, some = b.outstanding() })
	if some {
		missing, err := w.missing(ctx, first, last)
		if err != nil {
			w.fail(err)
			return false
		}
		p.update(func(b *state) { b.leave(missing) })
	}
	w.failing = false
	p.cfg.Log.Info("the lag probe is connected to the node that takes writes", "server", session.Server().Hostname, "identity", session.Server().Identity)
	return true
}

// missing are the writes that the session's server does not have. One that takes writes beside others receives theirs like anybody else: it
// is given the time for that.
func (w *writing) missing(ctx context.Context, first, last uint64) (engine.Spans, error) {
	for from := w.probe.now(); ; {
		missing, err := w.session.Missing(first, last)
		if err != nil || len(missing) == 0 || !w.probe.cfg.SeveralWriters || ctx.Err() != nil || w.probe.now()-from > receiveTime {
			return missing, err
		}
		time.Sleep(receivePause)
	}
}

// fail gives the session up: a write of unknown fate must not stay pending in it.
func (w *writing) fail(err error) {
	w.end()
	if !w.failing {
		w.probe.cfg.Log.Warn("the lag probe cannot write, trying again", "error", err)
	}
	w.failing = true
}

func (w *writing) end() {
	if w.session != nil {
		_ = w.session.Close()
		w.session = nil
	}
}
