// Package outage finds the times in which no write was acknowledged, as the clients see them.
package outage

import (
	"cmp"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"replab.dev/internal/recorder/pauses"
	"replab.dev/internal/wire"
)

// gaps between two acknowledgements: the node changed, a write failed, or the silence exceeds a stall. Events come in the order of their times.
type gaps struct {
	node     string    // that acknowledged last, "" until one that has a name did
	at       time.Time // of the last acknowledgement, zero before the first
	firstErr time.Time // since then
	errors   int64
	pauses   *pauses.Log
	found    []gap
	// stall is how long a silence alone must last to be a gap; 0 while silence may just be no load.
	stall    time.Duration
	silences silences
	// restFrom and restTo are the rest that is planned or under way, zero without one.
	restFrom, restTo time.Time
}

type gap struct {
	fromNode, toNode   string
	from, to, firstErr time.Time // firstErr is zero without an error, to is zero while the gap is open
	errors             int64
	paused             time.Duration // in which this process did not run
}

func (g *gaps) acknowledged(node string, at time.Time) {
	g.pauses.Ran(at)
	g.wake(at)
	closed := g.open(at)
	closed.toNode, closed.to = cmp.Or(node, g.node), at
	if !g.silences.from.IsZero() {
		from := latest(g.at, g.silences.from)
		g.silences.add(from, at, g.pauses.Paused(from, at))
	}
	if !g.at.IsZero() && g.counts(closed) {
		g.found = append(g.found, closed)
		if len(g.found) >= 2*wire.MaxGaps { // now and then, so that it costs nothing per write
			g.found = longest(g.found)
		}
	}
	g.node, g.at = closed.toNode, at
	g.errors, g.firstErr = 0, time.Time{}
}

// counts reports whether a time between two acknowledgements is a gap. A pause of this process is not the database's.
func (g *gaps) counts(f gap) bool {
	awake := f.length() - f.paused
	return f.moved() || g.stall > 0 && awake >= g.stall || f.errors > 0 && awake >= f.paused
}

// failed notes a write without an acknowledgement. Before the first acknowledgement there is no gap to put it in.
func (g *gaps) failed(at time.Time) {
	g.pauses.Ran(at)
	g.wake(at)
	if g.at.IsZero() {
		return
	}
	if g.errors == 0 {
		g.firstErr = at
	}
	g.errors++
}

// wake leaves out what has passed of a rest. The load's first write after it may come before the probe's.
func (g *gaps) wake(at time.Time) {
	switch {
	case g.restTo.IsZero(), at.Before(g.restFrom):
	case at.Before(g.restTo):
		g.rested(g.restFrom, at)
	default:
		g.rested(g.restFrom, g.restTo)
		g.restFrom, g.restTo = time.Time{}, time.Time{}
	}
}

// rested ends the silence before a rest, and begins the next one after it.
func (g *gaps) rested(from, to time.Time) {
	if last := latest(g.at, g.silences.from); !g.silences.from.IsZero() && from.After(last) {
		g.silences.add(last, from, g.pauses.Paused(last, from))
	}
	g.at = latest(g.at, to)
	g.errors, g.firstErr = 0, time.Time{}
}

// open is the gap since the last acknowledgement, as it stands at a time.
func (g *gaps) open(at time.Time) gap {
	return gap{fromNode: g.node, from: g.at, firstErr: g.firstErr, errors: g.errors, paused: g.pauses.Paused(g.at, at)}
}

func (f gap) moved() bool { return f.fromNode != "" && f.fromNode != f.toNode }

func (f gap) length() time.Duration { return f.to.Sub(f.from) }

// result returns the longest MaxGaps in order of time. An open one comes last, and always: its length is unknown.
func (g *gaps) result(now time.Time) []wire.Gap {
	g.wake(now)
	found := longest(slices.Clone(g.found))
	if g.errors > 0 {
		if len(found) == wire.MaxGaps {
			i := slices.Index(found, slices.MinFunc(found, byWeight))
			found = slices.Delete(found, i, i+1)
		}
		found = append(found, g.open(now))
	}
	results := make([]wire.Gap, 0, len(found))
	for _, f := range found {
		results = append(results, f.result())
	}
	return results
}

