package compare

import (
	"math"
	"slices"
	"testing"
)

// TestSignedRanks by what can be counted by hand: of n signs each is as likely, and only all alike have the least sum.
func TestSignedRanks(t *testing.T) {
	for name, c := range map[string]struct {
		values []float64
		want   float64
	}{
		"all on one side":   {[]float64{1, 2, 3, 4, 5, 6}, 2. / 64},
		"none":              {nil, 1},
		"zeros tell naught": {[]float64{0, 1, 2, 0, 3, 4, 5, 6}, 2. / 64},
		"the least differs": {[]float64{-1, 2, 3, 4, 5, 6}, 4. / 64},                  // sums 0 and 1
		"balanced":          {[]float64{1, -2, -3, 4}, 1},                             // 5 of 10
		"ties":              {[]float64{-1, 1, 1, 1, 1, 1}, 2 * (1. + 6.) / 64},       // rank 3.5 each: the sums 0 and 3.5
		"one of ten":        {[]float64{-5, 2, 3, 5, 7, 8, 8, 9, 10, 11}, 12. / 1024}, // the sums 0, 1, 2, 3 and 3.5 twice
	} {
		if got, _ := signedRanks(c.values); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %.5f, want %.5f", name, got, c.want)
		}
	}
}

// TestTheIntervalHasTheMedianAsOftenAsItSays: of samples from a known distribution.
func TestTheIntervalHasTheMedianAsOftenAsItSays(t *testing.T) {
	low, high := bootstrap([]float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, 1)
	again, _ := bootstrap([]float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, 1)
	if low != again || low > 4 || low < 2 || high < 8 || high > 10 {
		t.Errorf("interval %v to %v, then from %v", low, high, again)
	}
}

func TestStatisticsTakeTheWidestThatBoundsAllow(t *testing.T) {
	exact := []Interval{Exact(1), Exact(2), Exact(3), Exact(4), Exact(5), Exact(6)}
	if got := SignedRanks(exact); got != 2./64 {
		t.Errorf("all above 0: p = %v", got)
	}
	touching := slices.Clone(exact)
	touching[0] = Interval{-1, 1}
	if got := SignedRanks(touching); got != 4./64 {
		t.Errorf("one that may be below 0: p = %v", got)
	}
	either := slices.Repeat([]Interval{{-1, 1}}, 6)
	if got := SignedRanks(either); got != 1 {
		t.Errorf("all may be on either side: p = %v", got)
	}
	wide := slices.Clone(exact)
	for i := range wide {
		wide[i].High += 10
	}
	low, high := Bootstrap(exact, 1), Bootstrap(wide, 1)
	if high.Low != low.Low || high.High != low.High+10 {
		t.Errorf("the interval is %v, and %v where upper bounds are 10 higher", low, high)
	}
}
