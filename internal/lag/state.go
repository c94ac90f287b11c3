package lag

import (
	"slices"
	"time"

	"replab.dev/internal/engine"
	"replab.dev/internal/polling"
	"replab.dev/internal/wire"
)

// maxOutstanding bounds the writes that are watched per node; later ones count as unseen.
const maxOutstanding = 100_000

// state is all that the probe learns. It has no clock, no lock and no session.
type state struct {
	tracks []*nodeState
	sizes  []sizeState
	all    figures
	limit  int
	// several nodes take writes side by side: each follows the others.
	several bool
	// paused is how long this process did not run between two times.
	paused func(from, to time.Duration) time.Duration

	current      pending // the write that is being inserted
	acknowledged int64
	uncounted    int64 // acknowledged, but not counted in the figures
	discarded    int64
	missed       int64
}

// nodeState is a node's track and its figures.
type nodeState struct {
	track
	away     int64 // acknowledged writes that count and began while the node was a former primary
	figures  figures
	overflow []int64         // per payload size
	guesses  []polling.Guess // per payload size, after the acknowledgement: see nextCheck
	recent   *time.Duration  // the largest lag since latest was called

	transport, apply         distribution
	lastQueued, lastExecuted string
}

// sizeState are the figures of one payload size.
type sizeState struct {
	bytes   int64
	insert  distribution
	figures figures
	total   distribution // from the begin of the insert to the end of the look that saw the row
	bare    distribution // the same without the insert and the resolution
	// unwatched writes are those that no node was to show, and latest is the longest time until one did all the same.
	unwatched int64
	latest    *int64
	forgotten bool // one of them is watched no more
}

func newState(nodes []wire.Node, sizes []int64, limit int) *state {
	b := &state{limit: limit, paused: func(time.Duration, time.Duration) time.Duration { return 0 }}
	for _, bytes := range sizes {
		b.sizes = append(b.sizes, sizeState{bytes: bytes})
	}
	for _, n := range nodes {
		nb := &nodeState{track: track{name: n.Name}, overflow: make([]int64, len(sizes)), guesses: make([]polling.Guess, len(sizes))}
		nb.record = func(s sample) { b.record(nb, s) }
		b.tracks = append(b.tracks, nb)
	}
	return b
}

func (b *state) record(n *nodeState, s sample) {
	size := &b.sizes[s.size]
	switch {
	case s.away:
		if s.counted && s.unwatched {
			size.latest = longer(size.latest, new(s.lag.Microseconds()))
		}
	case s.counted:
		paused := b.paused(s.acked, s.acked+s.lag)
		for _, f := range []*figures{&n.figures, &b.all, &size.figures} {
			f.record(s, paused)
		}
		size.total.record(s.total.Microseconds())
		size.bare.record((s.lag - s.resolution).Microseconds())
	}
	if !s.away {
		n.guesses[s.size].Learn(s.lag - s.resolution)
	}
	if n.recent == nil || s.lag > *n.recent {
		n.recent = &s.lag
	}
}

// begin notes that the insert of a write is about to be sent to a server.
func (b *state) begin(seq uint64, taker engine.LagWriter, size int, counted bool, at time.Duration) {
	b.current = pending{seq: seq, size: size, server: taker.Identity, counted: counted, begun: at, unwatched: b.unwatched(taker)}
	for _, n := range b.tracks {
		if n.takenBy(taker) {
			n.took = seq
			continue
		}
		p := b.current
		p.away = b.former(n)
		n.begin(p)
	}
}

// former reports whether a node took writes until another server did, and has not followed that one yet. It means nothing of the node that
// takes them.
func (b *state) former(n *nodeState) bool { return n.took != 0 && !b.several && !b.takes(n) }

// takes reports whether a node took the newest write.
func (b *state) takes(n *nodeState) bool { return n.took == b.current.seq }

// unwatched reports whether no other node is a replica that is to show a write of this server.
func (b *state) unwatched(taker engine.LagWriter) bool {
	watches := func(n *nodeState) bool { return !n.takenBy(taker) && (n.took == 0 || b.several) }
	return len(b.tracks) > 1 && !slices.ContainsFunc(b.tracks, watches)
}

// acknowledge notes that the write that was begun last is committed.
func (b *state) acknowledge(at time.Duration) {
	c := b.current
	if c.counted {
		b.acknowledged++
		b.sizes[c.size].insert.record((at - c.begun).Microseconds())
		if c.unwatched {
			b.sizes[c.size].unwatched++
		}
	} else {
		b.uncounted++
	}
	for _, n := range b.tracks {
		i := n.find(c.seq)
		away := i >= 0 && n.writes[i].away
		if away && c.counted {
			n.away++
		}
		if !n.acknowledge(c.seq, at) || len(n.writes)+len(n.left) <= b.limit {
			continue
		}
		n.remove(c.seq)
		switch {
		case !c.counted:
		case away:
			b.sizes[c.size].forgotten = b.sizes[c.size].forgotten || c.unwatched
		default:
			n.overflow[c.size]++
		}
	}
}

