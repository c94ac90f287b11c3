package compare

import (
	"math"
	"math/rand/v2"
	"testing"
)

// noise is how much figures of the same run differ from trial to trial on a small machine: their standard deviation as a part of the mean.
const noise = 0.04

// suites simulates suites of two variants whose true ratio is given, with a machine that gets faster by a part over the suite, and counts
// those of which a comparison is as asked.
func suites(t *testing.T, n, rounds int, ratio, drift float64, is func(Rounds) bool) float64 {
	t.Helper()
	random := rand.New(rand.NewPCG(7, uint64(rounds)))
	found := 0
	for range n {
		var of, to []Interval
		for round := range rounds {
			at := func(half float64) float64 { // each round runs both, one after the other
				return 1000 * (1 + drift*(float64(round)+half)/float64(rounds)) * (1 + noise*random.NormFloat64())
			}
			first := random.IntN(2)
			of = append(of, Exact(ratio*at(float64(first)/2)))
			to = append(to, Exact(at(float64(1-first)/2)))
		}
		if c, ok := CompareRounds(of, to); ok && is(c) {
			found++
		}
	}
	return float64(found) / float64(n)
}

func holds(percent float64) func(Rounds) bool {
	return func(c Rounds) bool { return c.RangePercent.Low <= percent && percent <= c.RangePercent.High }
}

func TestRangesHoldTheTrueRatio(t *testing.T) {
	for _, rounds := range []int{6, 8, 10, 20} {
		for _, drift := range []float64{0, 0.05} {
			if few := suites(t, 200, rounds, 1, drift, holds(100)); few < 0.93 {
				t.Errorf("%d rounds, drift %v: %.3f of 200 ranges hold 1", rounds, drift, few)
			}
			if share := suites(t, 4000, rounds, 1, drift, holds(100)); share < 0.93 || share > 0.975 {
				t.Errorf("%d rounds, drift %v: %.3f of ranges hold 1", rounds, drift, share)
			} else {
				t.Logf("%d rounds, drift %v: %.3f", rounds, drift, share)
			}
		}
	}
}

func TestADifferenceOfFivePercentIsFoundIn20Rounds(t *testing.T) {
	if share := suites(t, 2000, 20, 1.05, 0.05, func(c Rounds) bool { return c.Conclusion == ConclusionHigher }); share < 0.9 {
		t.Errorf("found in %.3f of suites", share)
	} else {
		t.Logf("found in %.3f", share)
	}
}

func TestARangeIsConcludedFrom(t *testing.T) {
	ratios := func(percent ...float64) (of, to []Interval) {
		for _, p := range percent {
			of, to = append(of, Exact(p)), append(to, Exact(100))
		}
		return of, to
	}
	for name, c := range map[string]struct {
		percent []float64
		want    Conclusion
		needed  func(int) bool
	}{
		"six rounds above":          {[]float64{110, 112, 108, 111, 109, 110}, ConclusionHigher, func(n int) bool { return n == 0 }},
		"six rounds below":          {[]float64{90, 92, 88, 91, 89, 90}, ConclusionLower, func(n int) bool { return n == 0 }},
		"equal figures":             {[]float64{100, 100, 100, 100, 100, 100}, ConclusionSame, func(n int) bool { return n == 0 }},
		"a difference of no weight": {[]float64{101, 101, 101.2, 100.9, 101, 101.1}, ConclusionSame, func(n int) bool { return n == 0 }},
		"five rounds":               {[]float64{200, 200, 200, 200, 200}, ConclusionUndecided, func(n int) bool { return n == 6 }},
		"noise":                     {[]float64{90, 110, 95, 105, 100, 101}, ConclusionUndecided, func(n int) bool { return n > 50 }},
		"almost clear":              {[]float64{106, 107, 105, 99, 106, 104, 98}, ConclusionUndecided, func(n int) bool { return n >= 8 && n < 30 }},
	} {
		got, ok := CompareRounds(ratios(c.percent...))
		if !ok || got.Conclusion != c.want || !c.needed(got.RoundsNeeded) || got.Rounds != len(c.percent) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestBoundsStayBoundsInARatio(t *testing.T) {
	var of, to []Interval
	for range 12 {
		of, to = append(of, AtLeast(120)), append(to, Interval{90, 100})
	}
	c, ok := CompareRounds(of, to)
	if !ok || c.Conclusion != ConclusionHigher || math.Round(c.RatioPercent.Low) != 120 || !math.IsInf(c.RatioPercent.High, 1) || !math.IsInf(c.RangePercent.High, 1) {
		t.Errorf("%+v", c)
	}
	if c, _ := CompareRounds(to, of); c.Conclusion != ConclusionLower || c.RatioPercent.Low != 0 {
		t.Errorf("the other way round: %+v", c)
	}
	of[0] = AtLeast(1) // one trial that says nothing
	if c, _ := CompareRounds(of, to); c.Conclusion != ConclusionHigher {
		t.Errorf("with one that says nothing: %+v", c)
	}
	for i := range of {
		of[i] = AtLeast(50)
	}
	if c, _ := CompareRounds(of, to); c.Conclusion != ConclusionUndecided || c.RoundsNeeded != 0 {
		t.Errorf("bounds that no round makes exact: %+v", c)
	}
}

func TestRoundsWithoutAFigureAreLeftOut(t *testing.T) {
	if c, ok := CompareRounds([]Interval{Exact(0), Exact(5)}, []Interval{Exact(5), Exact(0)}); ok {
		t.Errorf("%+v", c)
	}
	if c, ok := CompareRounds([]Interval{Exact(0), Exact(5)}, []Interval{Exact(5), Exact(10), Exact(7)}); !ok || c.Rounds != 1 || math.Round(c.RatioPercent.Low) != 50 {
		t.Errorf("%+v", c)
	}
}
