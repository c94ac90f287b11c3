package lag

import (
	"context"
	"time"
)

// engine opens sessions on one kind of database. A session is used by one goroutine; after an error it is closed.
type engine interface {
	// openWriter opens the session that writes, through the write path. It fails on a server that takes no writes.
	openWriter(ctx context.Context) (writer, error)
	// openWatcher opens a session on the server at an address (host:port).
	openWatcher(ctx context.Context, address string) (watcher, error)
}

// writer writes the probe's rows. The session stays on the server that it was opened on.
type writer interface {
	server() server
	// write commits one row under the write's number. After an error nobody knows whether it did.
	write(seq, row uint64, size int) error
	missing(first, last uint64) (spans, error)
	close()
}

// watcher reads one node.
type watcher interface {
	watched() watched
	// wait returns true once the write is visible, whether or not it existed when the wait began, and false when it was
	// not within the time. An engine that cannot be woken polls.
	wait(seq uint64, atMost time.Duration) (bool, error)
	// missing returns which of the writes first to last are not visible.
	missing(first, last uint64) (spans, error)
	// view returns the engine's own figures of its replication.
	view() (engineView, error)
	close()
}

// server is what takes the writes of a session.
type server struct {
	identity string // unique: MySQL's server_uuid
	hostname string // names the node to those that do not know the identities yet
}

// watched is what a node tells of itself.
type watched struct {
	identity string
	// commitOrder promises that the node makes writes visible in the order in which their server committed them. Then a
	// write that is not visible speaks for all later ones, and a visible one for all earlier ones.
	commitOrder bool
}

// engineView is the last transaction that a replica received and the last that it executed, by the servers' clocks.
// A duration is nil when the server has no such transaction.
type engineView struct {
	queued    string // what tells one transaction from the next
	transport *time.Duration
	executed  string
	apply     *time.Duration
}
