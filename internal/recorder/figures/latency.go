package figures

import (
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/percentile"
	"replab.dev/internal/wire"
)

// MaxLatency is the largest latency that is told apart; what took longer is counted as this.
const MaxLatency = 5 * time.Minute

const significantDigits = 3

// latencies are the latencies of some requests, in microseconds from 1 to MaxLatency.
type latencies struct {
	histogram *hdrhistogram.Histogram
	sum       int64 // of the values as they were, so that the mean is exact
}

func newLatencies() *latencies {
	return &latencies{histogram: hdrhistogram.New(1, MaxLatency.Microseconds(), significantDigits)}
}

func (l *latencies) record(latency time.Duration) {
	us := min(max(latency.Microseconds(), 1), MaxLatency.Microseconds())
	// It cannot fail: the histogram was made for these values.
	_ = l.histogram.RecordValue(us)
	l.sum += us
}

// add puts all of other's latencies into l, which it makes when needed; either may be nil, which is none. Both have the
// same buckets, so a percentile of the sum is that of all requests together.
func (l *latencies) add(other *latencies) *latencies {
	if other == nil {
		return l
	}
	if l == nil {
		l = newLatencies()
	}
	l.histogram.Merge(other.histogram)
	l.sum += other.sum
	return l
}

// unseen is what a histogram knows nothing of.
type unseen struct {
	slower int64 // requests that were slower than each that it has, by how much nobody knows
	// paused of all requests came while this process did not run, and were taken for later.
	paused, all int64
}

// result takes l's requests together with what it knows nothing of. It is nil when nothing was recorded.
func (l *latencies) result(u unseen) *wire.Latency {
	if l == nil || l.histogram.TotalCount() == 0 {
		return nil
	}
	count := l.histogram.TotalCount()
	r := &wire.Latency{MeanMicroseconds: (l.sum + count/2) / count}
	for _, p := range percentiles {
		rank := percentile.Rank(p.percent, count+u.slower)
		if rank > count || percentile.LeavesOutLess(p.percent, u.paused, u.all) {
			r.LowerBounds = append(r.LowerBounds, p.name)
		}
		*p.of(r) = percentile.At(l.histogram, min(rank, count))
	}
	return r
}

// percentiles are those of wire.Latency.
var percentiles = []struct {
	name    v1alpha1.Percentile
	percent int64
	of      func(*wire.Latency) *int64
}{
	{v1alpha1.P50, 50, func(l *wire.Latency) *int64 { return &l.P50Microseconds }},
	{v1alpha1.P95, 95, func(l *wire.Latency) *int64 { return &l.P95Microseconds }},
	{v1alpha1.P99, 99, func(l *wire.Latency) *int64 { return &l.P99Microseconds }},
	{v1alpha1.Max, 100, func(l *wire.Latency) *int64 { return &l.MaxMicroseconds }},
}

// MarkLag marks the percentiles of a lag that leave out less than the part of the time in which this process did not run: the
// lag probe stood still with it. load are the figures of all stages that count, as the lag's writes do.
func MarkLag(l *wire.LagResult, load wire.StageResult) {
	marked := []*wire.LagDistribution{&l.LagDistribution}
	for i := range l.Nodes {
		marked = append(marked, &l.Nodes[i].LagDistribution)
	}
	for i := range l.Sizes {
		marked = append(marked, &l.Sizes[i].LagDistribution)
	}
	for _, d := range marked {
		d.LowerBounds = lagBounds(*d, load)
		if load.PausedMicroseconds > 0 { // what a pause hid may have taken longer
			d.AtMostMicroseconds = nil
		}
	}
}

func lagBounds(d wire.LagDistribution, load wire.StageResult) (lower []v1alpha1.Percentile) {
	for _, p := range []struct {
		name    v1alpha1.Percentile
		percent int64
		value   *int64
	}{{v1alpha1.P50, 50, d.P50Microseconds}, {v1alpha1.P99, 99, d.P99Microseconds}, {v1alpha1.Max, 100, d.MaxMicroseconds}} {
		paused := percentile.LeavesOutLess(p.percent, load.PausedMicroseconds, load.DurationMicroseconds)
		if p.value != nil && (paused || slices.Contains(d.LowerBounds, p.name)) {
			lower = append(lower, p.name)
		}
	}
	return lower
}
