package compare

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"replab.dev/api/v1alpha1"
)

// noise is an assumption: the standard deviation of a figure from trial to trial on two cores, as a part of the mean. ADR 39 says why, and what
// more noise costs.
const noise = 0.04

// suite simulates the figures of two variants whose true ratio is given. The machine gets faster by a part over the suite.
func suite(random *rand.Rand, rounds int, ratio, drift float64) (of, to []Interval) {
	for round := range rounds {
		at := func(half float64) float64 { // each round runs both, one after the other
			return 1000 * (1 + drift*(float64(round)+half)/float64(rounds)) * (1 + noise*random.NormFloat64())
		}
		first := random.IntN(2)
		of = append(of, Exact(ratio*at(float64(first)/2)))
		to = append(to, Exact(at(float64(1-first)/2)))
	}
	return of, to
}

// share of n simulated suites whose comparison is as asked.
func share(n, rounds int, ratio, drift float64, is func(Rounds) bool) float64 {
	random := rand.New(rand.NewPCG(7, uint64(rounds)))
	found := 0
	for range n {
		if c, ok := CompareRounds(suite(random, rounds, ratio, drift)); ok && is(c) {
			found++
		}
	}
	return float64(found) / float64(n)
}

func TestRangesHoldTheTrueRatio(t *testing.T) {
	holds := func(c Rounds) bool { return c.RangePercent.Low <= 100 && 100 <= c.RangePercent.High }
	for _, rounds := range []int{6, 8, 10, 20} {
		for _, drift := range []float64{0, 0.05} {
			few, many := share(200, rounds, 1, drift, holds), share(4000, rounds, 1, drift, holds)
			t.Logf("%d rounds, drift %v: %.3f of 200 A/A suites, %.3f of 4000", rounds, drift, few, many)
			// Six signs allow no 95%: the interval is of 62 cases in 64, 96.9%. The share of 200 suites differs from that by 1.2% by chance.
			if few < 0.93 || few > 0.97 && rounds > 6 || many < 0.945 || many > 0.97 {
				t.Errorf("want 0.93 to 0.97")
			}
		}
	}
}

func TestADifferenceOfFivePercentIsFoundIn20Rounds(t *testing.T) {
	found := share(2000, 20, 1.05, 0.05, func(c Rounds) bool { return c.Conclusion == v1alpha1.ConclusionHigher })
	t.Logf("found in %.3f", found)
	if found < 0.9 {
		t.Errorf("want 0.9")
	}
}

