package compare

import (
	"math"
	"slices"
	"sort"
)

// walsh are the means of all pairs of values, each with itself too, in their order. Their median is Hodges and Lehmann's estimate. Open is the
// mean of opposite infinities.
func walsh(values []float64, open float64) []float64 {
	var means []float64
	for i, a := range values {
		for _, b := range values[i:] {
			means = append(means, mean(a, b, open))
		}
	}
	slices.Sort(means)
	return means
}

// rounding is the most that logarithms of equal ratios, such as 2/3 and 4/6, differ by.
const rounding = 1e-12

func mean(a, b, open float64) float64 {
	switch m := (a + b) / 2; {
	case math.IsNaN(m):
		return open
	case math.Abs(m) < rounding:
		return 0
	default:
		return m
	}
}

// middle of sorted values.
func middle(sorted []float64, open float64) float64 {
	n := len(sorted)
	return mean(sorted[(n-1)/2], sorted[n/2], open)
}

// chances are the probabilities that the positive ones of n values have ranks with this sum or less, if values lie around 0 alike. They are
// exact, by counting all signs. As many Walsh averages are above 0.
func chances(n int) []float64 {
	chance := make([]float64, n*(n+1)/2+1)
	chance[0] = 1
	for rank := 1; rank <= n; rank++ {
		for sum := len(chance) - 1; sum >= 0; sum-- {
			chance[sum] /= 2
			if sum >= rank {
				chance[sum] += chance[sum-rank] / 2
			}
		}
	}
	for sum := 1; sum < len(chance); sum++ {
		chance[sum] += chance[sum-1]
	}
	return chance
}

// beyond is how many of the sorted Walsh averages, of six values at least, lie beyond either end of the interval.
func beyond(chance []float64) int {
	return sort.Search(len(chance), func(sum int) bool { return chance[sum] > (1-confidence)/2 }) - 1
}

// lopsided is the two-sided probability of Walsh averages that lie as much to one side of 0, wherever each lies between its ends. Averages of 0
// count for the other side.
func lopsided(low, high, chance []float64) float64 {
	notAbove := sort.Search(len(low), func(i int) bool { return low[i] > 0 })
	notBelow := len(high) - sort.Search(len(high), func(i int) bool { return high[i] >= 0 })
	return min(1, 2*chance[min(notAbove, notBelow)])
}
