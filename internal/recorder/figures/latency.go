package figures

import (
	"math"
	"slices"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/percentile"
	"replab.dev/internal/wire"
)

// MaxLatency is the longest latency of the histograms. Longer ones count as this.
const MaxLatency = 5 * time.Minute

const significantDigits = 3

// latencies are the latencies of some requests, in microseconds from 1 to MaxLatency.
type latencies struct {
	histogram *hdrhistogram.Histogram
	sum       int64      // of the values as they were, so that the mean is exact
	unpaused  *latencies // the same less the pauses of this process within each request, nil while there are none
}

func newLatencies() *latencies {
	return &latencies{histogram: hdrhistogram.New(1, MaxLatency.Microseconds(), significantDigits)}
}

// record a latency, of which this process did not run for a part.
func (l *latencies) record(latency, paused time.Duration) {
	if paused > 0 && l.unpaused == nil {
		l.unpaused = l.copied()
	}
	if l.unpaused != nil {
		l.unpaused.record(latency-paused, 0)
	}
	us := min(max(latency.Microseconds(), 1), MaxLatency.Microseconds())
	// It cannot fail: the histogram was made for these values.
	_ = l.histogram.RecordValue(us)
	l.sum += us
}

func (l *latencies) copied() *latencies {
	return &latencies{histogram: hdrhistogram.Import(l.histogram.Export()), sum: l.sum}
}

// withoutPauses is what no true latency is less than.
func (l *latencies) withoutPauses() *latencies {
	if l.unpaused == nil {
		return l
	}
	return l.unpaused
}

// add merges other into l; both may be nil. Their buckets are the same, so percentiles of the sum are exact.
func (l *latencies) add(other *latencies) *latencies {
	if other == nil {
		return l
	}
	if l == nil {
		l = newLatencies()
	}
	if l.unpaused == nil && other.unpaused != nil {
		l.unpaused = l.copied()
	}
	if l.unpaused != nil {
		l.unpaused.add(other.withoutPauses())
	}
	l.histogram.Merge(other.histogram)
	l.sum += other.sum
	return l
}

// unseen is what a histogram lacks.
type unseen struct {
	slower int64 // requests that were slower than each that it has, by how much nobody knows
	// paused of all requests may have come while this process did not run, and were taken for later.
	paused, all int64
}

// result combines l with what it lacks. It is nil if nothing was recorded.
func (l *latencies) result(u unseen) *wire.Latency {
	if l == nil || l.histogram.TotalCount() == 0 {
		return nil
	}
	count := l.histogram.TotalCount()
	r := &wire.Latency{MeanMicroseconds: (l.sum + count/2) / count, StandardDeviationMicroseconds: int64(math.Round(l.histogram.StdDev()))}
	for _, p := range percentiles {
		rank := percentile.Rank(p.percent, count+u.slower)
		if rank > count || percentile.LeavesOutLess(p.percent, u.paused, u.all) {
			r.LowerBounds = append(r.LowerBounds, p.name)
		}
		*p.of(r) = percentile.At(l.histogram, min(rank, count))
	}
	if l.unpaused != nil || u.paused > 0 {
		r.Unpaused = l.withoutPauses().result(unseen{slower: u.slower})
		r.Unpaused.LowerBounds, r.Unpaused.StandardDeviationMicroseconds = nil, 0
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
	{v1alpha1.P75, 75, func(l *wire.Latency) *int64 { return &l.P75Microseconds }},
	{v1alpha1.P90, 90, func(l *wire.Latency) *int64 { return &l.P90Microseconds }},
	{v1alpha1.P95, 95, func(l *wire.Latency) *int64 { return &l.P95Microseconds }},
	{v1alpha1.P99, 99, func(l *wire.Latency) *int64 { return &l.P99Microseconds }},
	{v1alpha1.Max, 100, func(l *wire.Latency) *int64 { return &l.MaxMicroseconds }},
}

// MarkLag marks percentiles of a lag that leave out less than the pauses of this process, which paused the probe too. load has all counting stages.
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

// NativeSchema is the resolution of Native.Buckets: each is 2^(1/16), 4.4%, wider than the one before it.
const NativeSchema = 4

const bucketsPerDoubling = 1 << NativeSchema

// Native are the latencies of an operation in a stage, succeeded or failed, as a native histogram of Prometheus.
type Native struct {
	Stage     string
	Operation Operation
	Succeeded bool
	Count     uint64
	Sum       float64       // in seconds
	Buckets   map[int]int64 // by index: bucket i ends at 2^(i/16) seconds
}

// Natives makes native histograms of a Recorder's, and keeps those without a change.
type Natives struct {
	recorder *Recorder

	mu   sync.Mutex
	made map[nativeKey]Native
}

type nativeKey struct {
	stage, op int
	succeeded bool
}

// NewNatives of a recorder.
func NewNatives(r *Recorder) *Natives { return &Natives{recorder: r, made: map[nativeKey]Native{}} }

// Read returns those that have a request.
func (n *Natives) Read() (all []Native) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for stage := range n.recorder.stages {
		for op := range int(operations) {
			for _, succeeded := range []bool{true, false} {
				if made := n.of(nativeKey{stage, op, succeeded}); made.Count > 0 {
					all = append(all, made)
				}
			}
		}
	}
	return all
}

func (n *Natives) of(k nativeKey) Native {
	made := n.made[k]
	copied, sum := n.copy(k, made.Count)
	if copied == nil {
		return made
	}
	made = Native{
		Stage: n.recorder.stages[k.stage].Name, Operation: Operation(k.op), Succeeded: k.succeeded,
		Sum: float64(sum) / 1e6, Buckets: map[int]int64{},
	}
	for _, bar := range hdrhistogram.Import(copied).Distribution() {
		if bar.Count > 0 {
			made.Count += uint64(bar.Count)
			made.Buckets[nativeBucket(bar.From, bar.To)] += bar.Count
		}
	}
	n.made[k] = made
	return made
}

// copy is nil when there are no more than known. The lock is held for as long as 160 KiB take to be copied, and no longer.
func (n *Natives) copy(k nativeKey, known uint64) (copied *hdrhistogram.Snapshot, sum int64) {
	r := n.recorder
	r.mu.Lock()
	defer r.mu.Unlock()
	o := &r.stages[k.stage].operations[k.op]
	l := o.succeeded
	if !k.succeeded {
		l = o.failed
	}
	if l == nil || uint64(l.histogram.TotalCount()) == known {
		return nil, 0
	}
	return l.histogram.Export(), l.sum
}

// nativeBucket is the bucket of the middle of some microseconds that are not told apart.
func nativeBucket(from, to int64) int {
	return int(math.Ceil(math.Log2(float64(from+to)/2e6) * bucketsPerDoubling))
}
