package agent

import (
	"context"
	"errors"
	"sync"
	"time"

	"replab.dev/internal/agent/proc"
	"replab.dev/internal/agent/repeat"
	"replab.dev/internal/agent/watch"
	"replab.dev/internal/engine"
)

const (
	// LookInterval is the time between two looks at the server: what is told of when it became writable is at most that much late.
	LookInterval = 50 * time.Millisecond
	freshness    = watch.Freshness
)

// Look is what is known of the server at a moment. At, Server and Position are as in Observation.
type Look struct {
	At       time.Time
	Server   string
	Position *engine.ServerPosition
	Why      string // Position is nil
}

// Watcher looks at the node's server again and again.
type Watcher struct {
	finder *proc.Finder
	client engine.Positioned

	mu   sync.Mutex
	last watch.Answer[engine.ServerPosition]
}

// NewWatcher looks at nothing yet.
func NewWatcher(finder *proc.Finder, client engine.Positioned) *Watcher {
	return &Watcher{finder: finder, client: client, last: watch.None[engine.ServerPosition]()}
}

// Run looks until ctx ends.
func (w *Watcher) Run(ctx context.Context) {
	repeat.Every(ctx, LookInterval, func() {
		a := watch.Ask(ctx, w.finder, w.client.Position)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.last = a
	})
}

// Look implements Server. It does not wait for the server.
func (w *Watcher) Look() (Look, error) {
	server, err := w.finder.Find()
	now := time.Now()
	if errors.Is(err, proc.ErrNone) {
		return Look{At: now, Why: err.Error()}, nil
	}
	if err != nil {
		return Look{}, err
	}
	l := Look{At: now, Server: server.ID()}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.last.Stands(server, now); err != nil {
		l.Why = err.Error()
		return l, nil
	}
	position := w.last.Value
	l.At, l.Position = w.last.At, &position
	return l, nil
}