// TestRoundsNeededDecideFourInTenSuites takes new suites of as many rounds as undecided ones asked for: the estimate is rough, and not far too high.
func TestRoundsNeededDecideFourInTenSuites(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for _, ratio := range []float64{1, 1.03} {
		asked, decided := 0, 0
		for asked < 500 {
			c, _ := CompareRounds(suite(random, 20, ratio, 0.05))
			if c.RoundsNeeded == 0 || c.RoundsNeeded > 100 {
				continue
			}
			asked++
			if c, _ = CompareRounds(suite(random, c.RoundsNeeded, ratio, 0.05)); c.Conclusion != v1alpha1.ConclusionUndecided {
				decided++
			}
		}
		t.Logf("ratio %v: %d of %d", ratio, decided, asked)
		if decided < asked*4/10 || decided > asked*9/10 {
			t.Errorf("ratio %v: %d of %d", ratio, decided, asked)
		}
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
		want    v1alpha1.Conclusion
		needed  func(int) bool
	}{
		"six rounds above":          {[]float64{110, 112, 108, 111, 109, 110}, v1alpha1.ConclusionHigher, func(n int) bool { return n == 0 }},
		"six rounds below":          {[]float64{90, 92, 88, 91, 89, 90}, v1alpha1.ConclusionLower, func(n int) bool { return n == 0 }},
		"equal figures":             {[]float64{100, 100, 100, 100, 100, 100}, v1alpha1.ConclusionSame, func(n int) bool { return n == 0 }},
		"a difference of no weight": {[]float64{101, 101, 101.2, 100.9, 101, 101.1}, v1alpha1.ConclusionSame, func(n int) bool { return n == 0 }},
		"five rounds":               {[]float64{200, 200, 200, 200, 200}, v1alpha1.ConclusionUndecided, func(n int) bool { return n == 6 }},
		"noise":                     {[]float64{90, 110, 95, 105, 100, 101}, v1alpha1.ConclusionUndecided, func(n int) bool { return n > 50 }},
		"almost clear":              {[]float64{106, 107, 105, 99, 106, 104, 98}, v1alpha1.ConclusionUndecided, func(n int) bool { return n >= 8 && n < 30 }},
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
	if !ok || c.Conclusion != v1alpha1.ConclusionHigher || math.Round(c.RatioPercent.Low) != 120 || !math.IsInf(c.RatioPercent.High, 1) || !math.IsInf(c.RangePercent.High, 1) {
		t.Errorf("%+v", c)
	}
	if c, _ := CompareRounds(to, of); c.Conclusion != v1alpha1.ConclusionLower || c.RatioPercent.Low != 0 {
		t.Errorf("the other way round: %+v", c)
	}
	of[0] = AtLeast(1) // one trial that says nothing
	if c, _ := CompareRounds(of, to); c.Conclusion != v1alpha1.ConclusionHigher {
		t.Errorf("with one that says nothing: %+v", c)
	}
	of[0] = Interval{math.Inf(-1), math.Inf(1)} // one that nothing bounds
	if c, _ := CompareRounds(of, to); c.Conclusion != v1alpha1.ConclusionHigher || c.Rounds != 12 {
		t.Errorf("with one that nothing bounds: %+v", c)
	}
	for i := range 6 {
		of[i] = Interval{math.Inf(-1), math.Inf(1)}
	}
	if c, _ := CompareRounds(of, to); c.Conclusion != v1alpha1.ConclusionUndecided {
		t.Errorf("with six that nothing bounds: %+v", c)
	}
	for i := range of {
		of[i] = AtLeast(50)
	}
	if c, _ := CompareRounds(of, to); c.Conclusion != v1alpha1.ConclusionUndecided || c.RoundsNeeded != 0 {
		t.Errorf("bounds that no round makes exact: %+v", c)
	}
}

func TestBoundsThatNoRoundNarrowsNeedNoRounds(t *testing.T) {
	of, to := make([]Interval, 10), make([]Interval, 10)
	for i := range of {
		of[i], to[i] = Interval{99 + float64(i%3), 104}, Exact(100) // may be the same, and may be higher
	}
	if c, _ := CompareRounds(of, to); c.Conclusion != v1alpha1.ConclusionUndecided || c.RoundsNeeded != 0 {
		t.Errorf("%+v", c)
	}
	for i := range of {
		of[i] = Interval{94 + 4*float64(i%3), 94.1 + 4*float64(i%3)} // bounds that noise exceeds
	}
	if c, _ := CompareRounds(of, to); c.Conclusion != v1alpha1.ConclusionUndecided || c.RoundsNeeded <= 10 {
		t.Errorf("%+v", c)
	}
}

// bounded is a figure with bounds that it lies between, and itself. Figures are small numbers, so that many are equal or 0.
func bounded(random *rand.Rand) (bounds, figure Interval) {
	v := float64(random.IntN(7))
	low := float64(random.IntN(int(v) + 1))
	switch random.IntN(5) {
	case 0:
		return AtLeast(low), Exact(v)
	case 1:
		return Interval{low, v + float64(random.IntN(3))}, Exact(v)
	case 2:
		return Interval{math.Inf(-1), v}, Exact(v)
	}
	return Exact(v), Exact(v)
}

func TestBoundsNeverSayMoreThanFigures(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		n := 6 + random.IntN(8)
		var of, to, exactOf, exactTo []Interval
		for range n {
			a, exactA := bounded(random)
			b, exactB := bounded(random)
			of, to, exactOf, exactTo = append(of, a), append(to, b), append(exactOf, exactA), append(exactTo, exactB)
		}
		wide, _ := CompareRounds(of, to)
		exact, _ := CompareRounds(exactOf, exactTo)
		if !within(exact.RatioPercent, wide.RatioPercent) || !within(*exact.RangePercent, *wide.RangePercent) || exact.P > wide.P {
			t.Fatalf("%v to %v: %+v %v\nfigures %v to %v: %+v %v", of, to, wide, wide.RangePercent, exactOf, exactTo, exact, exact.RangePercent)
		}
		if wide.Conclusion != v1alpha1.ConclusionUndecided && wide.Conclusion != exact.Conclusion && exact.Conclusion != v1alpha1.ConclusionSame {
			t.Fatalf("%v to %v: %v, figures %v to %v: %v", of, to, wide.Conclusion, exactOf, exactTo, exact.Conclusion)
		}
		if r := exact.RangePercent; (r.Low > 100 || r.High < 100) != (exact.P <= 0.05) {
			t.Fatalf("%v to %v: range %v and p %v", exactOf, exactTo, r, exact.P)
		}
	}
}

