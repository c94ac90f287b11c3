package agent

import (
	"context"
	"time"

	"replab.dev/internal/agent/proc"
	"replab.dev/internal/agent/watch"
	"replab.dev/internal/engine"
)

// lookInterval is the time between two looks at the server.
const lookInterval = 200 * time.Millisecond

// watcher asks two questions side by side: one about replication may have to wait for a statement that changes it, when the server still
// answers others.
type watcher struct {
	finder      *proc.Finder
	writable    watch.Watcher[bool]
	replication watch.Watcher[engine.Replication]
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
		finder: finder,
		writable: watch.Watcher[bool]{Finder: finder, Question: client.Writable, Interval: lookInterval, Seen: func(a *watch.Answer[bool]) {
			if a.Err == nil && a.Value {
				seenWritable(a.Asked)
			}
		}},
		replication: watch.Watcher[engine.Replication]{Finder: finder, Question: client.Replication, Interval: lookInterval},
	}
}

// run looks until ctx ends.
func (w *watcher) run(ctx context.Context) { watch.Together(ctx, w.writable.Run, w.replication.Run) }

// view never waits for the server.
func (w *watcher) view() view {
	server, err := w.finder.Find()
	if err != nil {
		return view{why: err.Error()}
	}
	return viewOf(server, w.writable.Last(), w.replication.Last(), time.Now())
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
