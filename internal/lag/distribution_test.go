package lag

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"replab.dev/api/v1alpha1"
	"replab.dev/internal/wire"
)

func TestPercentilesOverBothSigns(t *testing.T) {
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
			for percent, want := range map[int64]int64{25: test.p25, 50: test.p50, 75: test.p75, 99: test.p99} {
				if got := *d.percentile(percent); !near(got, want) {
					t.Errorf("percentile %d is %d, want %d", percent, got, want)
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
	if d.percentile(50) != nil || d.largest() != nil || d.count() != 0 {
		t.Fatal("figures without a value")
	}
}

func TestPercentilesAgreeWithASortedList(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var d, left, right distribution
	var values []int64
	for n := 1; n <= 1000; n++ {
		v := int64(random.NormFloat64()*5000) + 3000
		at, _ := slices.BinarySearch(values, v)
		values = slices.Insert(values, at, v)
		d.record(v)
		if n%3 == 0 {
			left.record(v)
		} else {
			right.record(v)
		}
		for _, percent := range []int{1, 10, 27, 50, 90, 95, 99, 100} {
			if got, want := *d.percentile(int64(percent)), values[(percent*n+99)/100-1]; !near(got, want) {
				t.Fatalf("percentile %d of %d values is %d, want %d", percent, n, got, want)
			}
		}
	}
	left.merge(&right)
	if diff := cmp.Diff([]int64{*d.percentile(50), *d.percentile(99), *d.largest(), d.count()},
		[]int64{*left.percentile(50), *left.percentile(99), *left.largest(), left.count()}); diff != "" {
		t.Fatalf("merged halves differ from the whole:\n%s", diff)
	}
}

func TestAPercentileIsALowerBoundWhereUnseenWritesMayLieAboveIt(t *testing.T) {
	for name, c := range map[string]struct {
		lags, ages []time.Duration
		unwatched  int64
		want       []v1alpha1.Percentile
	}{
		"all were seen":                     {lags: []time.Duration{ms, 2 * ms, 3 * ms}},
		"one is younger than the median":    {lags: []time.Duration{2 * ms, 2 * ms, 3 * ms}, ages: []time.Duration{ms}, want: []v1alpha1.Percentile{v1alpha1.P50, v1alpha1.P99, v1alpha1.Max}},
		"one is older than the median":      {lags: []time.Duration{ms, 2 * ms, 9 * ms}, ages: []time.Duration{8 * ms}, want: []v1alpha1.Percentile{v1alpha1.P99, v1alpha1.Max}},
		"one is older than all others":      {lags: []time.Duration{ms, 2 * ms, 3 * ms}, ages: []time.Duration{8 * ms}, want: []v1alpha1.Percentile{v1alpha1.P99, v1alpha1.Max}},
		"one was not watched at all":        {lags: []time.Duration{ms, 2 * ms, 3 * ms}, unwatched: 1, want: []v1alpha1.Percentile{v1alpha1.P50, v1alpha1.P99, v1alpha1.Max}},
		"none was seen":                     {ages: []time.Duration{ms}, want: []v1alpha1.Percentile{v1alpha1.P50, v1alpha1.P99, v1alpha1.Max}},
		"nothing is known of any":           {},
		"an unseen one is no negative lag":  {lags: []time.Duration{-5 * ms, -4 * ms, -3 * ms}, unwatched: 1, want: []v1alpha1.Percentile{v1alpha1.P99, v1alpha1.Max}},
		"one as old as the median, exactly": {lags: []time.Duration{ms, 2 * ms, 3 * ms}, ages: []time.Duration{2 * ms}, want: []v1alpha1.Percentile{v1alpha1.P50, v1alpha1.P99, v1alpha1.Max}},
	} {
		t.Run(name, func(t *testing.T) {
			var f figures
			var u unseen
			for _, lag := range c.lags {
				f.record(sample{lag: lag}, 0)
			}
			for _, age := range c.ages {
				u.add(age)
			}
			u.addOverflow(c.unwatched)
			if diff := cmp.Diff(c.want, f.result(u, unwatched{}).LowerBounds); diff != "" {
				t.Errorf("lower bounds (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBucketsOverBothSigns(t *testing.T) {
	var d distribution
	for _, v := range []int64{-9, -2, 0, 5, 5, 1300} {
		d.record(v)
	}
	want := []wire.Bucket{{FromMicroseconds: -9, Count: 2}, {ToMicroseconds: 1, Count: 1}, {FromMicroseconds: 5, ToMicroseconds: 6, Count: 2}, {FromMicroseconds: 1280, ToMicroseconds: 1536, Count: 1}}
	if diff := cmp.Diff(want, d.buckets()); diff != "" {
		t.Error(diff)
	}
}
