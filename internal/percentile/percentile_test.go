package percentile

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"
)

func TestPercentilesAreThoseOfASortedList(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	h := hdrhistogram.New(1, 1<<30, 3)
	var sorted []int64
	for n := 1; n <= 1000; n++ {
		v := 1 + random.Int64N(2000) // up to 2047 three digits tell all values apart
		if err := h.RecordValue(v); err != nil {
			t.Fatal(err)
		}
		at, _ := slices.BinarySearch(sorted, v)
		sorted = slices.Insert(sorted, at, v)
		for percent := 1; percent <= 100; percent++ {
			want := 1 // the smallest rank that leaves no more than (100 - percent)% out
			for (n-want)*100 > (100-percent)*n {
				want++
			}
			rank := Rank(int64(percent), int64(n))
			if rank != int64(want) {
				t.Fatalf("percentile %d of %d values has rank %d, want %d", percent, n, rank, want)
			}
			if got := At(h, rank); got != sorted[want-1] {
				t.Fatalf("percentile %d of %d values is %d, want %d", percent, n, got, sorted[want-1])
			}
		}
	}
}

func TestEveryRankOfManyValuesIsFound(t *testing.T) {
	h := hdrhistogram.New(1, 1<<30, 3)
	for v := int64(1); v <= 2000; v++ {
		if err := h.RecordValues(v, 1_000_003); err != nil {
			t.Fatal(err)
		}
	}
	for v := int64(1); v <= 2000; v++ {
		first, last := (v-1)*1_000_003+1, v*1_000_003
		if At(h, first) != v || At(h, last) != v {
			t.Fatalf("ranks %d and %d have %d and %d, want %d", first, last, At(h, first), At(h, last), v)
		}
	}
}

func TestAPercentileLeavesOutTheRest(t *testing.T) {
	for _, c := range []struct {
		percent, part, whole int64
		want                 bool
	}{
		{99, 0, 50_000_000, false},
		{99, 500_000, 50_000_000, false},
		{99, 500_001, 50_000_000, true},
		{95, 500_001, 50_000_000, false},
		{50, 26_000_000, 50_000_000, true},
		{100, 1, 50_000_000, true},
		{100, 0, 50_000_000, false},
		{99, 0, 0, false},
	} {
		if got := LeavesOutLess(c.percent, c.part, c.whole); got != c.want {
			t.Errorf("percentile %d leaves out less than %d of %d: %v, want %v", c.percent, c.part, c.whole, got, c.want)
		}
	}
}

func TestRanksOfMoreValuesThanMayBeMultiplied(t *testing.T) {
	if got, want := Rank(99, 1<<62), int64(1<<62-(1<<62)/100); got != want {
		t.Errorf("rank %d, want %d", got, want)
	}
}

// TestBucketsHaveEachValueInItsPlace, whatever its size, and are few.
func TestBucketsHaveEachValueInItsPlace(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	h := hdrhistogram.New(1, 300_000_000, 3)
	var values []int64
	for range 20_000 {
		v := 1 + random.Int64N(1<<(1+random.IntN(28)))
		v = min(v, 300_000_000)
		values = append(values, v)
		if err := h.RecordValue(v); err != nil {
			t.Fatal(err)
		}
	}
	buckets, end := Buckets(h), int64(0)
	for _, b := range buckets {
		var want int64
		for _, v := range values {
			if v >= b.FromMicroseconds && v < b.ToMicroseconds {
				want++
			}
		}
		if b.FromMicroseconds < end || b.ToMicroseconds <= b.FromMicroseconds || b.Count != want || b.Count == 0 || b.ToMicroseconds > max(b.FromMicroseconds*5/4, b.FromMicroseconds+1) {
			t.Errorf("%+v after %d has %d values", b, end, want)
		}
		end = b.ToMicroseconds
	}
	if len(buckets) > 120 || Buckets(nil) != nil {
		t.Errorf("%d buckets", len(buckets))
	}
}
