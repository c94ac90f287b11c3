package lag

import (
	"slices"
	"time"

	"replab.dev/internal/engine"
)

// Every time in this file is a distance from the probe's origin on its monotonic clock.

// pending is a write that one node has not shown, or not before its acknowledgement.
type pending struct {
	seq    uint64
	size   int    // index into the payload sizes
	server string // identity of the server that took it
	begun  time.Duration
	acked  time.Duration // 0 until acknowledged
	lower  time.Duration // start of the last read that did not see it, or begun
	upper  time.Duration // end of the first read that saw it, 0 before
	// counted: its lag is one of the figures.
	counted bool
	// away: the node was a former primary when the write began, and no replica: the write is no sample of its lag.
	away bool
	// unwatched: no node was a replica then.
	unwatched bool
	// covered: a read was out when the write began, or failed to see it later: the lower end was read.
	covered bool
}

// sample is one write on one node.
type sample struct {
	size            int
	lag, resolution time.Duration
	acked           time.Duration // when the lag began
	total           time.Duration // from the begin of the insert to the end of the read that saw it
	censored        bool
	counted         bool
	away            bool
	unwatched       bool
}

// reading is the answer of one read, or of one wait, about the writes first to last.
type reading struct {
	first, last uint64
	missing     engine.Spans // those that the node does not have
	start, end  time.Duration
}

// track follows one node. Its writes are in the order of their numbers, which is the order of their commits.
type track struct {
	name    string
	server  string // the identity that the node reported, empty before
	ordered bool   // see engine.LagWatched.CommitOrder
	polled  bool   // see engine.LagWatched.Polled
	waiting uint64 // the write that a wait is out for, 0 for none
	writes  []pending
	left    []pending // acknowledged, but the primary of the moment does not have them
	record  func(sample)
	took    uint64 // the last write that the node's own server took, 0 for none since it followed another
}

// takenBy reports whether a server is this node; by name while the node's identity is not known.
func (t *track) takenBy(s engine.LagWriter) bool {
	if t.server != "" {
		return t.server == s.Identity
	}
	return t.name == s.Hostname
}

// identify notes the node's report of itself. Writes that it took as the primary are no samples.
func (t *track) identify(w engine.LagWatched) {
	t.server, t.ordered, t.polled = w.Identity, w.CommitOrder, w.Polled
	own := func(p pending) bool { return p.server == w.Identity }
	t.writes = slices.DeleteFunc(t.writes, own)
	t.left = slices.DeleteFunc(t.left, own)
}

func (t *track) begin(p pending) {
	p.lower = p.begun
	p.covered = !t.polled && (t.waiting == p.seq || (t.ordered && t.waiting != 0 && t.find(t.waiting) >= 0))
	t.writes = append(t.writes, p)
}

// acknowledge completes the newest write. It returns whether the node has yet to show it.
func (t *track) acknowledge(seq uint64, at time.Duration) bool {
	i := t.find(seq)
	if i < 0 {
		return false
	}
	t.writes[i].acked = at
	if t.writes[i].upper == 0 {
		return true
	}
	t.finish(t.writes[i])
	t.remove(seq)
	return false
}

func (t *track) remove(seq uint64) {
	if i := t.find(seq); i >= 0 {
		t.writes = slices.Delete(t.writes, i, i+1)
	}
}

// find returns the index of a write, -1 for none.
func (t *track) find(seq uint64) int {
	i, found := slices.BinarySearchFunc(t.writes, seq, func(p pending, seq uint64) int {
		if p.seq < seq {
			return -1
		} else if p.seq > seq {
			return 1
		}
		return 0
	})
	if !found {
		return -1
	}
	return i
}

