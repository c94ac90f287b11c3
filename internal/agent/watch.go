package agent

import (
	"context"
	"time"

	"replab.dev/internal/agent/part"
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

// The role endpoints' decisions. Each gives the reason of a no, for people who ask by hand.

func isReady(v view) (bool, string) {
	if v.writable == nil {
		return false, v.why
	}
	return true, "the server answers"
}

// isPrimary is told whether the server, where it is writable, may be, and why not: it may where the topology has no leases, and
// its family adds nothing.
func isPrimary(v view, mayWrite bool, whyNot string) (bool, string) {
	switch {
	case v.writable == nil:
		return false, v.why
	case !*v.writable:
		return false, "the server is read-only"
	case !mayWrite:
		return false, whyNot
	}
	return true, "the server is writable"
}

// isReplica does not ask whether the source can be reached: a replica whose primary died goes on serving reads, stale ones
// as they are, until the topology decides otherwise.
func isReplica(v view) (bool, string) {
	switch {
	case v.writable == nil:
		return false, v.why
	case *v.writable:
		return false, "the server is writable"
	case v.replication == nil:
		return false, v.why
	case !v.replication.Applies:
		return false, "the replication thread that applies does not run: " + v.replication.LastError
	}
	return true, "the server is read-only and applies what it receives"
}

// mayWrite tells whether the server, where it is writable, is to take writes.
func (a *api) mayWrite() (bool, string) {
	switch {
	case a.part != nil:
		return a.part.Writes()
	case a.keeper != nil && !a.keeper.held():
		return false, "the server is writable, but no lease stands"
	}
	return true, ""
}

func (a *api) replica() (bool, string) {
	v := a.watcher.view()
	reader, decides := a.part.(part.Reader)
	if !decides {
		return isReplica(v)
	}
	if ok, why := isReady(v); !ok {
		return false, why
	}
	return reader.Reads()
}
