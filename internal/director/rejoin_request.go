package director

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// rejoin is a request for a node to be rebuilt; the answer is why not.
type rejoin struct {
	node   string
	answer chan error
}

// rest waits, and takes requests to rebuild nodes meanwhile.
func (d *Director) rest(ctx context.Context, pause time.Duration) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case r := <-d.rejoins:
			r.answer <- d.accept(ctx, r.node)
		case <-timer.C:
			return
		}
	}
}

// accept stores that a node is to be rebuilt, so that who asked need not ask again.
func (d *Director) accept(ctx context.Context, node string) error {
	state, err := acceptRejoin(d.State(), node)
	if err != nil {
		return err
	}
	if err := d.save(ctx, state); err != nil {
		return errors.Join(fmt.Errorf("store the request: %w", err), d.saveFailed(ctx, err))
	}
	d.nodes.forgetClone(node)
	d.setState(state)
	return nil
}

// Rejoin asks for a node to be rebuilt and returns once that is stored.
func (d *Director) Rejoin(ctx context.Context, node string) error {
	r := rejoin{node: node, answer: make(chan error, 1)}
	select {
	case d.rejoins <- r:
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