// observe applies a reading to the writes within it. On a node that commits in order it also decides others: those later than a missing one are
// missing, those earlier than a visible one are visible. Numbers without an outstanding write are no evidence.
func (t *track) observe(r reading) {
	var newestSeen, oldestMissing uint64
	for i := range t.writes {
		p := &t.writes[i]
		if p.seq < r.first || p.seq > r.last || p.upper != 0 {
			continue
		}
		if !r.missing.Has(p.seq) {
			newestSeen = p.seq
			p.upper = r.end
		} else {
			p.notSeen(r)
			if oldestMissing == 0 {
				oldestMissing = p.seq
			}
		}
	}
	if t.ordered {
		t.infer(r, newestSeen, oldestMissing)
	}
	if newestSeen > t.took { // another server took it, so the node follows that one
		t.took = 0
	}
	t.writes = t.complete(t.writes)
}

func (t *track) infer(r reading, newestSeen, oldestMissing uint64) {
	for i := range t.writes {
		p := &t.writes[i]
		switch {
		case p.upper != 0 || (p.seq >= r.first && p.seq <= r.last):
		case p.seq < newestSeen:
			p.upper = r.end
		case oldestMissing != 0 && p.seq > oldestMissing:
			p.notSeen(r)
		}
	}
}

// notSeen raises the lower end. A read that began before the write existed tells no more than its begin; one that ended
// before it does not cover it.
func (p *pending) notSeen(r reading) {
	p.lower = max(p.lower, r.start)
	p.covered = p.covered || r.end >= p.begun
}

// complete records the writes that are seen and acknowledged, and returns the others.
func (t *track) complete(writes []pending) []pending {
	for _, p := range writes {
		if p.done() {
			t.finish(p)
		}
	}
	return slices.DeleteFunc(writes, pending.done)
}

func (p pending) done() bool { return p.upper != 0 && p.acked != 0 }

func (t *track) finish(p pending) {
	t.record(sample{
		size: p.size, acked: p.acked, lag: p.upper - p.acked, resolution: max(p.upper-p.lower, 0), total: p.upper - p.begun, censored: !p.covered, counted: p.counted,
		away: p.away, unwatched: p.unwatched,
	})
}

// leave sets apart the acknowledged writes that the primary of the moment does not have. What remains was on it before
// its next write, so the order of commits holds among the writes that are watched.
func (t *track) leave(missing engine.Spans) {
	t.writes = slices.DeleteFunc(t.writes, func(p pending) bool {
		lost := p.acked != 0 && missing.Has(p.seq)
		if lost {
			t.left = append(t.left, p)
		}
		return lost
	})
}

// observeLeft applies a reading to the writes that were set apart, each by itself.
func (t *track) observeLeft(r reading) {
	for i := range t.left {
		p := &t.left[i]
		switch {
		case r.missing.Has(p.seq):
			p.notSeen(r)
		case p.seq >= r.first && p.seq <= r.last:
			p.upper = r.end
		}
	}
	t.left = t.complete(t.left)
}

// leftRange returns the range of the writes that were set apart, and false without any.
func (t *track) leftRange() (first, last uint64, some bool) {
	for _, p := range t.left {
		if !some || p.seq < first {
			first = p.seq
		}
		last, some = max(last, p.seq), true
	}
	return first, last, some
}

// oldest returns the oldest acknowledged write that is not seen.
func (t *track) oldest() (pending, bool) {
	for _, p := range t.writes {
		if p.acked != 0 && p.upper == 0 {
			return p, true
		}
	}
	return pending{}, false
}

// hides reports whether the node has yet to show an acknowledged write that counts and that no node was to show.
func (t *track) hides(size int) bool {
	hidden := func(p pending) bool { return p.unwatched && p.acked != 0 && p.counted && (size < 0 || p.size == size) }
	return slices.ContainsFunc(t.writes, hidden) || slices.ContainsFunc(t.left, hidden)
}

// unseen counts the acknowledged writes that count and that the node has not shown, of one size or, for size -1, of all.
func (t *track) unseen(size int, now time.Duration) unseen {
	var u unseen
	for _, p := range t.writes {
		if p.acked == 0 || !p.counted || p.away || (size >= 0 && p.size != size) {
			continue
		}
		u.add(now - p.acked)
	}
	for _, p := range t.left {
		if p.counted && !p.away && (size < 0 || p.size == size) {
			u.count++
			u.lost++
		}
	}
	return u
}
