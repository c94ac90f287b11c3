// Package director is the failover manager of one primary with asynchronous or semi-synchronous replicas, and of a single
// server. What the server is, its engine knows (internal/engine). It is part of the system under test; one runs per experiment.
//
// It goes round a loop: observe the nodes (observe.go), decide on one next act from the state, the observations and the
// clock (decide.go and the rules beside it: pure), act (acts.go: idempotent). What cannot be repeated, the choice of a
// primary, is an intent: it is stored before anything follows from it, and the act comes after another look. So a
// director that dies at any instant continues from its stored state and from what it sees.
//
// Only the holder of a lease may be writable. The director renews the lease of the primary of the present epoch alone;
// an agent whose lease has run out makes its server read-only. Before another node is opened the old primary must be
// proven dead or read-only, or its lease must have run out.
package director

import (
	"context"
	"errors"
	"fmt"
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
		d.warn(ctx, "step failed, trying again", err)
		return rest, nil
	}
	if !again {
		slog.Info("step done", "step", a.Kind, "node", a.Node, "from", a.From)
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

// request is a change of the state that somebody asks for; the answer is why not.
type request struct {
	change func(wire.DirectorState) (wire.DirectorState, error)
	stored func() // called once the change is stored
	answer chan error
}

// rest waits, and takes requests meanwhile. What was taken is not left waiting.
func (d *Director) rest(ctx context.Context, pause time.Duration) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case r := <-d.requests:
			err := d.accept(ctx, r)
			r.answer <- err
			if err == nil {
				return
			}
		case <-timer.C:
			return
		}
	}
}

// accept stores what is asked for, so that it need not be asked for again.
func (d *Director) accept(ctx context.Context, r request) error {
	before := d.State()
	state, err := r.change(before)
	if err != nil || document(state) == document(before) { // or it was asked for before
		return err
	}
	if err := d.save(ctx, state); err != nil {
		return errors.Join(fmt.Errorf("store the request: %w", err), d.saveFailed(ctx, err))
	}
	r.stored()
	d.setState(state)
	return nil
}

// ask has the loop take a request and returns once that is stored.
func (d *Director) ask(ctx context.Context, change func(wire.DirectorState) (wire.DirectorState, error), stored func()) error {
	r := request{change: change, stored: stored, answer: make(chan error, 1)}
	select {
	case d.requests <- r:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-r.answer:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Rejoin asks for a node to be rebuilt.
func (d *Director) Rejoin(ctx context.Context, node string) error {
	return d.ask(ctx, func(state wire.DirectorState) (wire.DirectorState, error) {
		return acceptRejoin(state, node, microTime(time.Now()))
	}, func() { d.nodes.forgetClone(node) })
}

// Switchover asks for another primary.
func (d *Director) Switchover(ctx context.Context, r wire.SwitchoverRequest) error {
	return d.ask(ctx, func(state wire.DirectorState) (wire.DirectorState, error) {
		return acceptSwitchover(d.cfg, state, r, microTime(time.Now()))
	}, func() {})
}
