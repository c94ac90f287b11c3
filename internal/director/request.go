package director

import (
	"context"
	"errors"
	"fmt"
	"time"

	"replab.dev/internal/wire"
)

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

// accept stores what is asked for, so that who asked need not ask again.
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