// byWeight sorts gaps by length, those with a change of node last, since each is a failover.
func byWeight(a, b gap) int {
	if a.moved() != b.moved() {
		if a.moved() {
			return 1
		}
		return -1
	}
	return cmp.Compare(a.length(), b.length())
}

func longest(found []gap) []gap {
	slices.SortStableFunc(found, func(a, b gap) int { return byWeight(b, a) })
	found = found[:min(len(found), wire.MaxGaps)]
	slices.SortStableFunc(found, func(a, b gap) int { return a.from.Compare(b.from) })
	return found
}

func (f gap) result() wire.Gap {
	r := wire.Gap{
		LastNode: f.fromNode, LastAcknowledgedAt: metav1.NewMicroTime(f.from), Errors: f.errors, PausedMicroseconds: f.paused.Microseconds(),
	}
	if !f.firstErr.IsZero() {
		r.FirstErrorAt = new(metav1.NewMicroTime(f.firstErr))
	}
	if !f.to.IsZero() {
		r.NextNode = f.toNode
		r.NextAcknowledgedAt = new(metav1.NewMicroTime(f.to))
		r.DurationMicroseconds = new(f.length().Microseconds())
	}
	return r
}

// firstBucket is the width of the buckets of a load that fits into them.
const firstBucket = 100 * time.Millisecond

// silences keeps the longest silence that ended in each bucket of time, and the longest without pauses. Too many buckets are merged in pairs.
type silences struct {
	from    time.Time // of the first silence and the first bucket, zero before the load
	width   time.Duration
	buckets []bucket
}

type bucket struct{ longest, awake silence } // without a length when none ended in it

// silence ended so long after silences.from.
type silence struct{ end, length, paused time.Duration }

func (s silence) ran() time.Duration { return s.length - s.paused }

func (b *bucket) take(s silence) {
	if s.length > b.longest.length {
		b.longest = s
	}
	if s.ran() > b.awake.ran() {
		b.awake = s
	}
}

func (s *silences) begin(at time.Time) { s.from, s.width = at, firstBucket }

// add takes a silence; each must end after the one before it.
func (s *silences) add(from, to time.Time, paused time.Duration) {
	if s.from.IsZero() {
		return
	}
	end := max(to.Sub(s.from), 0)
	for end >= wire.MaxSilenceBuckets*s.width {
		s.merge()
	}
	for i := int(end / s.width); len(s.buckets) <= i; {
		s.buckets = append(s.buckets, bucket{})
	}
	s.buckets[end/s.width].take(silence{end, to.Sub(from), min(paused, to.Sub(from))})
}

func (s *silences) merge() {
	s.width *= 2
	for i, b := range s.buckets {
		if i%2 == 0 {
			s.buckets[i/2] = b
			continue
		}
		s.buckets[i/2].take(b.longest)
		s.buckets[i/2].take(b.awake)
	}
	s.buckets = s.buckets[:(len(s.buckets)+1)/2]
}

func (s *silences) result() *wire.Silences {
	if s.from.IsZero() {
		return nil
	}
	r := &wire.Silences{From: metav1.NewMicroTime(s.from), BucketMicroseconds: s.width.Microseconds()}
	for _, b := range s.buckets {
		if b.longest.length > 0 {
			r.Longest = append(r.Longest, b.longest.result())
		}
		if b.awake.length > 0 && b.awake != b.longest {
			r.Longest = append(r.Longest, b.awake.result())
		}
	}
	return r
}

func (s silence) result() wire.Silence {
	return wire.Silence{
		EndMicroseconds: s.end.Microseconds(), LengthMicroseconds: s.length.Microseconds(), PausedMicroseconds: s.paused.Microseconds(),
	}
}
