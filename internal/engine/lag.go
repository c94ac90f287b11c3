package engine

import (
	"slices"
	"sync"
	"time"

	"replab.dev/internal/wire"
)

// LagTarget is what the sessions of one lag probe have in common.
type LagTarget struct {
	Writes   wire.Endpoint // where the primary of the moment is reached
	Password string        // of wire.AccountProbe
	// PayloadBytes are the sizes of the rows' payloads.
	PayloadBytes []int64
	// LongestWait bounds a wait of a watcher, which must answer soon after.
	LongestWait time.Duration
}

// LagWriter is the server that takes a session's writes.
type LagWriter struct {
	Identity string // unique, and the server's for as long as it has its data
	Hostname string // names the node to those that do not know the identities yet
}

// LagWatched is what a node tells of itself.
type LagWatched struct {
	Identity string
	// CommitOrder promises that the node makes writes visible in the order in which their server committed them. Then a
	// write that is not visible speaks for all later ones, and a visible one for all earlier ones.
	CommitOrder bool
	// Polled tells that a wait for a write is looks at it, and that there may be none for a while: that one is out says nothing of a write
	// which begins meanwhile.
	Polled bool
}

// ReplicaView is the last transaction that a replica received and the last that it executed, by the servers' clocks.
// A duration is nil when the server has no such transaction.
type ReplicaView struct {
	Queued    string // what tells one transaction from the next
	Transport *time.Duration
	Executed  string
	Apply     *time.Duration
}

// LagWrites are the writes that a lag probe has begun, by their numbers.
type LagWrites[W any] struct {
	mu    sync.Mutex
	begun map[uint64]W
	news  chan struct{} // closed when a write begins, and replaced
}

// Begin notes a write.
func (l *LagWrites[W]) Begin(seq uint64, w W) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.begun == nil {
		l.begun = map[uint64]W{}
	}
	l.begun[seq] = w
	if l.news != nil {
		close(l.news)
		l.news = nil
	}
}

// Of is a write, if it has begun.
func (l *LagWrites[W]) Of(seq uint64) (w W, begun bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w, begun = l.begun[seq]
	return w, begun
}

// Await returns a write once it has begun, and false where it has not by the end.
func (l *LagWrites[W]) Await(seq uint64, end time.Time) (w W, begun bool) {
	for {
		l.mu.Lock()
		w, begun = l.begun[seq]
		if l.news == nil && !begun {
			l.news = make(chan struct{})
		}
		news := l.news
		l.mu.Unlock()
		if begun {
			return w, true
		}
		timer := time.NewTimer(time.Until(end))
		select {
		case <-news:
			timer.Stop()
		case <-timer.C:
			return w, false
		}
	}
}

// Span is the numbers First to Last, both included.
type Span struct{ First, Last uint64 }

// Spans are in order and do not overlap.
type Spans []Span

// Has tells whether a number is in one of the spans.
func (s Spans) Has(n uint64) bool {
	i, _ := slices.BinarySearchFunc(s, n, func(x Span, n uint64) int {
		if x.Last < n {
			return -1
		}
		return 1
	})
	return i < len(s) && s[i].First <= n
}

// Without are the numbers of first to last that has does not know.
func Without(first, last uint64, has func(uint64) bool) Spans {
	var out Spans
	for n := first; n <= last; n++ {
		if has(n) {
			continue
		}
		if i := len(out) - 1; i >= 0 && out[i].Last == n-1 {
			out[i].Last = n
		} else {
			out = append(out, Span{First: n, Last: n})
		}
	}
	return out
}
