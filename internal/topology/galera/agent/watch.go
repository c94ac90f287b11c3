package agent

import (
	"context"
	"fmt"
	"sync"
	"time"

	"replab.dev/internal/agent/proc"
	"replab.dev/internal/agent/repeat"
	"replab.dev/internal/agent/watch"
	"replab.dev/internal/engine"
	"replab.dev/internal/wire"
)

// lookInterval is the time between two looks at the server.
const lookInterval = 200 * time.Millisecond

// watcher looks at what the server says of its group.
type watcher struct {
	finder *proc.Finder
	client engine.Member

	mu     sync.Mutex
	last   watch.Answer[engine.GroupLook]
	stable Stability
	view   wire.GroupView
}

func newWatcher(finder *proc.Finder, client engine.Member) *watcher {
	return &watcher{finder: finder, client: client, last: watch.None[engine.GroupLook]()}
}

// Run looks until ctx ends.
func (w *watcher) Run(ctx context.Context) {
	repeat.Every(ctx, lookInterval, func() {
		a := watch.Ask(ctx, w.finder, w.client.Group)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.last = a
		if a.Err != nil {
			w.stable.Silent()
			return
		}
		w.view = a.Value.GroupView
		w.view.StableMilliseconds = w.stable.Follow(fmt.Sprint(a.Of), a.Value, a.At).Milliseconds()
	})
}

// Look implements Server.
func (w *watcher) Look() (Look, error) {
	server, err := w.finder.Find()
	if err != nil {
		return Look{}, err
	}
	l := Look{Server: server.ID()}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.last.Stands(server, time.Now()); err != nil {
		return l, err
	}
	l.View, l.Asked = w.view, w.last.Asked
	return l, nil
}
