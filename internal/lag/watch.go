package lag

import (
	"context"
	"slices"
	"time"

	"replab.dev/internal/engine"
	"replab.dev/internal/polling"
	"replab.dev/internal/timer"
)

// waitSlice bounds one wait. It must be short, since a wait for a write that was discarded ends with its slice only.
const waitSlice = 250 * time.Millisecond

// keep runs use on a session on node i until ctx ends, each time on a new session after an error.
func (p *Probe) keep(ctx context.Context, i int, use func(context.Context, int, Watcher) error) {
	node := p.cfg.Nodes[i]
	failing := false
	for ctx.Err() == nil {
		s, err := p.engine.OpenWatcher(ctx, p.cfg.Address(node))
		if err == nil {
			failing = false
			p.update(func(b *state) { b.tracks[i].identify(s.Server()) })
			err = use(ctx, i, s)
			_ = s.Close() // it is given up
		}
		if err == nil || ctx.Err() != nil {
			return
		}
		if !failing {
			p.cfg.Log.Warn("the lag probe cannot read a node, trying again", "node", node.Name, "error", err)
			failing = true
		}
		select {
		case <-ctx.Done():
		case <-time.After(reopenPause):
		}
	}
}

// awaitWrites is the waiter: it is always blocked in a wait for the oldest write that the node has not shown, or for the
// next one, before that is begun. It returns an error when the session fails.
func (p *Probe) awaitWrites(ctx context.Context, i int, s Watcher) error {
	for ctx.Err() == nil {
		first, last, idle := p.awaited(i)
		if idle {
			select {
			case <-ctx.Done():
			case <-p.signals[i].begun:
			}
			continue
		}
		if first < last { // one read answers for all, as after a stall
			r, err := p.read(s, first, last)
			if err != nil {
				return err
			}
			p.update(func(b *state) { b.tracks[i].observe(r) })
			if !r.missing.Has(first) {
				continue
			}
		}
		if err := p.await(i, s, first); err != nil {
			return err
		}
	}
	return nil
}

// awaited returns the outstanding writes, or the next one twice; or that node i has none and will get none, because it
// takes the writes itself.
func (p *Probe) awaited(i int) (first, last uint64, idle bool) {
	p.locked(func(b *state) {
		t := b.tracks[i]
		unseen := slices.IndexFunc(t.writes, func(p pending) bool { return p.upper == 0 })
		switch {
		case unseen >= 0: // one that is seen waits for its acknowledgement alone
			first, last = t.writes[unseen].seq, t.writes[len(t.writes)-1].seq
		case t.server != "" && t.server == b.current.server:
			idle = true
		default:
			first, last = b.current.seq+1, b.current.seq+1
		}
	})
	return first, last, idle
}

func (p *Probe) await(i int, s Watcher, seq uint64) error {
	start := p.now()
	p.update(func(b *state) { b.tracks[i].waiting = seq })
	seen, err := s.Wait(seq, waitSlice)
	r := reading{first: seq, last: seq, start: start, end: p.now()}
	var missed reading
	if !seen {
		missed = r
	}
	if poller, ok := s.(Poller); ok {
		missed = p.missed(seq, poller)
	}
	p.update(func(b *state) {
		b.tracks[i].waiting = 0
		if err != nil {
			return
		}
		if missed.first != 0 {
			missed.missing = engine.Spans{{First: seq, Last: seq}}
			b.tracks[i].observe(missed)
		}
		if seen {
			b.tracks[i].observe(r)
		}
	})
	return err
}

// missed is the last look of the last wait that did not see its write, or no reading.
func (p *Probe) missed(seq uint64, s Poller) reading {
	began, ended := s.Missed()
	if began.IsZero() {
		return reading{}
	}
	return reading{first: seq, last: seq, start: began.Sub(p.origin), end: ended.Sub(p.origin)}
}

