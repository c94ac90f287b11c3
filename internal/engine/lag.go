package engine

import (
	"slices"
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
