package agent

import (
	"context"
	"errors"
	"sync"
	"time"

	"replab.dev/internal/agent/repeat"
	"replab.dev/internal/engine"
)

var errNotAsked = errors.New("the server has not been asked yet")

// RemoteWatcher looks at a server by its address again and again, where its process is not in sight.
type RemoteWatcher struct {
	client engine.RemoteClient

	mu       sync.Mutex
	run      string // that answered last; "" once there is no server
	position engine.ServerPosition
	at       time.Time // of the last answer, or of when there was found to be no server; zero before
	err      error     // of the last question
}

// NewRemoteWatcher looks at nothing yet.
func NewRemoteWatcher(client engine.RemoteClient) *RemoteWatcher {
	return &RemoteWatcher{client: client, err: errNotAsked}
}

// Run looks until ctx ends.
func (w *RemoteWatcher) Run(ctx context.Context) {
	repeat.Every(ctx, lookInterval, func() {
		asking, cancel := context.WithTimeout(ctx, freshness)
		defer cancel()
		run, position, err := w.client.RunAndPosition(asking)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.err = err
		if err == nil || errors.Is(err, engine.ErrNoServer) {
			w.run, w.position, w.at = run, position, time.Now()
		}
	})
}

// Look implements Server. A server that does not answer is taken for the one that did, until another one answers or nobody listens. Before
// the first answer there is an error: it may be the one that an agent before this one saw.
func (w *RemoteWatcher) Look() (Look, error) {
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case errors.Is(w.err, engine.ErrNoServer):
		return Look{At: w.at, Why: w.err.Error()}, nil
	case w.at.IsZero():
		return Look{At: now, Why: w.err.Error()}, w.err
	case w.err != nil:
		return Look{At: now, Server: w.run, Why: w.err.Error()}, nil
	case now.Sub(w.at) > freshness:
		return Look{At: now, Server: w.run, Why: "the server does not answer any more"}, nil
	}
	position := w.position
	return Look{At: w.at, Server: w.run, Position: &position}, nil
}
