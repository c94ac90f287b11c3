package director

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"replab.dev/internal/wire"
)

// nodes are the database nodes of the experiment.
type nodes interface {
	observe(ctx context.Context, state wire.DirectorState) view
	do(ctx context.Context, a act) error
	// renewFor lets the lease of one node be renewed from now on; of none when name is empty.
	renewFor(name string)
	forgetClone(name string)
	// restart forgets what was only remembered, since the state was loaded anew.
	restart()
}

// Director drives one experiment's nodes.
type Director struct {
	cfg    wire.DirectorConfig
	nodes  nodes
	store  store
	labels func(wire.DirectorState) // told of each new state; must not block

	requests chan request

	mu    sync.Mutex
	state wire.DirectorState

	saved     wire.DirectorState // what is stored
	softAfter time.Time          // no write for the rest of it before
	saveAfter time.Time          // no write that is not an intent before
	failed    act
	lastAct   act
	lastError string // the same one is logged once
}

func newDirector(cfg wire.DirectorConfig, n nodes, s store, labels func(wire.DirectorState)) *Director {
	return &Director{cfg: cfg, nodes: n, store: s, labels: labels, requests: make(chan request)}
}

// Run drives the nodes until ctx ends; then it returns nil. A state that was stored by another is an error: two
// directors must not drive the same nodes.
func (d *Director) Run(ctx context.Context) error {
	if err := d.load(ctx); err != nil {
		return d.unlessEnded(ctx, err)
	}
	for ctx.Err() == nil {
		pause, err := d.round(ctx)
		if err != nil {
			return d.unlessEnded(ctx, err)
		}
		d.rest(ctx, pause)
	}
	return nil
}

func (d *Director) unlessEnded(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// round looks, decides and does at most one thing. It returns how long to rest before the next one.
func (d *Director) round(ctx context.Context) (time.Duration, error) {
	began := time.Now()
	v := d.nodes.observe(ctx, d.State())
	if ctx.Err() != nil {
		return 0, nil
	}
	v.Failed = d.failed
	d.failed = act{}
	before := d.State()
	decided := decide(d.cfg, before, v)
	d.nodes.renewFor(decided.Renew)
	rest := d.restAfter(began, v.Now, decided.Within)
	if decided.Intent {
		return d.intend(ctx, decided, rest)
	}
	tell(before, decided)
	d.setState(decided.State)
	if decided.Act == (act{}) {
		d.lastAct = act{}
		return rest, d.saveIfWorth(ctx)
	}
	return d.carryOut(ctx, decided.Act, rest)
}

// restAfter is what is left of the time between two looks, or until something is due.
func (d *Director) restAfter(began, looked time.Time, within time.Duration) time.Duration {
	rest := time.Until(began.Add(time.Duration(d.cfg.ProbeMilliseconds) * time.Millisecond))
	if within > 0 {
		rest = min(rest, time.Until(looked.Add(within)))
	}
	return max(0, rest)
}

// carryOut does an act. The next look follows at once, unless the act failed or is the same one again.
func (d *Director) carryOut(ctx context.Context, a act, rest time.Duration) (time.Duration, error) {
	again := a == d.lastAct
	d.lastAct = a
	if err := d.nodes.do(ctx, a); err != nil {
		d.failed = a
		d.warn(ctx, "act failed", err)
		return rest, nil
	}
	if !again {
		slog.Info("act done", "act", a.Kind, "node", a.Node, "from", a.From)
	}
	if !again || a.Kind == actCatchUp {
		rest = 0
	}
	stamped := stamp(d.State(), a, time.Now())
	d.setState(stamped)
	if d.isUrgent(stamped) && (a.Kind == actPromote || a.Kind == actOpen) {
		return rest, d.saveIfWorth(ctx)
	}
	return rest, nil
}

// warn logs an error, but not again and again.
func (d *Director) warn(ctx context.Context, what string, err error) {
	if text := err.Error(); text != d.lastError && ctx.Err() == nil {
		slog.Warn(what, "error", err)
		d.lastError = text
	}
}

// State returns the present state, progress included.
func (d *Director) State() wire.DirectorState {
	d.mu.Lock()
	defer d.mu.Unlock()
	return copyState(d.state)
}

func (d *Director) setState(state wire.DirectorState) {
	d.mu.Lock()
	d.state = state
	d.mu.Unlock()
	d.labels(state)
}
