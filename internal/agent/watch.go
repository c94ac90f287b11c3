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
	// lookInterval is the time between two looks at the server.
	lookInterval = 200 * time.Millisecond
	// freshness is how long the answer to a look stands, and how long a look may take: a server that no longer answers
	// is known to after this time.
	freshness = time.Second
)

// watcher looks at the server again and again, so that questions about it can be answered without asking it.
type watcher struct {
	finder       *proc.Finder
	client       engine.Client
	seenWritable func(asked time.Time)

	mu          sync.Mutex
	writable    answer[bool]
	replication answer[engine.Replication]
}

// answer is the outcome of the last look of its kind.
type answer[T any] struct {
	of    proc.Process
	at    time.Time // when the look ended
	value T
	err   error
}

// view is what is known of the server at a moment.
type view struct {
	server      *proc.Process // nil: none exists
	writable    *bool
	replication *engine.Replication
	why         string // why writable is nil, or else replication
}

var (
	errNotAsked = errors.New("the server has not been asked yet")
	errNewer    = errors.New("the server has been started anew and has not answered yet")
	errStale    = errors.New("the server does not answer any more")
)

func newWatcher(finder *proc.Finder, client engine.Client, seenWritable func(asked time.Time)) *watcher {
	w := &watcher{finder: finder, client: client, seenWritable: seenWritable}
	w.writable.err, w.replication.err = errNotAsked, errNotAsked
	return w
}

// run looks until ctx ends. Two loops: a question about replication may have to wait for a statement that changes it,
// when the server still answers others.
func (w *watcher) run(ctx context.Context) {
	var loops sync.WaitGroup
	loops.Go(func() {
		repeat.Every(ctx, lookInterval, func() {
			asked := time.Now()
			a := look(ctx, w.finder, w.client.Writable)
			w.mu.Lock()
			w.writable = a
			w.mu.Unlock()
			if a.err == nil && a.value {
				w.seenWritable(asked)
			}
		})
	})
	loops.Go(func() {
		repeat.Every(ctx, lookInterval, func() {
			a := look(ctx, w.finder, w.client.Replication)
			w.mu.Lock()
			w.replication = a
			w.mu.Unlock()
		})
	})
	loops.Wait()
}

// look asks the server that runs.
func look[T any](ctx context.Context, finder *proc.Finder, ask func(context.Context) (T, error)) answer[T] {
	server, err := finder.Find()
	a := answer[T]{of: server, err: err}
	if err == nil {
		ctx, cancel := context.WithTimeout(ctx, freshness)
		defer cancel()
		a.value, a.err = ask(ctx)
	}
	a.at = time.Now()
	return a
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

func viewOf(server proc.Process, writable answer[bool], replication answer[engine.Replication], now time.Time) view {
	v := view{server: &server}
	if err := writable.valid(server, now); err != nil {
		v.why = err.Error()
		return v
	}
	v.writable = &writable.value
	if err := replication.valid(server, now); err != nil {
		v.why = err.Error()
		return v
	}
	v.replication = &replication.value
	return v
}

// valid tells why an answer says nothing about the server as it is now; nil when it does.
func (a answer[T]) valid(server proc.Process, now time.Time) error {
	switch {
	case a.err != nil:
		return a.err
	case a.of != server:
		return errNewer
	case now.Sub(a.at) > freshness:
		return errStale
	}
	return nil
}
