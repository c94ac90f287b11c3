package figures

import (
	"math"
	"sync"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// NativeSchema is the resolution of Native.Buckets: each is 2^(1/16), 4.4%, wider than the one before it.
const NativeSchema = 4

const bucketsPerDoubling = 1 << NativeSchema

// Native are the latencies of an operation in a stage, of the requests that succeeded or of those that failed, as native histograms of
// Prometheus have them.
type Native struct {
	Stage     string
	Operation Operation
	Succeeded bool
	Count     uint64
	Sum       float64       // in seconds
	Buckets   map[int]int64 // by index: bucket i ends at 2^(i/16) seconds
}

// Natives makes native histograms of what a Recorder holds anyway, so that they cost the load nothing. What has not changed since the last
// time is not made again.
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
