package lag

import (
	"math"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

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

// quantile returns the value of rank ceil(q·n), nil without values.
func (d *distribution) quantile(q float64) *int64 {
	n := d.count()
	if n == 0 {
		return nil
	}
	rank := min(max(int64(math.Ceil(q*float64(n))), 1), n)
	var v int64
	if below := total(d.negative); rank <= below {
		v = -atRank(d.negative, below-rank+1) // the largest magnitude is the smallest value
	} else {
		v = atRank(d.rest, rank-below)
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

// atRank returns the value of a rank from 1 to the histogram's count; the library knows percentiles only, and rounds to
// the nearest rank.
func atRank(h *hdrhistogram.Histogram, rank int64) int64 {
	return h.ValueAtPercentile(100 * float64(rank) / float64(h.TotalCount()))
}

// figures are the samples of one node, or of one payload size.
type figures struct {
	lag, bracket distribution
	censored     int64
}

func (f *figures) record(s sample) {
	f.lag.record(s.lag.Microseconds())
	f.bracket.record(s.bracket.Microseconds())
	if s.censored {
		f.censored++
	}
}

// result takes each unseen write with its age, which its lag exceeds: left out, it would make the percentiles of a node
// better the further it is behind.
func (f *figures) result(u unseen) wire.LagDistribution {
	var lag distribution
	lag.merge(&f.lag)
	lag.merge(&u.ages)
	return wire.LagDistribution{
		Samples: f.lag.count(), Censored: f.censored, Unseen: u.count, Lost: u.lost,
		P50Microseconds: lag.quantile(0.5), P99Microseconds: lag.quantile(0.99), MaxMicroseconds: lag.largest(),
		BracketP50Microseconds: f.bracket.quantile(0.5), OldestUnseenMicroseconds: u.oldestMicroseconds,
	}
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

// addUnwatched takes writes that the node had not shown when they were acknowledged, and that nobody watched after: all
// that is known of their lag is that it was not below 0.
func (u *unseen) addUnwatched(writes int64) {
	u.count += writes
	for range writes {
		u.ages.record(0)
	}
}

func (u *unseen) age(microseconds *int64) {
	if microseconds != nil && (u.oldestMicroseconds == nil || *microseconds > *u.oldestMicroseconds) {
		u.oldestMicroseconds = microseconds
	}
}

func (u *unseen) merge(from unseen) {
	u.count += from.count
	u.lost += from.lost
	u.ages.merge(&from.ages)
	u.age(from.oldestMicroseconds)
}
