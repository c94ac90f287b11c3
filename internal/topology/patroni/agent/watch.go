package agent

import (
	"errors"
	"time"

	"replab.dev/internal/agent/proc"
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
	watch.Watcher[engine.ServerPosition]
}

// NewWatcher looks at nothing yet.
func NewWatcher(finder *proc.Finder, client engine.Positioned) *Watcher {
	return &Watcher{watch.Watcher[engine.ServerPosition]{Finder: finder, Question: client.Position, Interval: LookInterval}}
}

// Look implements Server. It does not wait for the server.
func (w *Watcher) Look() (Look, error) {
	server, err := w.Finder.Find()
	now := time.Now()
	if errors.Is(err, proc.ErrNone) {
		return Look{At: now, Why: err.Error()}, nil
	}
	if err != nil {
		return Look{}, err
	}
	return lookOf(server, w.Last(), now), nil
}

func lookOf(server proc.Process, a watch.Answer[engine.ServerPosition], now time.Time) Look {
	if err := a.Stands(server, now); err != nil {
		return Look{At: now, Server: server.ID(), Why: err.Error()}
	}
	return Look{At: a.At, Server: server.ID(), Position: &a.Value}
}
