package figures

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

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

// result returns nil when nothing was recorded.
func (l *latencies) result() *wire.Latency {
	if l == nil || l.histogram.TotalCount() == 0 {
		return nil
	}
	count := l.histogram.TotalCount()
	return &wire.Latency{
		MeanMicroseconds: (l.sum + count/2) / count,
		P50Microseconds:  l.histogram.ValueAtPercentile(50),
		P95Microseconds:  l.histogram.ValueAtPercentile(95),
		P99Microseconds:  l.histogram.ValueAtPercentile(99),
		MaxMicroseconds:  l.histogram.Max(),
	}
}
