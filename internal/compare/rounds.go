package compare

import (
	"math"
	"slices"
)

// Conclusion of a comparison of two variants.
type Conclusion string

// Conclusions. ConclusionUndecided is neither a difference nor the proof of none.
const (
	ConclusionHigher    Conclusion = "Higher"
	ConclusionLower     Conclusion = "Lower"
	ConclusionSame      Conclusion = "Same"
	ConclusionUndecided Conclusion = "Undecided"
)

// sameWithin is by how many percent ratios may differ from 100 and be the same to whoever chooses between two topologies.
const sameWithin = 2

// Rounds is the comparison of two variants by rounds: in each round, both ran once.
type Rounds struct {
	Rounds int
	// RatioPercent is the typical ratio of a round: 100 for equal figures, by Hodges and Lehmann's estimate over logarithms. It has bounds
	// where figures of trials have them.
	RatioPercent Interval
	// RangePercent holds the median ratio of all such rounds with 95% confidence. It is nil with fewer than six rounds.
	RangePercent *Interval
	// P is the probability of a difference as lopsided as this one if there were none: Wilcoxon's signed-rank test.
	P          float64
	Conclusion Conclusion
	// RoundsNeeded estimates how many rounds in all would decide it, if the noise stays as it is. It is 0 if it is decided, or bounds keep it open.
	RoundsNeeded int
}

// CompareRounds compares the figures of a variant with those of another, round by round. All must be above 0: without such a round it is not ok.
func CompareRounds(of, to []Interval) (Rounds, bool) {
	var ratios []Interval
	for i := range min(len(of), len(to)) {
		if of[i].Low > 0 && to[i].Low > 0 {
			ratios = append(ratios, of[i].Over(to[i]).log())
		}
	}
	if len(ratios) == 0 {
		return Rounds{}, false
	}
	low, high := walsh(Lows(ratios)), walsh(Highs(ratios))
	c := Rounds{Rounds: len(ratios), P: SignedRanks(ratios), Conclusion: ConclusionUndecided, RoundsNeeded: Fewest}
	c.RatioPercent = Interval{middle(low), middle(high)}.percent()
	if c.Rounds < Fewest {
		return c, true
	}
	cut := outside(c.Rounds)
	r := Interval{low[cut], high[len(high)-1-cut]}
	c.Conclusion, c.RoundsNeeded = conclude(r, c.Rounds)
	percent := r.percent()
	c.RangePercent = &percent
	return c, true
}

// conclude from the range of a logarithm's median.
func conclude(r Interval, rounds int) (Conclusion, int) {
	margin := math.Log(1 + sameWithin/100.)
	switch {
	case r.Low > -margin && r.High < margin:
		return ConclusionSame, 0
	case r.Low > 0:
		return ConclusionHigher, 0
	case r.High < 0:
		return ConclusionLower, 0
	}
	return ConclusionUndecided, needed(r, margin, rounds)
}

// needed is how many rounds would make the range, which narrows with their square root, leave 0 or stay within the margin.
func needed(r Interval, margin float64, rounds int) int {
	middle, half := math.Abs(r.Low+r.High)/2, (r.High-r.Low)/2
	enough := max(middle, margin-middle)
	if math.IsInf(half, 0) || math.IsNaN(middle) {
		return 0 // a bound that no number of rounds makes exact
	}
	return max(rounds+1, int(math.Ceil(float64(rounds)*(half/enough)*(half/enough))))
}

// walsh are the means of all pairs of values, each with itself too, in their order. Their median is Hodges and Lehmann's estimate.
func walsh(values []float64) []float64 {
	var means []float64
	for i, a := range values {
		for _, b := range values[i:] {
			means = append(means, (a+b)/2)
		}
	}
	slices.Sort(means)
	return means
}

// middle of sorted values.
func middle(sorted []float64) float64 {
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// outside is how many of the sorted Walsh averages of n values, at least six, lie beyond either end of the interval: the greatest sum of signed
// ranks of which, or of less, the probability is 2.5% at most, by counting all signs.
func outside(n int) int {
	ways := make([]float64, n*(n+1)/2+1) // share of the signs by the sum of the ranks that are positive
	ways[0] = 1
	for rank := 1; rank <= n; rank++ {
		for sum := len(ways) - 1; sum >= 0; sum-- {
			ways[sum] /= 2
			if sum >= rank {
				ways[sum] += ways[sum-rank] / 2
			}
		}
	}
	tail, sum := 0.0, 0
	for ; tail+ways[sum] <= (1-confidence)/2; sum++ {
		tail += ways[sum]
	}
	return sum - 1
}