func (p *Probe) read(s Watcher, first, last uint64) (reading, error) {
	start := p.now()
	missing, err := s.Missing(first, last)
	return reading{first: first, last: last, missing: missing, start: start, end: p.now()}, err
}

// viewInterval is how often the engine's own figures are taken, and the lost writes looked for.
const viewInterval = time.Second

// checkWrites is the checker: it reads at the times that nextCheck gives. It returns an error when the session fails.
func (p *Probe) checkWrites(ctx context.Context, i int, s Watcher) error {
	view := p.now() + viewInterval
	fine := timer.New()
	defer fine.Close()
	for ctx.Err() == nil {
		due, first, last, some := p.due(i)
		switch now := p.now(); {
		case view <= now:
			view = now + viewInterval
			if err := p.look(i, s); err != nil {
				return err
			}
		case some && due <= now:
			r, err := p.read(s, first, last)
			if err != nil {
				return err
			}
			p.update(func(b *state) { b.tracks[i].observe(r) })
		case some:
			sleep(ctx, min(due, view)-now, p.signals[i].acked, fine)
		default:
			sleep(ctx, view-now, p.signals[i].acked, fine)
		}
	}
	return nil
}

// due returns when the checker should read next and which writes, or false when no acknowledged write is outstanding.
func (p *Probe) due(i int) (at time.Duration, first, last uint64, some bool) {
	p.locked(func(b *state) {
		t := b.tracks[i]
		oldest, ok := t.oldest()
		if !ok {
			return
		}
		guess := t.guesses[oldest.size]
		if t.polled && t.find(t.waiting) >= 0 { // else its waiter looks for a write that is lost, or has no session
			guess = rarely
		}
		at, some = nextCheck(oldest.acked, oldest.lower, guess), true
		first, last = oldest.seq, t.writes[len(t.writes)-1].seq
	})
	return at, first, last, some
}

// look takes the engine's own figures from a replica, and looks for the writes that were set apart.
func (p *Probe) look(i int, s Watcher) error {
	var replica, some bool
	var first, last uint64
	p.locked(func(b *state) {
		replica = b.tracks[i].server != b.current.server
		first, last, some = b.tracks[i].leftRange()
	})
	if replica {
		v, err := s.View()
		if err != nil {
			return err
		}
		counted := p.cfg.Counted()
		p.update(func(b *state) { b.tracks[i].view(v, counted) })
	}
	if !some {
		return nil
	}
	r, err := p.read(s, first, last)
	if err == nil {
		p.update(func(b *state) { b.tracks[i].observeLeft(r) })
	}
	return err
}

// sleep returns after d, or somewhat earlier, or when it is woken or ctx ends. The last two milliseconds are slept finely
// and cannot be cut short.
func sleep(ctx context.Context, d time.Duration, wake <-chan struct{}, fine *timer.Timer) {
	const rest = 2 * time.Millisecond
	if d <= rest {
		fine.Sleep(d)
		return
	}
	timer := time.NewTimer(d - rest)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-wake:
	case <-timer.C:
	}
}

// When the checker reads. Its reads decide how fine the resolution is, and they are much of what the probe costs: one that
// comes late costs without a use, one that comes early leaves a coarse resolution.
const (
	leastGap = 100 * time.Microsecond // between two reads, about a round trip
	mostGap  = 50 * time.Millisecond  // bounds the resolution of the writes that follow during a stall
	rarely   = polling.Guess(mostGap) // the guess for a node whose waiter looks by itself: two that look would be in each other's way
)

// nextCheck returns when to read the oldest outstanding write next: at its guess, then when the time since the acknowledgement has grown by three
// quarters. lower is the start of the last read that did not see it.
func nextCheck(acked, lower time.Duration, guess polling.Guess) time.Duration {
	first := acked + min(time.Duration(guess), mostGap)
	if lower < acked {
		return first
	}
	elapsed := lower - acked
	return max(first, lower+min(max(elapsed*3/4, leastGap), mostGap))
}
