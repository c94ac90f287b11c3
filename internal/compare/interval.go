package compare

import (
	"math"

	"replab.dev/internal/figure"
	"replab.dev/internal/percentile"
)

// Interval holds the bounds of a figure. The two are equal where it is exact; High is infinite where no upper bound is known.
type Interval struct{ Low, High float64 }

// Exact is the interval of a figure that is known.
func Exact(v float64) Interval { return Interval{v, v} }

// AtLeast is the interval of a figure of which only a lower bound is known.
func AtLeast(v float64) Interval { return Interval{v, math.Inf(1)} }

// IntervalOf a figure.
func IntervalOf(f figure.Figure) Interval {
	i := Interval{math.Inf(-1), math.Inf(1)}
	if f.AtLeast != nil {
		i.Low = float64(*f.AtLeast)
	}
	if f.AtMost != nil {
		i.High = float64(*f.AtMost)
	}
	return i
}

// Exact tells whether the figure is known. A ratio to 0 is no number.
func (i Interval) Exact() bool { return i.Low == i.High && !math.IsInf(i.Low, 0) }

// lows are the lower bounds of intervals.
func lows(all []Interval) []float64 {
	values := make([]float64, len(all))
	for i, one := range all {
		values[i] = one.Low
	}
	return values
}

// highs are the upper bounds of intervals.
func highs(all []Interval) []float64 {
	values := make([]float64, len(all))
	for i, one := range all {
		values[i] = one.High
	}
	return values
}

// Median of intervals, of which there must be one at least: that of the lower bounds and that of the upper ones.
func Median(all []Interval) Interval {
	return Interval{percentile.Median(lows(all)), percentile.Median(highs(all))}
}

// Part is the range of what a figure is in percent of its base, by the bounds of both. Of a base of 0, 0 is 100 percent, and more is infinite. It is
// not ok from a base that may be 0 or below.
func Part(now, base Interval) (Interval, bool) {
	if base == (Interval{}) && now.Low >= 0 {
		return Interval{partOfNothing(now.Low), partOfNothing(now.High)}, true
	}
	if base.Low <= 0 {
		return Interval{}, false
	}
	low, high := base.High, base.Low // divisors that make the range the widest
	if now.Low < 0 {
		low = base.Low
	}
	if now.High < 0 {
		high = base.High
	}
	return Interval{now.Low * 100 / low, now.High * 100 / high}, true
}

func partOfNothing(v float64) float64 {
	if v == 0 {
		return 100
	}
	return math.Inf(1)
}

// widest is how many points a percentage may span. A wider one says too little to be stated.
const widest = 10

// Wide tells of a percentage that says too little to be stated.
func (i Interval) Wide() bool { return !(i.High-i.Low <= widest) } // the difference of two infinities is no number

// Percent is by how many percent a figure differs from its base: the widest range that their bounds allow, rounded outwards. It is not ok
// from a base that may be 0, and where the range is wider than 10 points.
func Percent(now, base Interval) (low, high int64, ok bool) {
	if base.Low <= 0 || now.Low < 0 {
		return 0, 0, false
	}
	if math.IsInf(now.High, 1) || math.IsInf(base.High, 1) {
		return 0, 0, false
	}
	least, most := (now.Low-base.High)*100/base.High, (now.High-base.Low)*100/base.Low
	if (Interval{least, most}).Wide() || most > math.MaxInt64/2 {
		return 0, 0, false
	}
	if now.Exact() && base.Exact() {
		return int64(math.Round(least)), int64(math.Round(least)), true
	}
	return int64(math.Floor(least)), int64(math.Ceil(most)), true
}
