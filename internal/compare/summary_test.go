package compare

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestSummaryOfTrials(t *testing.T) {
	exact := func(values ...float64) (all []Interval) {
		for _, v := range values {
			all = append(all, Exact(v))
		}
		return all
	}
	for name, c := range map[string]struct {
		of     []Interval
		median Interval
		within *Interval
	}{
		"one trial":   {exact(7), Exact(7), nil},
		"five":        {exact(5, 1, 4, 2, 3), Exact(3), nil},
		"six":         {exact(6, 5, 1, 4, 2, 3), Exact(3.5), &Interval{1, 6}},
		"all equal":   {exact(2, 2, 2, 2, 2, 2), Exact(2), &Interval{2, 2}},
		"lower bound": {append(exact(1, 2, 3, 4, 5), AtLeast(2)), Interval{2.5, 3.5}, &Interval{1, math.Inf(1)}},
	} {
		got := Summarize(c.of)
		if got.Trials != len(c.of) || got.Median != c.median || (got.Range == nil) != (c.within == nil) || got.Range != nil && *got.Range != *c.within {
			t.Errorf("%s: %+v, range %+v", name, got, got.Range)
		}
	}
}

func TestRangesHoldTheTrueMedian(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{6, 10, 20} {
		held := 0
		for range 2000 {
			var trials []Interval
			for range n {
				trials = append(trials, Exact(math.Exp(random.NormFloat64())))
			}
			if r := Summarize(trials).Range; r.Low <= 1 && 1 <= r.High {
				held++
			}
		}
		if share := float64(held) / 2000; share < 0.94 {
			t.Errorf("%d trials: %.3f of ranges hold the median", n, share)
		}
	}
}

// The bounds are those of Clopper and Pearson: without a loss 1-0.05^(1/n).
func TestBoundOfLosses(t *testing.T) {
	for _, c := range []struct {
		k, n int
		want float64
	}{{0, 1, 95}, {0, 10, 100 * (1 - math.Pow(0.05, 0.1))}, {0, 59, 100 * (1 - math.Pow(0.05, 1/59.))}, {1, 10, 39.416}, {10, 10, 100}} {
		if got := LossBound(c.k, c.n); math.Abs(got-c.want) > 0.001 {
			t.Errorf("%d of %d: %.4f, want %.4f", c.k, c.n, got, c.want)
		}
	}
}
