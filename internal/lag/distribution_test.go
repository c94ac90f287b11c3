package lag

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestQuantilesOverBothSigns(t *testing.T) {
	tests := map[string]struct {
		values                  []int64
		p25, p50, p75, p99, max int64
	}{
		"one value":                       {[]int64{7}, 7, 7, 7, 7, 7},
		"zero":                            {[]int64{0}, 0, 0, 0, 0, 0},
		"one negative value":              {[]int64{-7}, -7, -7, -7, -7, -7},
		"all negative":                    {[]int64{-1, -2, -3, -4}, -4, -3, -2, -1, -1},
		"around zero":                     {[]int64{-20, -10, 0, 10}, -20, -10, 0, 10, 10},
		"an odd count":                    {[]int64{-5, 1, 2}, -5, 1, 2, 2, 2},
		"the same value on both sides":    {[]int64{-3, -3, 3, 3}, -3, -3, 3, 3, 3},
		"beyond the histogram's range":    {[]int64{1, 2 * highestMicroseconds}, 1, 1, highestMicroseconds, highestMicroseconds, 2 * highestMicroseconds},
		"far below and far above in size": {[]int64{-100, 1, 2000, 1000}, -100, 1, 1000, 2000, 2000},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var d distribution
			for _, v := range test.values {
				d.record(v)
			}
			for q, want := range map[float64]int64{0.25: test.p25, 0.5: test.p50, 0.75: test.p75, 0.99: test.p99} {
				if got := *d.quantile(q); !near(got, want) {
					t.Errorf("quantile %v is %d, want %d", q, got, want)
				}
			}
			if *d.largest() != test.max {
				t.Errorf("largest %d, want %d", *d.largest(), test.max)
			}
		})
	}
}

// near allows the histogram's three digits.
func near(got, want int64) bool {
	return math.Abs(float64(got-want)) <= math.Abs(float64(want))/1000
}

func TestAnEmptyDistributionHasNoFigures(t *testing.T) {
	var d distribution
	if d.quantile(0.5) != nil || d.largest() != nil || d.count() != 0 {
		t.Fatal("figures without a value")
	}
}

func TestQuantilesAgreeWithASortedList(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		var d, left, right distribution
		n := 1 + random.IntN(3000)
		values := make([]int64, n)
		for i := range values {
			values[i] = int64(random.NormFloat64()*5000) + 3000
			d.record(values[i])
			if i%3 == 0 {
				left.record(values[i])
			} else {
				right.record(values[i])
			}
		}
		slices.Sort(values)
		for _, q := range []float64{0.001, 0.1, 0.27, 0.5, 0.9, 0.99, 0.999, 1} {
			want := values[int(math.Ceil(q*float64(n)))-1]
			if got := *d.quantile(q); !near(got, want) {
				t.Fatalf("quantile %v of %d values is %d, want %d", q, n, got, want)
			}
		}
		left.merge(&right)
		if diff := cmp.Diff([]int64{*d.quantile(0.5), *d.quantile(0.99), *d.largest(), d.count()},
			[]int64{*left.quantile(0.5), *left.quantile(0.99), *left.largest(), left.count()}); diff != "" {
			t.Fatalf("merged halves differ from the whole:\n%s", diff)
		}
	}
}