func within(i, outer Interval) bool { return outer.Low <= i.Low && i.High <= outer.High }

func TestZerosHaveARatio(t *testing.T) {
	repeat := func(n int, i Interval, more ...Interval) []Interval {
		return append(slices.Repeat([]Interval{i}, n), more...)
	}
	inf := math.Inf(1)
	for name, c := range map[string]struct {
		of, to     []Interval
		conclusion v1alpha1.Conclusion
		ratio, all Interval
	}{
		"none served":        {repeat(6, Exact(0)), repeat(6, Exact(5)), v1alpha1.ConclusionLower, Exact(0), Exact(0)},
		"none at the other":  {repeat(6, Exact(5)), repeat(6, Exact(0)), v1alpha1.ConclusionHigher, Interval{inf, inf}, Interval{inf, inf}},
		"none at either":     {repeat(6, Exact(0)), repeat(6, Exact(0)), v1alpha1.ConclusionSame, Exact(100), Exact(100)},
		"none in two rounds": {repeat(6, Exact(5), Exact(0), Exact(0)), repeat(8, Exact(4)), v1alpha1.ConclusionUndecided, Exact(125), Interval{0, 125}},
		"one round each way": {repeat(6, Exact(5), Exact(0), Exact(5)), repeat(7, Exact(5), Exact(0)), v1alpha1.ConclusionUndecided, Exact(100), Interval{0, inf}},
		"at most five":       {repeat(6, Interval{math.Inf(-1), 5}), repeat(6, Exact(10)), v1alpha1.ConclusionLower, Interval{0, 50}, Interval{0, 50}},
		"maybe none at both": {repeat(6, Interval{0, 5}), repeat(6, Interval{0, 5}), v1alpha1.ConclusionUndecided, Interval{0, inf}, Interval{0, inf}},
		"maybe none to none": {repeat(6, Interval{0, 5}), repeat(6, Exact(0)), v1alpha1.ConclusionUndecided, Interval{100, inf}, Interval{100, inf}},
	} {
		near := func(got, want Interval) bool {
			return (got.Low == want.Low || math.Abs(got.Low-want.Low) < 1e-9) && (got.High == want.High || math.Abs(got.High-want.High) < 1e-9)
		}
		got, ok := CompareRounds(c.of, c.to)
		if !ok || got.Rounds != len(c.of) || got.Conclusion != c.conclusion || !near(got.RatioPercent, c.ratio) || !near(*got.RangePercent, c.all) {
			t.Errorf("%s: %+v, range %v", name, got, got.RangePercent)
		}
	}
}

func TestARatioToNothingIsNotExact(t *testing.T) {
	if c, _ := CompareRounds([]Interval{Exact(5)}, []Interval{Exact(0)}); c.RatioPercent.Exact() {
		t.Errorf("%+v", c)
	}
}

// TestRoundsThatNothingBoundsCount, with any ratio, as figures below 0 do: to leave them out would make the others speak for all.
func TestRoundsThatNothingBoundsCount(t *testing.T) {
	unknown := Interval{math.Inf(-1), math.Inf(1)}
	if c, ok := CompareRounds([]Interval{unknown, Exact(5)}, []Interval{Exact(5), unknown, Exact(7)}); !ok || c.Rounds != 2 || c.RatioPercent != (Interval{0, math.Inf(1)}) {
		t.Errorf("%+v", c)
	}
	for _, of := range []float64{-800, -1} {
		if c, ok := CompareRounds(slices.Repeat([]Interval{Exact(of)}, 6), slices.Repeat([]Interval{Exact(-20)}, 6)); !ok || c.Conclusion != v1alpha1.ConclusionUndecided || c.RatioPercent != (Interval{0, math.Inf(1)}) {
			t.Errorf("%v to -20: %+v", of, c)
		}
	}
	if c, ok := CompareRounds(nil, nil); ok {
		t.Errorf("%+v", c)
	}
}
