package compare

import (
	"math"
	"testing"
)

func TestMedianKeepsBounds(t *testing.T) {
	for name, c := range map[string]struct {
		all  []Interval
		want Interval
	}{
		"exact figures":              {[]Interval{Exact(3), Exact(1), Exact(2)}, Exact(2)},
		"of an even number":          {[]Interval{Exact(1), Exact(2)}, Exact(1.5)},
		"one range":                  {[]Interval{Exact(1), {2, 5}, Exact(3)}, Interval{2, 3}},
		"lower bounds below":         {[]Interval{AtLeast(1), Exact(2), Exact(3)}, Interval{2, 3}},
		"mostly lower bounds":        {[]Interval{AtLeast(1), AtLeast(2), Exact(3)}, AtLeast(2)},
		"a lower bound above others": {[]Interval{Exact(1), Exact(2), AtLeast(3)}, Exact(2)},
	} {
		if got := Median(c.all); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestPercentIsTheWidestThatBoundsAllow(t *testing.T) {
	for name, c := range map[string]struct {
		now, base Interval
		low, high int64
		ok        bool
	}{
		"exact":                         {Exact(2600), Exact(3400), -24, -24, true},
		"a range here":                  {Interval{105, 109}, Exact(100), 5, 9, true},
		"a range of the baseline":       {Exact(100), Interval{100, 105}, -5, 0, true},
		"ranges of both":                {Interval{100, 102}, Interval{100, 103}, -3, 2, true},
		"rounded outwards":              {Interval{100.4, 100.6}, Exact(100), 0, 1, true},
		"exactly ten points":            {Interval{100, 110}, Exact(100), 0, 10, true},
		"more than ten points":          {Interval{100, 110.1}, Exact(100), 0, 0, false},
		"an open bound":                 {AtLeast(100), Exact(100), 0, 0, false},
		"an open bound of the base":     {Exact(100), AtLeast(100), 0, 0, false},
		"open bounds of both":           {AtLeast(100), AtLeast(100), 0, 0, false},
		"from nothing":                  {Exact(1), Exact(0), 0, 0, false},
		"from what may be nothing":      {Exact(1), Interval{0, 1}, 0, 0, false},
		"of nothing":                    {Exact(0), Exact(4), -100, -100, true},
		"more than numbers can tell":    {Exact(math.MaxFloat64), Exact(1), 0, 0, false},
		"a negative one has no meaning": {Exact(-1), Exact(1), 0, 0, false},
	} {
		if low, high, ok := Percent(c.now, c.base); low != c.low || high != c.high || ok != c.ok {
			t.Errorf("%s: %d to %d, %t; want %d to %d, %t", name, low, high, ok, c.low, c.high, c.ok)
		}
	}
}

func TestPartOfABase(t *testing.T) {
	inf := math.Inf(1)
	for name, c := range map[string]struct {
		now, base, want Interval
	}{
		"exact":                  {Exact(50), Exact(100), Exact(50)},
		"bounded":                {Interval{40, 60}, Interval{80, 120}, Interval{40.0 * 100 / 120, 75}},
		"a minimum":              {AtLeast(50), Exact(100), AtLeast(50)},
		"of a minimum":           {Exact(50), AtLeast(100), Interval{0, 50}},
		"a maximum of a minimum": {Interval{-inf, 50}, AtLeast(100), Interval{-inf, 50}},
		"below 0":                {Interval{-20, -10}, Interval{50, 100}, Interval{-40, -10}},
		"below 0 or above":       {Interval{-20, 10}, Interval{50, 100}, Interval{-40, 20}},
		"nothing of nothing":     {Exact(0), Exact(0), Exact(100)},
		"some of nothing":        {Exact(5), Exact(0), Interval{inf, inf}},
		"perhaps some of it":     {Interval{0, 5}, Exact(0), Interval{100, inf}},
	} {
		if got, ok := Part(c.now, c.base); !ok || got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
	if _, ok := Part(Exact(1), Interval{0, 1}); ok {
		t.Error("a part of nothing")
	}
}
