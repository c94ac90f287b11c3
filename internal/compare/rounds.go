package compare

import (
	"math"

	"replab.dev/api/v1alpha1"
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
	// P is the highest probability, by all bounds, of a difference as lopsided as this one if there were none: Wilcoxon's signed-rank test. It is
	// 5% or less exactly where the range excludes 100.
	P          float64
	Conclusion v1alpha1.Conclusion
	// RoundsNeeded estimates how many rounds in all would decide it, if the noise stays as it is. It is 0 if it is decided, or if bounds
	// keep it open.
	RoundsNeeded int
}

// CompareRounds compares the figures of a variant with those of another, round by round. It is not ok without rounds.
func CompareRounds(of, to []Interval) (Rounds, bool) {
	var ratios []Interval
	for i := range min(len(of), len(to)) {
		ratios = append(ratios, logRatio(of[i], to[i]))
	}
	if len(ratios) == 0 {
		return Rounds{}, false
	}
	low, high := walsh(lows(ratios), math.Inf(-1)), walsh(highs(ratios), math.Inf(1))
	typical := Interval{middle(low, math.Inf(-1)), middle(high, math.Inf(1))}
	chance := chances(len(ratios))
	c := Rounds{Rounds: len(ratios), RatioPercent: typical.percent(), P: lopsided(low, high, chance), Conclusion: v1alpha1.ConclusionUndecided, RoundsNeeded: v1alpha1.RoundsFewest}
	if c.Rounds < v1alpha1.RoundsFewest {
		return c, true
	}
	cut := beyond(chance)
	r := Interval{low[cut], high[len(high)-1-cut]}
	if c.Conclusion = conclude(r); c.Conclusion != v1alpha1.ConclusionUndecided {
		c.RoundsNeeded = 0
	} else {
		c.RoundsNeeded = needed(typical, r, c.Rounds)
	}
	percent := r.percent()
	c.RangePercent = &percent
	return c, true
}

// logRatio is the logarithm of the ratio of two figures. Two zeros are equal. The ratio of a figure without bounds, or of a lag below 0, may be any.
// To leave such rounds out would hide the worst ones.
func logRatio(of, to Interval) Interval {
	if of.High < 0 || to.High < 0 {
		return Interval{math.Inf(-1), math.Inf(1)}
	}
	over := func(a, b float64) float64 {
		if a == b {
			return 0
		}
		return math.Log(a / b)
	}
	return Interval{over(max(0, of.Low), to.High), over(of.High, max(0, to.Low))}
}

// margin is the logarithm of the ratio up to which variants are the same.
var margin = math.Log(1 + sameWithin/100.)

// conclude from the range of a logarithm's median.
func conclude(r Interval) v1alpha1.Conclusion {
	switch {
	case r.Low > -margin && r.High < margin:
		return v1alpha1.ConclusionSame
	case r.Low > 0:
		return v1alpha1.ConclusionHigher
	case r.High < 0:
		return v1alpha1.ConclusionLower
	}
	return v1alpha1.ConclusionUndecided
}

// needed is how many rounds would decide it, 0 where none can be estimated. The range around the typical logarithm narrows with the square root
// of the rounds. What is between the bounds of the typical one does not narrow.
func needed(typical, r Interval, rounds int) int {
	times := func(reach, allowed float64) float64 {
		if allowed <= 0 {
			return math.Inf(1)
		}
		return (reach / allowed) * (reach / allowed)
	}
	below, above := typical.Low-r.Low, r.High-typical.High
	same := max(times(below, margin+typical.Low), times(above, margin-typical.High))
	n := math.Ceil(float64(rounds) * min(same, times(below, typical.Low), times(above, -typical.High)))
	if math.IsNaN(n) || n > math.MaxInt32 {
		return 0
	}
	return max(rounds+1, int(n))
}
