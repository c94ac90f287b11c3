package timespan

import (
	"slices"
	"testing"
	"time"
)

func TestCovered(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	span := func(from, to int) Span {
		return Span{start.Add(time.Duration(from) * time.Second), start.Add(time.Duration(to) * time.Second)}
	}
	for name, c := range map[string]struct {
		spans []Span
		want  time.Duration
	}{
		"nothing":                    {nil, 0},
		"one":                        {[]Span{span(1, 4)}, 3 * time.Second},
		"two apart, in any order":    {[]Span{span(7, 9), span(1, 4)}, 5 * time.Second},
		"two that overlap":           {[]Span{span(1, 4), span(3, 9)}, 8 * time.Second},
		"one within another":         {[]Span{span(1, 9), span(3, 4), span(8, 10)}, 9 * time.Second},
		"one that ends at its start": {[]Span{{}, span(2, 2), span(5, 4), span(1, 2)}, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			given := slices.Clone(c.spans)
			if got := Covered(c.spans); got != c.want {
				t.Errorf("%v, want %v", got, c.want)
			}
			if !slices.Equal(given, c.spans) {
				t.Errorf("the spans are now %v", c.spans)
			}
		})
	}
}
