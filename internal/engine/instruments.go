package engine

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"replab.dev/internal/wire"
)

// Inspector reads what servers really run with, and changes nothing. It is part of an instrument.
type Inspector interface {
	// Inspect asks the server on a host for settings by name. One that the server does not have is not in the answer.
	Inspect(ctx context.Context, host string, names []string) (Inspection, error)
	// Same reports whether a setting that was written as expected is what the server then reports as actual, such as 128M
	// and 134217728, or 1 and ON.
	Same(name, expected, actual string) bool
}

// Inspection is what a server says of itself.
type Inspection struct {
	Version  string
	Identity string            // no other server has it
	Settings map[string]string // by name
}

// OpenInspector makes an Inspector that asks with the password of wire.AccountProbe.
type OpenInspector func(password string) Inspector

// Commits are a server's counters of commits as read at one moment. Those of waits begin at 0 with the server's process.
type Commits struct {
	// Acknowledged and Unacknowledged count waits of commits: those that ended because as many replicas acknowledged as had to,
	// and those that went on after the timeout. Commits that are flushed together wait once, unless WaitsAreCommits.
	Acknowledged    int64
	Unacknowledged  int64
	WaitsAreCommits bool
	// Transactions that the server has, read before the counters of waits: one that is among them has waited, if it had to. Not
	// used where WaitsAreCommits, as where commits wait once they are done.
	Transactions int64
	UpSeconds    int64 // by which a server that was started again is known
	// Closed: the server takes no writes, and no commit of it is under way.
	Closed bool
	// Waiting is nil where servers count waits. The others count transactions alone, and report how commits of the moment wait.
	Waiting *Waiting
}

// Waiting is how the commits of a server wait for replicas at one moment.
type Waiting struct {
	Degraded bool // they do not wait
	// Standbys are the nodes for each of which every commit waits, where the server names them; nil where any of several will do.
	Standbys []string
	Replica  bool // the server commits nothing itself
	// SettingsSince is when the server last read its settings, by which a change between two samples is known.
	SettingsSince time.Time
}

// GroupCounts are what the server of a member of a group has counted, as read at one moment. The counters begin at 0 with the server's
// process.
type GroupCounts struct {
	// CertificationFailures are transactions of the server's own clients that the group refused when they were to be committed, since
	// they were in conflict with one that came before.
	CertificationFailures int64
	// ForcedAborts are transactions of the server's own clients that were rolled back while they ran, since they were in the way of one
	// that the group had committed.
	ForcedAborts int64
	// Deadlocks of transactions of this server with each other; nil where the server does not count them.
	Deadlocks *int64
	// FlowControlPaused is how long the server could hand no transactions to the group, since some member could not keep up.
	FlowControlPaused time.Duration
	// ReceiveQueue is how many transactions the server has received and not begun to apply; ReceiveQueueMax the most there were since
	// its process began.
	ReceiveQueue, ReceiveQueueMax int64
	UpSeconds                     int64 // by which a server that was started again is known
}

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

// LagWatched is a node's report of itself.
type LagWatched struct {
	Identity string
	// CommitOrder promises that the node makes writes visible in the order in which their server committed them. Then a
	// write that is not visible speaks for all later ones, and a visible one for all earlier ones.
	CommitOrder bool
	// Polled: a wait for a write is a series of looks with pauses between, so a wait that is out says nothing of a write
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

// Missing are those of the writes first to last whose rows are not shown. id is a write's row, and shown asks for rows.
func (l *LagWrites[W]) Missing(first, last uint64, id func(W) uint64, shown func(ids []string) ([]string, error)) (Spans, error) {
	var ids []string
	writes := map[string]uint64{}
	for seq := first; seq <= last; seq++ {
		if w, begun := l.Of(seq); begun {
			row := strconv.FormatUint(id(w), 10)
			ids, writes[row] = append(ids, row), seq
		}
	}
	seen := map[uint64]bool{}
	if len(ids) > 0 {
		rows, err := shown(ids)
		if err != nil {
			return nil, fmt.Errorf("ask which of the probe's writes are missing: %w", err)
		}
		for _, row := range rows {
			seen[writes[row]] = true
		}
	}
	return Without(first, last, func(seq uint64) bool { return seen[seq] }), nil
}

// Span is the numbers First to Last, both included.
type Span struct{ First, Last uint64 }

// Spans are in order and do not overlap.
type Spans []Span

// Has reports whether a number is in one of the spans.
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
