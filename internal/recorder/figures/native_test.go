package figures

import (
	"math"
	"slices"
	"testing"
	"time"

	"replab.dev/internal/wire"
)

// TestNativeHistogramsHoldEachRequestInItsBucket: each request is in the bucket that its latency belongs to, but for the 0.1% that the recorder
// does not tell apart.
func TestNativeHistogramsHoldEachRequestInItsBucket(t *testing.T) {
	c := &clock{Time: start}
	r := New([]wire.Stage{{Name: "a", DurationSeconds: 60}, {Name: "b", DurationSeconds: 60}}, c.now)
	r.Start(c.now())
	var sum float64
	want := map[int]int64{}
	for _, took := range []time.Duration{90 * time.Microsecond, 1500 * time.Microsecond, 1510 * time.Microsecond, 40 * time.Millisecond, 7 * time.Second} {
		call := r.Begin("a", Register)
		c.Time = c.Add(took)
		call.End(true, 0)
		sum += took.Seconds()
		want[int(math.Ceil(16*math.Log2(took.Seconds())))]++
	}
	failing := r.Begin("b", Profile)
	c.Time = c.Add(900 * time.Millisecond)
	failing.End(false, 0)

	natives := NewNatives(r)
	all := natives.Read()
	if len(all) != 2 {
		t.Fatalf("%d histograms, want one of a and one of b: %+v", len(all), all)
	}
	if a := all[0]; a.Stage != "a" || a.Operation != Register || !a.Succeeded || a.Count != 5 || math.Abs(a.Sum-sum) > 1e-9 || !sameBuckets(a.Buckets, want) {
		t.Errorf("of a: %+v, want %v with the sum %v", a, want, sum)
	}
	if b := all[1]; b.Stage != "b" || b.Operation != Profile || b.Succeeded || b.Count != 1 || b.Buckets[-2] != 1 {
		t.Errorf("of b: %+v, want one that failed after 0.9 s", b)
	}

	again := r.Begin("a", Register)
	c.Time = c.Add(time.Millisecond)
	again.End(true, 0)
	if after := natives.Read(); after[0].Count != 6 || after[1].Count != 1 {
		t.Errorf("after one more of a: %+v", after)
	}
}

func sameBuckets(a, b map[int]int64) bool {
	total := func(m map[int]int64) (keys []int) {
		for k, n := range m {
			for range n {
				keys = append(keys, k)
			}
		}
		slices.Sort(keys)
		return keys
	}
	return slices.Equal(total(a), total(b))
}
