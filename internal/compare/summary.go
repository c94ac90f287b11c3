package compare

import (
	"math"

	"golang.org/x/perf/benchmath"
	"gonum.org/v1/gonum/stat/distuv"
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

// Summarize figures of at least one trial. A bound stays a bound: lower ends are summarized apart from upper ends, and the range is the widest
// that both allow.
func Summarize(values []Interval) Summary {
	s := Summary{Trials: len(values), Median: Median(values)}
	if len(values) >= Fewest {
		low, high := medianRange(Lows(values)), medianRange(Highs(values))
		s.Range = &Interval{low.Low, high.High}
	}
	return s
}

func medianRange(values []float64) Interval {
	s := benchmath.AssumeNothing.Summary(benchmath.NewSample(values, &benchmath.DefaultThresholds), confidence)
	return Interval{s.Lo, s.Hi}
}

// LossBound is the highest share of trials that lose writes, in percent, which k trials of n that lost some leave possible with 95%
// confidence: the upper end of Clopper and Pearson's interval, one-sided. n must be 1 at least.
func LossBound(k, n int) float64 {
	if k >= n {
		return 100
	}
	return 100 * distuv.Beta{Alpha: float64(k + 1), Beta: float64(n - k)}.Quantile(confidence)
}

// log of both ends.
func (i Interval) log() Interval { return Interval{math.Log(i.Low), math.Log(i.High)} }

// percent of a logarithm's ends.
func (i Interval) percent() Interval { return Interval{100 * math.Exp(i.Low), 100 * math.Exp(i.High)} }
