package recorder

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// gate counts the load's requests in flight until it is closed. The zero value is open.
type gate struct {
	mu     sync.Mutex
	inside int
	idle   chan struct{} // made when the gate closes, closed when the last has left
}

// enter tells whether the request may go on; then leave must follow.
func (g *gate) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.idle != nil {
		return false
	}
	g.inside++
	return true
}

func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inside--
	if g.idle != nil && g.inside == 0 {
		close(g.idle)
	}
}

// shut lets nobody in any more and waits until the last has left. It may be called again.
func (g *gate) shut(ctx context.Context) error {
	select {
	case <-g.close():
		return nil
	case <-ctx.Done():
		g.mu.Lock()
		defer g.mu.Unlock()
		return fmt.Errorf("%d requests are still in flight: %w", g.inside, errors.Join(ctx.Err(), context.Cause(ctx)))
	}
}

func (g *gate) close() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.idle == nil {
		g.idle = make(chan struct{})
		if g.inside == 0 {
			close(g.idle)
		}
	}
	return g.idle
}
