package director

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"replab.dev/internal/agent/client"
)

// leases gives the primary its lease, renews it, and knows until when a lease may stand. It renews by itself, so that an
// act on one node that takes long does not close another one.
type leases struct {
	agents  map[string]client.Agent
	ttl     time.Duration
	timeout time.Duration // of a request

	mu     sync.Mutex
	holder string
	until  map[string]time.Time
	// giving is held while a request for a lease is under way.
	giving sync.Mutex
	soon   chan struct{} // asks for a renewal before its time
}

// newLeases takes it that every node was given a lease just now, by the director before this one.
func newLeases(agents map[string]client.Agent, ttl, timeout time.Duration) *leases {
	l := &leases{agents: agents, ttl: ttl, timeout: timeout, until: map[string]time.Time{}, soon: make(chan struct{}, 1)}
	l.forget()
	return l
}

// forget is the same for a director that has to begin again from the stored state.
func (l *leases) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for name := range l.agents {
		l.until[name] = time.Now().Add(l.ttl)
	}
}

// left returns how long a lease of the node may still stand.
func (l *leases) left(name string) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return max(0, time.Until(l.until[name]))
}

// give grants a lease. The agent counts from when it heard of it, the director from when it heard the answer, which is
// later. A request without an answer may have been heard, unless no connection came to be.
func (l *leases) give(ctx context.Context, name string) error {
	l.giving.Lock()
	defer l.giving.Unlock()
	return l.giveNow(ctx, name)
}

func (l *leases) giveNow(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, l.timeout)
	defer cancel()
	err := l.agents[name].Lease(ctx, l.ttl)
	if err == nil || !neverSent(err) {
		l.mu.Lock()
		l.until[name] = time.Now().Add(l.ttl)
		l.mu.Unlock()
	}
	return err
}

// renewFor lets the lease of one node be renewed from now on, of none when name is empty. When it returns no renewal for
// another node is under way, so that left tells the truth about that one.
func (l *leases) renewFor(name string) {
	l.mu.Lock()
	changed := l.holder != name
	l.holder = name
	l.mu.Unlock()
	if !changed {
		return
	}
	l.giving.Lock() // whoever held it before has ended
	defer l.giving.Unlock()
	select {
	case l.soon <- struct{}{}: // the lease may be old
	default:
	}
}

// run renews until ctx ends, three times as often as the lease needs it.
func (l *leases) run(ctx context.Context) {
	ticker := time.NewTicker(l.ttl / 3)
	defer ticker.Stop()
	failed := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-l.soon:
		}
		err := l.renew(ctx)
		if err != nil && !failed && ctx.Err() == nil {
			slog.Warn("the primary's lease could not be renewed; it is read-only once the lease has run out", "error", err)
		}
		failed = err != nil
	}
}

func (l *leases) renew(ctx context.Context) error {
	l.giving.Lock()
	defer l.giving.Unlock()
	l.mu.Lock()
	name := l.holder
	l.mu.Unlock()
	if name == "" {
		return nil
	}
	return l.giveNow(ctx, name)
}
