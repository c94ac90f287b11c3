// Package watch holds the last answer of a node's server, so that questions about the server can be answered without asking it.
package watch

import (
	"context"
	"errors"
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

// None is the answer before the first question.
func None[T any]() Answer[T] { return Answer[T]{Err: ErrNotAsked} }

// Ask asks the server that runs.
func Ask[T any](ctx context.Context, finder *proc.Finder, question func(context.Context) (T, error)) Answer[T] {
	server, err := finder.Find()
	a := Answer[T]{Of: server, Asked: time.Now(), Err: err}
	if err == nil {
		ctx, cancel := context.WithTimeout(ctx, Freshness)
		defer cancel()
		a.Value, a.Err = question(ctx)
	}
	a.At = time.Now()
	return a
}

// Stands returns nil while the answer holds for a server, else an error that says why it does not.
func (a Answer[T]) Stands(server proc.Process, now time.Time) error {
	switch {
	case a.Of != server && !a.At.IsZero():
		return errNewer
	case a.Err != nil:
		return a.Err
	case now.Sub(a.At) > Freshness:
		return errStale
	}
	return nil
}
