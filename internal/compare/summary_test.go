package compare

import (
	"math"
	"math/rand/v2"
	"slices"
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
		"one trial":    {exact(7), Exact(7), nil},
		"five":         {exact(5, 1, 4, 2, 3), Exact(3), nil},
		"six":          {exact(6, 5, 1, 4, 2, 3), Exact(3.5), &Interval{1, 6}},
		"all equal":    {exact(2, 2, 2, 2, 2, 2), Exact(2), &Interval{2, 2}},
		"no trial":     {nil, Interval{math.Inf(-1), math.Inf(1)}, nil},
		"lower bounds": {slices.Repeat([]Interval{AtLeast(4)}, 6), AtLeast(4), &Interval{4, math.Inf(1)}},
		"upper bounds": {slices.Repeat([]Interval{{math.Inf(-1), 4}}, 6), Interval{math.Inf(-1), 4}, &Interval{math.Inf(-1), 4}},
		"lower bound":  {append(exact(1, 2, 3, 4, 5), AtLeast(2)), Interval{2.5, 3.5}, &Interval{1, math.Inf(1)}},
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

func TestBoundsNeverSayMoreOfAMedianThanFigures(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 5))
	for range 5000 {
		var bounds, figures []Interval
		for range 6 + random.IntN(10) {
			b, f := bounded(random)
			bounds, figures = append(bounds, b), append(figures, f)
		}
		wide, exact := Summarize(bounds), Summarize(figures)
		if !within(exact.Median, wide.Median) || !within(*exact.Range, *wide.Range) {
			t.Fatalf("%v: %+v %v\n%v: %+v %v", bounds, wide, wide.Range, figures, exact, exact.Range)
		}
	}
}

func TestTrialsThatCannotTellMayHaveLostWrites(t *testing.T) {
	unknown := Interval{math.Inf(-1), math.Inf(1)}
	for name, c := range map[string]struct {
		lost []Interval
		want Losses
	}{
		"no trial":                 {nil, Losses{0, 0, 0, 100}},
		"none lost":                {slices.Repeat([]Interval{Exact(0)}, 10), Losses{0, 0, 10, 26}},
		"a lower bound of nothing": {[]Interval{AtLeast(0), Exact(0)}, Losses{0, 1, 2, 98}},
		"some, at least":           {[]Interval{AtLeast(3), Exact(0)}, Losses{1, 1, 2, 98}},
		"none or some":             {[]Interval{{0, 4}, Exact(7)}, Losses{1, 2, 2, 100}},
		"unknown":                  {[]Interval{unknown, unknown}, Losses{0, 2, 2, 100}},
		"none at most":             {[]Interval{{math.Inf(-1), 0}}, Losses{0, 0, 1, 95}},
	} {
		if got := CountLosses(c.lost); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// The bounds are those of Clopper and Pearson: without a loss 1-0.05^(1/n).
func TestBoundOfLosses(t *testing.T) {
	for _, c := range []struct {
		k, n int
		want float64
	}{{0, 1, 95}, {0, 10, 100 * (1 - math.Pow(0.05, 0.1))}, {0, 59, 100 * (1 - math.Pow(0.05, 1/59.))}, {1, 10, 39.416}, {1, 1, 100}, {10, 10, 100}} {
		if got := lossBound(c.k, c.n); math.Abs(got-c.want) > 0.001 {
			t.Errorf("%d of %d: %.4f, want %.4f", c.k, c.n, got, c.want)
		}
	}
}
