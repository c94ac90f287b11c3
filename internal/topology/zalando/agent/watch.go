package agent

import (
	"context"
	"errors"
	"sync"
	"time"

	"replab.dev/internal/agent/watch"
	"replab.dev/internal/engine"
	patroni "replab.dev/internal/topology/patroni/agent"
)

// watcher asks a server by its address again and again, since its process cannot be seen.
type watcher struct {
	client engine.RemoteClient

	mu       sync.Mutex
	server   string // that answered last; "" once there is no server
	position engine.ServerPosition
	at       time.Time // of the last answer, or of when there was found to be no server; zero before
	err      error     // of the last question
}

// newWatcher looks at nothing yet.
func newWatcher(client engine.RemoteClient) *watcher {
	return &watcher{client: client, err: watch.ErrNotAsked}
}

// Run looks until ctx ends.
func (w *watcher) Run(ctx context.Context) {
	watch.Every(ctx, patroni.LookInterval, func() {
		asking, cancel := context.WithTimeout(ctx, watch.Freshness)
		defer cancel()
		run, position, err := w.client.RunAndPosition(asking)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.err = err
		if err == nil || errors.Is(err, engine.ErrNoServer) {
			w.server, w.position, w.at = run, position, time.Now()
		}
	})
}

// Look implements patroni.Server. A server that does not answer is taken for the one that did, until another one answers or nobody listens. Before
// the first answer there is an error: it may be the one that an agent before this one saw.
func (w *watcher) Look() (patroni.Look, error) {
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case errors.Is(w.err, engine.ErrNoServer):
		return patroni.Look{At: w.at, Why: w.err.Error()}, nil
	case w.at.IsZero():
		return patroni.Look{At: now, Why: w.err.Error()}, w.err
	case w.err != nil:
		return patroni.Look{At: now, Server: w.server, Why: w.err.Error()}, nil
	case now.Sub(w.at) > watch.Freshness:
		return patroni.Look{At: now, Server: w.server, Why: "the server does not answer any more"}, nil
	}
	position := w.position
	return patroni.Look{At: w.at, Server: w.server, Position: &position}, nil
}
