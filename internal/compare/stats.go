package compare

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"replab.dev/internal/percentile"
)

const resamples = 10_000

// Bootstrap holds the median that values are a sample of with 95% confidence, wherever each lies between its bounds. The same seed gives the
// same interval.
func Bootstrap(values []Interval, seed int64) Interval {
	low, _ := bootstrap(Lows(values), seed)
	_, high := bootstrap(Highs(values), seed)
	return Interval{low, high}
}

// bootstrap takes the percentiles of resamples' medians.
func bootstrap(values []float64, seed int64) (low, high float64) {
	random := rand.New(rand.NewPCG(uint64(seed), 0))
	medians := make([]float64, resamples)
	resample := make([]float64, len(values))
	for i := range medians {
		for j := range resample {
			resample[j] = values[random.IntN(len(values))]
		}
		medians[i] = percentile.Median(resample)
	}
	slices.Sort(medians)
	return medians[resamples*25/1000], medians[resamples*975/1000-1]
}

// SignedRanks is Wilcoxon's signed-rank test of values against 0: the highest probability that their bounds allow.
func SignedRanks(values []Interval) float64 {
	low, fromLows := signedRanks(Lows(values))
	high, fromHighs := signedRanks(Highs(values))
	if fromLows != fromHighs {
		return 1
	}
	return max(low, high)
}

// signedRanks is the two-sided probability of ranks as lopsided as these, if values lie around 0 alike, and to which side they lie. It is exact
// by counting all signs. Zeros are left out; equal sizes share their mean rank.
func signedRanks(values []float64) (p float64, side int) {
	sorted := slices.DeleteFunc(slices.Clone(values), func(v float64) bool { return v == 0 })
	slices.SortFunc(sorted, func(a, b float64) int { return cmp.Compare(math.Abs(a), math.Abs(b)) })
	var positive, all int // sums of doubled ranks, which are whole
	ways := []float64{1}  // share of the signs by the sum of those that are positive
	for i := 0; i < len(sorted); {
		j := i
		for j < len(sorted) && math.Abs(sorted[j]) == math.Abs(sorted[i]) {
			j++
		}
		rank := i + 1 + j // twice the mean of i+1 to j
		for ; i < j; i++ {
			all += rank
			if sorted[i] > 0 {
				positive += rank
			}
			next := make([]float64, len(ways)+rank)
			for sum, share := range ways {
				next[sum] += share / 2
				next[sum+rank] += share / 2
			}
			ways = next
		}
	}
	tail := 0.0
	for sum, share := range ways {
		if sum <= min(positive, all-positive) {
			tail += share
		}
	}
	return min(1, 2*tail), cmp.Compare(2*positive, all)
}
