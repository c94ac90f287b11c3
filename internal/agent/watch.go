package agent

import (
	"context"
	"sync"
	"time"

	"replab.dev/internal/agent/proc"
	"replab.dev/internal/agent/repeat"
	"replab.dev/internal/agent/watch"
	"replab.dev/internal/engine"
)

// lookInterval is the time between two looks at the server.
const lookInterval = 200 * time.Millisecond

// watcher looks at the server again and again, so that questions about it can be answered without asking it.
type watcher struct {
	finder       *proc.Finder
	client       engine.Client
	seenWritable func(asked time.Time)

	mu          sync.Mutex
	writable    watch.Answer[bool]
	replication watch.Answer[engine.Replication]
}

// view is what is known of the server at a moment.
type view struct {
	server      *proc.Process // nil: none exists
	writable    *bool
	replication *engine.Replication
	why         string // why writable is nil, or else replication
}

func newWatcher(finder *proc.Finder, client engine.Client, seenWritable func(asked time.Time)) *watcher {
	return &watcher{
		finder: finder, client: client, seenWritable: seenWritable,
		writable: watch.None[bool](), replication: watch.None[engine.Replication](),
	}
}

// run looks until ctx ends. Two loops: a question about replication may have to wait for a statement that changes it,
// when the server still answers others.
func (w *watcher) run(ctx context.Context) {
	var loops sync.WaitGroup
	loops.Go(func() {
		repeat.Every(ctx, lookInterval, func() {
			a := watch.Ask(ctx, w.finder, w.client.Writable)
			w.mu.Lock()
			w.writable = a
			w.mu.Unlock()
			if a.Err == nil && a.Value {
				w.seenWritable(a.Asked)
			}
		})
	})
	loops.Go(func() {
		repeat.Every(ctx, lookInterval, func() {
			a := watch.Ask(ctx, w.finder, w.client.Replication)
			w.mu.Lock()
			w.replication = a
			w.mu.Unlock()
		})
	})
	loops.Wait()
}

// view never waits for the server.
func (w *watcher) view() view {
	server, err := w.finder.Find()
	if err != nil {
		return view{why: err.Error()}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return viewOf(server, w.writable, w.replication, time.Now())
}

func viewOf(server proc.Process, writable watch.Answer[bool], replication watch.Answer[engine.Replication], now time.Time) view {
	v := view{server: &server}
	if err := writable.Stands(server, now); err != nil {
		v.why = err.Error()
		return v
	}
	v.writable = &writable.Value
	if err := replication.Stands(server, now); err != nil {
		v.why = err.Error()
		return v
	}
	v.replication = &replication.Value
	return v
}
