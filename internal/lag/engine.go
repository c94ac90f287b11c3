package lag

import (
	"context"
	"io"
	"time"

	"replab.dev/internal/engine"
)

// Session is what a probe asks of either kind of server. It is used by one goroutine; after an error it is closed.
type Session interface {
	// Missing returns which of the writes first to last are not visible.
	Missing(first, last uint64) (engine.Spans, error)
	io.Closer
}

// Writer writes the probe's rows. The session stays on the server that it was opened on.
type Writer interface {
	Session
	Server() engine.LagWriter
	// Write commits one row under the write's number, with a payload of the size with this index. After an error it is not known
	// whether it did.
	Write(seq, row uint64, size int) error
}

// Confirmer is a Writer whose server names its writes, so that they are waited for by names which are foreseen.
type Confirmer interface {
	// Confirm returns an error unless the write that was acknowledged last has the name that it is waited for by. It has not where a write
	// came between that had been given up, such as one that had no answer in time.
	Confirm(seq uint64) error
}

// Watcher reads one node.
type Watcher interface {
	Session
	Server() engine.LagWatched
	// Wait returns true once the write is visible, whether or not it existed when the wait began, and false when it was
	// not within the time. An engine that cannot be woken polls.
	Wait(seq uint64, atMost time.Duration) (bool, error)
	// View returns the engine's own figures of its replication.
	View() (engine.ReplicaView, error)
}

// Poller is a Watcher that is not woken but looks again and again.
type Poller interface {
	// Missed is when the last look of the last Wait began and ended that did not see its write; zero without one.
	Missed() (began, ended time.Time)
}

// Engine opens the sessions of one probe.
type Engine interface {
	// OpenWriter opens the session that writes, through the write path. It fails on a server that takes no writes.
	OpenWriter(ctx context.Context) (Writer, error)
	// OpenWatcher opens a session on the server of a node, whose host may name a port.
	OpenWatcher(ctx context.Context, host string) (Watcher, error)
}

// Open returns what opens a probe's sessions. It connects to nothing yet.
type Open func(engine.LagTarget) Engine

// opener is an Engine that returns its own types.
type opener[W Writer, T Watcher] interface {
	OpenWriter(ctx context.Context) (W, error)
	OpenWatcher(ctx context.Context, host string) (T, error)
}

// Opens makes an engine's constructor an Open. A session means nothing beside an error.
func Opens[E opener[W, T], W Writer, T Watcher](open func(engine.LagTarget) E) Open {
	return func(t engine.LagTarget) Engine { return opened[E, W, T]{open(t)} }
}

type opened[E opener[W, T], W Writer, T Watcher] struct{ engine E }

func (o opened[E, W, T]) OpenWriter(ctx context.Context) (Writer, error) {
	return o.engine.OpenWriter(ctx)
}

func (o opened[E, W, T]) OpenWatcher(ctx context.Context, host string) (Watcher, error) {
	return o.engine.OpenWatcher(ctx, host)
}
