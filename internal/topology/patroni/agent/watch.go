package agent

import (
	"context"
	"errors"
	"sync"
	"time"

	"replab.dev/internal/agent/proc"
	"replab.dev/internal/agent/repeat"
	"replab.dev/internal/engine"
)

const (
	// lookInterval is the time between two looks at the server: what is told of when it became writable is at most that much late.
	lookInterval = 50 * time.Millisecond
	// freshness is how long an answer stands, and how long one may take.
	freshness = time.Second
)

// Look is what is known of the server at a moment. At, Server and Position are as in Sight.
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

	mu       sync.Mutex
	of       proc.Process // that was asked last
	position engine.ServerPosition
	at       time.Time // of its answer
	err      error
}

// NewWatcher looks at nothing yet.
func NewWatcher(finder *proc.Finder, client engine.Positioned) *Watcher {
	return &Watcher{finder: finder, client: client, err: errors.New("the server has not been asked yet")}
}

// Run looks until ctx ends.
func (w *Watcher) Run(ctx context.Context) {
	repeat.Every(ctx, lookInterval, func() {
		server, err := w.finder.Find()
		if err != nil {
			return // Look says so
		}
		asking, cancel := context.WithTimeout(ctx, freshness)
		defer cancel()
		position, err := w.client.Position(asking)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.of, w.position, w.at, w.err = server, position, time.Now(), err
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
	switch {
	case w.of != server && !w.at.IsZero():
		l.Why = "the server has been started anew and has not answered yet"
	case w.err != nil:
		l.Why = w.err.Error()
	case now.Sub(w.at) > freshness:
		l.Why = "the server does not answer any more"
	default:
		position := w.position
		l.At, l.Position = w.at, &position
	}
	return l, nil
}
