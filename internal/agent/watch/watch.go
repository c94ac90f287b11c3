// Package watch asks a node's server again and again, so that questions about the server can be answered without waiting for it.
package watch

import (
	"context"
	"errors"
	"sync"
	"time"

	"replab.dev/internal/agent/proc"
)

// Freshness is how long an answer stands, and how long a question may take: a server that no longer answers is known to after this time.
const Freshness = time.Second

// ErrNotAsked says that the server has not been asked yet.
var ErrNotAsked = errors.New("the server has not been asked yet")

var (
	errNewer = errors.New("the server has been started anew and has not answered yet")
	errStale = errors.New("the server does not answer any more")
)

// Answer is the outcome of the last question of its kind.
type Answer[T any] struct {
	Of    proc.Process
	Asked time.Time // when the question was sent
	At    time.Time // when the answer came; zero before the first question
	Value T
	Err   error
}

// Stands returns nil while the answer holds for a server, else an error that says why it does not.
func (a Answer[T]) Stands(server proc.Process, now time.Time) error {
	switch {
	case a.At.IsZero():
		return ErrNotAsked
	case a.Of != server:
		return errNewer
	case a.Err != nil:
		return a.Err
	case now.Sub(a.At) > Freshness:
		return errStale
	}
	return nil
}

// Watcher asks the server that runs one question at an interval, and keeps the last answer.
type Watcher[T any] struct {
	Finder   *proc.Finder
	Question func(context.Context) (T, error)
	Interval time.Duration
	// Seen sees each answer before it is kept, and may change it; nil without one.
	Seen func(*Answer[T])

	mu   sync.Mutex
	last Answer[T]
}

// Run asks until ctx ends.
func (w *Watcher[T]) Run(ctx context.Context) {
	Every(ctx, w.Interval, func() {
		a := w.ask(ctx)
		if w.Seen != nil {
			w.Seen(&a)
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.last = a
	})
}

func (w *Watcher[T]) ask(ctx context.Context) Answer[T] {
	server, err := w.Finder.Find()
	a := Answer[T]{Of: server, Asked: time.Now(), Err: err}
	if err == nil {
		ctx, cancel := context.WithTimeout(ctx, Freshness)
		defer cancel()
		a.Value, a.Err = w.Question(ctx)
	}
	a.At = time.Now()
	return a
}

// Last is the last answer.
func (w *Watcher[T]) Last() Answer[T] {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last
}

// Together calls all functions at once, and returns when the last one has.
func Together(ctx context.Context, all ...func(context.Context)) {
	var loops sync.WaitGroup
	for _, f := range all {
		loops.Go(func() { f(ctx) })
	}
	loops.Wait()
}

// Every calls f at the interval, and at once where the last call took longer, until ctx ends. It calls f once at least.
func Every(ctx context.Context, interval time.Duration, f func()) {
	for {
		next := time.NewTimer(interval)
		f()
		select {
		case <-ctx.Done():
			next.Stop()
			return
		case <-next.C:
		}
	}
}
