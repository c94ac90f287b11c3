package compare

import (
	"math"
	"testing"
)

// The critical values of Wilcoxon's published table, two-sided 5%.
func TestCriticalValuesAreThoseOfTheTable(t *testing.T) {
	for n, want := range map[int]int{6: 0, 7: 2, 8: 3, 9: 5, 10: 8, 11: 10, 12: 13, 13: 17, 14: 21, 15: 25, 16: 29, 17: 34, 18: 40, 19: 46, 20: 52, 25: 89, 30: 137} {
		if got := beyond(chances(n)); got != want {
			t.Errorf("%d values: %d, want %d", n, got, want)
		}
	}
}

// TestLopsided by what can be counted by hand: of n signs each is as likely, and only all alike have the least sum.
func TestLopsided(t *testing.T) {
	for name, c := range map[string]struct {
		values []float64
		want   float64
	}{
		"all on one side":     {[]float64{1, 2, 3, 4, 5, 6}, 2. / 64},
		"all on the other":    {[]float64{-1, -2, -3, -4, -5, -6}, 2. / 64},
		"the least differs":   {[]float64{-1, 2, 3, 4, 5, 6}, 4. / 64}, // sums 0 and 1
		"one is 0":            {[]float64{0, 2, 3, 4, 5, 6}, 4. / 64},
		"all are 0":           {[]float64{0, 0, 0, 0, 0, 0}, 1},
		"balanced":            {[]float64{1, -2, -3, 4}, 1},
		"one value":           {[]float64{3}, 1},
		"without end":         {[]float64{math.Inf(1), 1, 2, 3, 4, 5}, 2. / 64},
		"opposite, no end":    {[]float64{math.Inf(1), math.Inf(-1)}, 1},
		"the fifth of twelve": {[]float64{1, 2, 3, 4, -5, 6, 7, 8, 9, 10, 11, 12}, 2 * 10. / 4096}, // sums to 5 in 1+1+1+2+2+3 ways
	} {
		low, high := walsh(c.values, math.Inf(-1)), walsh(c.values, math.Inf(1))
		if got := lopsided(low, high, chances(len(c.values))); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: %.5f, want %.5f", name, got, c.want)
		}
	}
}
