package outage

import (
	"math/rand/v2"
	"testing"
	"time"

	"replab.dev/internal/recorder/outage"
	"replab.dev/internal/verdict/evidencetest"
	"replab.dev/internal/wire"
)

// TestTheLongestSilenceIsFoundAmongMany asks for the longest silence between any two moments, and compares with all of them.
func TestTheLongestSilenceIsFoundAmongMany(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		now := evidencetest.T0
		l := outage.NewLog(func() time.Time { return now }, nil)
		l.Begin(evidencetest.T0)
		ends := []int64{0}
		total := []int64{3e6, 60e6, 2000e6}[random.IntN(3)] // the last has more buckets than are kept
		for last := int64(0); last < total; {
			last += 1 + random.Int64N(1+random.Int64N([]int64{30_000, 150_000, 2_000_000}[random.IntN(3)]))
			ends = append(ends, last)
			now = evidencetest.T0.Add(time.Duration(last) * time.Microsecond)
			l.Acknowledged("db-0")
		}
		q := quiet{Silences: l.Silences(), loadEnd: ends[len(ends)-1]}
		for range 50 {
			from := random.Int64N(total)
			w := span{from: from, to: from + 1 + random.Int64N(total), cut: random.IntN(2) == 0}
			var want int64
			for i := 1; i < len(ends); i++ {
				want = max(want, w.part(wire.Silence{EndMicroseconds: ends[i], LengthMicroseconds: ends[i] - ends[i-1]}))
			}
			got := q.longest(w, w)
			if got.low > want || got.high < want || want >= q.BucketMicroseconds && !w.cut && got.high != want {
				t.Fatalf("%+v of %d silences in buckets of %d: between %d and %d, is %d", w, len(ends), q.BucketMicroseconds, got.low, got.high, want)
			}
			if len(q.Longest) > 2*wire.MaxSilenceBuckets {
				t.Fatalf("%d silences are kept", len(q.Longest))
			}
		}
	}
}
