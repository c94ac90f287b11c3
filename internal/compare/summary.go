package compare

import (
	"math"

	"golang.org/x/perf/benchmath"
	"gonum.org/v1/gonum/stat/distuv"

	"replab.dev/api/v1alpha1"
)

// confidence of every interval over trials.
const confidence = 0.95

// Summary of a figure over the trials of a variant.
type Summary struct {
	Trials int
	// Median of the trials. It has bounds where the figures of trials have them.
	Median Interval
	// Range holds the median of all such trials with 95% confidence, by order statistics. It is nil with fewer than six trials.
	Range *Interval
}

// Summarize figures of trials. A bound stays a bound: lower ends are summarized apart from upper ends, and the range is the widest that both
// allow. Nothing is known of the median of no trial.
func Summarize(values []Interval) Summary {
	if len(values) == 0 {
		return Summary{Median: Interval{math.Inf(-1), math.Inf(1)}}
	}
	s := Summary{Trials: len(values), Median: Median(values)}
	if len(values) >= v1alpha1.RoundsFewest {
		low, high := medianRange(lows(values)), medianRange(highs(values))
		s.Range = &Interval{low.Low, high.High}
	}
	return s
}

func medianRange(values []float64) Interval {
	s := benchmath.AssumeNothing.Summary(benchmath.NewSample(values, &benchmath.DefaultThresholds), confidence)
	return Interval{s.Lo, s.Hi}
}

// Losses of acknowledged writes over the trials of a variant.
type Losses struct {
	// LostIn is in how many trials writes were certainly lost, and LostInAtMost in how many they may have been.
	LostIn, LostInAtMost, Of int
	// UpperPercent bounds the share of all such trials that lose writes with 95% confidence, rounded up: that of LostInAtMost. It is 100 without
	// a trial.
	UpperPercent int64
}

// CountLosses by the number of lost writes of each trial. A trial that may have lost some and may have lost none counts for the upper ends.
func CountLosses(lost []Interval) Losses {
	l := Losses{Of: len(lost)}
	for _, n := range lost {
		if n.Low > 0 {
			l.LostIn++
		}
		if n.High > 0 {
			l.LostInAtMost++
		}
	}
	l.UpperPercent = int64(math.Ceil(lossBound(l.LostInAtMost, l.Of)))
	return l
}

// lossBound is the upper end of Clopper and Pearson's interval for k of n, one-sided, in percent.
func lossBound(k, n int) float64 {
	if k >= n {
		return 100
	}
	return 100 * distuv.Beta{Alpha: float64(k + 1), Beta: float64(n - k)}.Quantile(confidence)
}

// percent of a logarithm's ends.
func (i Interval) percent() Interval { return Interval{100 * math.Exp(i.Low), 100 * math.Exp(i.High)} }