// discard forgets the write that was begun last: its fate is not known.
func (b *state) discard() {
	if b.current.counted {
		b.discarded++
	}
	for _, n := range b.tracks {
		n.remove(b.current.seq)
	}
}

// outstanding returns the first and the last write that some node has not shown, and false without one.
func (b *state) outstanding() (first, last uint64, some bool) {
	for _, n := range b.tracks {
		if len(n.writes) == 0 {
			continue
		}
		from, to := n.writes[0].seq, n.writes[len(n.writes)-1].seq
		if !some || from < first {
			first = from
		}
		last, some = max(last, to), true
	}
	return first, last, some
}

// leave sets apart, on every node, the writes that the server which now takes the writes does not have.
func (b *state) leave(missing engine.Spans) {
	for _, n := range b.tracks {
		n.leave(missing)
	}
}

// complete reports whether no node has an outstanding write.
func (b *state) complete() bool {
	_, _, some := b.outstanding()
	return !some
}

// latest returns per node the larger of the largest lag since the last call and the age of the oldest outstanding write,
// in microseconds and not below 0; -1 for neither.
func (b *state) latest(now time.Duration) []int64 {
	out := make([]int64, len(b.tracks))
	for i, n := range b.tracks {
		out[i] = -1
		if n.recent != nil {
			out[i] = max(n.recent.Microseconds(), 0)
		}
		if p, ok := n.oldest(); ok {
			out[i] = max(out[i], (now - p.acked).Microseconds())
		}
		n.recent = nil
	}
	return out
}

func (n *nodeState) allUnseen(size int, now time.Duration) unseen {
	u := n.unseen(size, now)
	for i, count := range n.overflow {
		if size < 0 || i == size {
			u.addOverflow(count)
		}
	}
	return u
}

// allUnseen is what all nodes have not shown while they were replicas.
func (b *state) allUnseen(size int, now time.Duration) unseen {
	var u unseen
	for _, n := range b.tracks {
		u.merge(n.allUnseen(size, now))
	}
	return u
}

// allUnwatched are the writes that no node was to show, of one size or, for size -1, of all.
func (b *state) allUnwatched(size int) unwatched {
	var u unwatched
	shown := !slices.ContainsFunc(b.tracks, func(n *nodeState) bool { return n.hides(size) })
	for i, s := range b.sizes {
		if size >= 0 && i != size {
			continue
		}
		u.writes += s.unwatched
		u.atMost = longer(u.atMost, s.latest)
		shown = shown && !s.forgotten
	}
	if !shown {
		u.atMost = nil
	}
	return u
}

// result are the figures as they stand.
func (b *state) result(now time.Duration) wire.LagResult {
	r := wire.LagResult{
		LagDistribution: b.all.result(b.allUnseen(-1, now), b.allUnwatched(-1)),
		Histogram:       b.all.lag.buckets(), Acknowledged: b.acknowledged, Uncounted: b.uncounted, Discarded: b.discarded, Missed: b.missed,
	}
	for _, n := range b.tracks {
		r.Nodes = append(r.Nodes, wire.NodeLag{
			Name: n.name, FormerPrimary: b.former(n), Away: n.away, LagDistribution: n.figures.result(n.allUnseen(-1, now), unwatched{}),
			EngineTransportP50Microseconds: n.transport.percentile(50), EngineApplyP50Microseconds: n.apply.percentile(50),
		})
	}
	if len(b.sizes) > 1 {
		r.Sizes = b.sizeResults(now)
	}
	return r
}

func (b *state) sizeResults(now time.Duration) []wire.SizeLag {
	var out []wire.SizeLag
	for i := range b.sizes {
		s := &b.sizes[i]
		if s.insert.count() == 0 { // no write of this size was acknowledged: it has no row
			continue
		}
		one := wire.SizeLag{
			PayloadBytes: s.bytes, InsertP50Microseconds: *s.insert.percentile(50), InsertP99Microseconds: *s.insert.percentile(99),
			LagDistribution:           s.figures.result(b.allUnseen(i, now), b.allUnwatched(i)),
			ResolutionP99Microseconds: s.figures.resolution.percentile(99),
		}
		if one.Unseen == 0 {
			one.TotalP50Microseconds, one.TotalP99Microseconds = s.total.percentile(50), s.total.percentile(99)
			one.BareP50Microseconds, one.BareP99Microseconds = s.bare.percentile(50), s.bare.percentile(99)
		}
		out = append(out, one)
	}
	return out
}

// view adds the engine's own figures, once per transaction: a stopped replica repeats its last one.
func (n *nodeState) view(v engine.ReplicaView, counted bool) {
	if v.Transport != nil && v.Queued != n.lastQueued {
		n.lastQueued = v.Queued
		if counted {
			n.transport.record(v.Transport.Microseconds())
		}
	}
	if v.Apply != nil && v.Executed != n.lastExecuted {
		n.lastExecuted = v.Executed
		if counted {
			n.apply.record(v.Apply.Microseconds())
		}
	}
}
