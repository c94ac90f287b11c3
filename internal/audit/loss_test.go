package audit

import (
	"testing"
	"time"
)

func TestTimesOfLostWrites(t *testing.T) {
	begin := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, c := range map[string]struct {
		ms     []int64
		most   int
		bounds []int64 // first and last of each span
		within time.Duration
	}{
		"one":                           {[]int64{7}, 10, []int64{7, 7}, lossBucket},
		"in any order":                  {[]int64{30, 7, 12}, 10, []int64{7, 30}, lossBucket},
		"far apart":                     {[]int64{7, 90, 190, 291, 5000}, 10, []int64{7, 190, 291, 291, 5000, 5000}, lossBucket},
		"more spans than may be kept":   {[]int64{0, 150, 300, 5000}, 2, []int64{0, 300, 5000, 5000}, 2 * lossBucket},
		"and more still":                {[]int64{0, 150, 300, 5000}, 1, []int64{0, 5000}, 64 * lossBucket},
		"none":                          {nil, 1, nil, lossBucket},
		"as many in one bucket as like": {[]int64{99, 98, 97, 96, 95, 94}, 1, []int64{94, 99}, lossBucket},
	} {
		t.Run(name, func(t *testing.T) {
			var l lossTimes
			for _, ms := range c.ms {
				l.add(begin.Add(time.Duration(ms) * time.Millisecond))
			}
			spans, within := l.spans(c.most)
			writes := 0
			for i, s := range spans {
				writes += int(s.Writes)
				if from, to := s.From.Sub(begin).Milliseconds(), s.To.Sub(begin).Milliseconds(); 2*i+1 >= len(c.bounds) || from != c.bounds[2*i] || to != c.bounds[2*i+1] {
					t.Errorf("span %d is from %d to %d, want the bounds %v", i, from, to, c.bounds)
				}
			}
			if 2*len(spans) != len(c.bounds) || writes != len(c.ms) || within != c.within {
				t.Errorf("%d spans of %d writes within %v; want the bounds %v within %v", len(spans), writes, within, c.bounds, c.within)
			}
		})
	}
}
