package lag

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/percentile"
	"replab.dev/internal/wire"
)

// highestMicroseconds is the largest magnitude that the histograms tell apart: 24 hours. Extremes are kept exactly.
const highestMicroseconds = 24 * 3600 * 1_000_000

// distribution holds values in microseconds of either sign, to 3 significant digits; its extremes are exact. An
// HdrHistogram takes no negative value, so magnitudes of negative values have a histogram of their own.
type distribution struct {
	negative, rest *hdrhistogram.Histogram // nil while empty
	least, most    int64
}

func (d *distribution) count() int64 {
	return total(d.negative) + total(d.rest)
}

func (d *distribution) record(microseconds int64) {
	if d.count() == 0 {
		d.least, d.most = microseconds, microseconds
	}
	d.least, d.most = min(d.least, microseconds), max(d.most, microseconds)
	side, magnitude := &d.rest, microseconds
	if microseconds < 0 {
		side, magnitude = &d.negative, -microseconds
	}
	if *side == nil {
		*side = hdrhistogram.New(1, highestMicroseconds, 3)
	}
	// It cannot fail: the value lies within the histogram's range.
	_ = (*side).RecordValue(min(magnitude, highestMicroseconds))
}

// percentile returns the value of the nearest rank, nil without values.
func (d *distribution) percentile(percent int64) *int64 {
	n := d.count()
	if n == 0 {
		return nil
	}
	rank := percentile.Rank(percent, n)
	var v int64
	if below := total(d.negative); rank <= below {
		v = -percentile.At(d.negative, below-rank+1) // the largest magnitude is the smallest value
	} else {
		v = percentile.At(d.rest, rank-below)
	}
	v = min(max(v, d.least), d.most)
	return &v
}

// largest returns the largest value, nil without values.
func (d *distribution) largest() *int64 {
	if d.count() == 0 {
		return nil
	}
	v := d.most
	return &v
}

// buckets of the values. Those below 0 are in one, the first.
func (d *distribution) buckets() []wire.Bucket {
	all := percentile.Buckets(d.rest)
	if below := total(d.negative); below > 0 {
		all = append([]wire.Bucket{{FromMicroseconds: d.least, Count: below}}, all...)
	}
	return all
}

func (d *distribution) merge(from *distribution) {
	if from.count() == 0 {
		return
	}
	if d.count() == 0 {
		d.least, d.most = from.least, from.most
	}
	d.least, d.most = min(d.least, from.least), max(d.most, from.most)
	d.negative, d.rest = merged(d.negative, from.negative), merged(d.rest, from.rest)
}

func merged(into, from *hdrhistogram.Histogram) *hdrhistogram.Histogram {
	if from == nil {
		return into
	}
	if into == nil {
		into = hdrhistogram.New(1, highestMicroseconds, 3)
	}
	into.Merge(from)
	return into
}

func total(h *hdrhistogram.Histogram) int64 {
	if h == nil {
		return 0
	}
	return h.TotalCount()
}

// figures are the samples of one node, or of one payload size.
type figures struct {
	lag, resolution distribution
	unpaused        *distribution // the lags less the pauses of this process within each, nil while there are none
	censored        int64
}

func (f *figures) record(s sample, paused time.Duration) {
	if paused > 0 && f.unpaused == nil {
		f.unpaused = &distribution{}
		f.unpaused.merge(&f.lag)
	}
	if f.unpaused != nil {
		f.unpaused.record((s.lag - paused).Microseconds())
	}
	f.lag.record(s.lag.Microseconds())
	f.resolution.record(s.resolution.Microseconds())
	if s.censored {
		f.censored++
	}
}

// result takes each unseen write with its age, which its lag exceeds: left out, it would make the percentiles of a node
// better the further it is behind. w are writes that no node was to show: their lags may have been anything.
func (f *figures) result(u unseen, w unwatched) wire.LagDistribution {
	var lag distribution
	lag.merge(&f.lag)
	lag.merge(&u.ages)
	d := wire.LagDistribution{
		Samples: f.lag.count(), Censored: f.censored, Unseen: u.count, Lost: u.lost,
		P50Microseconds: lag.percentile(50), P99Microseconds: lag.percentile(99), MaxMicroseconds: lag.largest(),
		ResolutionP50Microseconds: f.resolution.percentile(50), OldestUnseenMicroseconds: u.oldestMicroseconds, Unwatched: w.writes,
	}
	if f.unpaused != nil {
		var least distribution
		least.merge(f.unpaused)
		least.merge(&u.ages)
		d.UnpausedP50Microseconds, d.UnpausedP99Microseconds, d.UnpausedMaxMicroseconds = least.percentile(50), least.percentile(99), least.largest()
	}
	if w.atMost != nil && u.ages.count() == 0 {
		d.AtMostMicroseconds = longer(w.atMost, d.MaxMicroseconds)
	}
	for _, p := range []struct {
		name    v1alpha1.Percentile
		percent int64
		value   *int64
	}{{v1alpha1.P50, 50, d.P50Microseconds}, {v1alpha1.P99, 99, d.P99Microseconds}, {v1alpha1.Max, 100, d.MaxMicroseconds}} {
		if u.within(p.value) || w.raise(p.percent, p.value, lag.count()) {
			d.LowerBounds = append(d.LowerBounds, p.name)
		}
	}
	return d
}

// unwatched are the writes that no node was to show, since all others were former primaries.
type unwatched struct {
	writes int64
	atMost *int64 // the longest time in microseconds until a former primary showed one, nil where one was not shown
}

// raise reports whether a percentile of so many lags may be more with these writes.
func (w unwatched) raise(percent int64, value *int64, lags int64) bool {
	return value != nil && percentile.LeavesOutLess(percent, w.writes, lags+w.writes) && (w.atMost == nil || *w.atMost > *value)
}

// longer is the longer of two times, either of which may be absent.
func longer(a, b *int64) *int64 {
	if a == nil || b != nil && *b > *a {
		return b
	}
	return a
}

// unseen are the writes that a node has not shown.
type unseen struct {
	count, lost        int64
	oldestMicroseconds *int64
	ages               distribution // of those that are not lost: what their lag is at least
}

// add takes a write that is not lost.
func (u *unseen) add(age time.Duration) {
	u.count++
	microseconds := age.Microseconds()
	u.ages.record(microseconds)
	u.age(&microseconds)
}

// addOverflow takes writes that the node had not shown when they were acknowledged, and that were not watched after: all
// that is known of their lag is that it was not below 0.
func (u *unseen) addOverflow(writes int64) {
	u.count += writes
	for range writes {
		u.ages.record(0)
	}
}

// within reports whether an unseen write stands at or below a percentile: its true lag may be above it.
func (u *unseen) within(value *int64) bool {
	return value != nil && u.ages.count() > 0 && u.ages.least <= *value
}

func (u *unseen) age(microseconds *int64) {
	u.oldestMicroseconds = longer(u.oldestMicroseconds, microseconds)
}

func (u *unseen) merge(from unseen) {
	u.count += from.count
	u.lost += from.lost
	u.ages.merge(&from.ages)
	u.age(from.oldestMicroseconds)
}
