package counters

import (
	"testing"
	"time"
)

func TestHowFarAClockIsAhead(t *testing.T) {
	const ms = time.Millisecond
	type sample struct {
		ahead, there, back time.Duration // how far the clock is ahead, and how long question and answer take
		times              int
	}
	for name, c := range map[string]struct {
		samples     []sample
		least, most time.Duration
		unknown     bool
		stepped     time.Duration
	}{
		"without an answer nothing is known":                 {unknown: true},
		"one answer bounds it by its round trip":             {[]sample{{50 * ms, 2 * ms, 3 * ms, 1}}, 47 * ms, 52 * ms, false, 0},
		"a clock may be behind":                              {[]sample{{-50 * ms, 2 * ms, 3 * ms, 1}}, -53 * ms, -48 * ms, false, 0},
		"the narrowest of a window counts":                   {[]sample{{0, 9 * ms, ms, 5}, {0, ms, ms, 1}, {0, ms, 9 * ms, 4}}, -ms, ms, false, 0},
		"a few answers after a window do not loosen it":      {[]sample{{0, ms, ms, 10}, {0, 99 * ms, 99 * ms, 9}}, -ms, ms, false, 0},
		"a clock that drifts has the bounds of all windows":  {[]sample{{0, ms, ms, 10}, {8 * ms, ms, ms, 10}, {4 * ms, ms, ms, 10}}, -ms, 9 * ms, false, 6 * ms},
		"a window in which all was slow has the slow bounds": {[]sample{{0, ms, ms, 10}, {0, 5 * ms, 3 * ms, 10}}, -3 * ms, 5 * ms, false, 0},
		"a clock that is set and set back within a window was both": {
			[]sample{{0, ms, ms, 4}, {5000 * ms, 9 * ms, ms, 2}, {0, ms, ms, 4}}, -ms, 5009 * ms, false, 4998 * ms,
		},
		"a clock that is set after the last whole window was both": {
			[]sample{{0, ms, ms, 10}, {-700 * ms, ms, ms, 1}}, -701 * ms, ms, false, 698 * ms,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var clock Clock
			now := begin
			for _, s := range c.samples {
				for range s.times {
					told := now.Add(s.there + s.ahead)
					clock.Add(now, told, now.Add(s.there+s.back))
					now = now.Add(time.Second)
				}
			}
			least, most, known := clock.Ahead()
			if least != c.least || most != c.most || known == c.unknown {
				t.Errorf("ahead by %v to %v (%v), want %v to %v", least, most, known, c.least, c.most)
			}
			if clock.stepped != c.stepped {
				t.Errorf("it was set by %v, want %v", clock.stepped, c.stepped)
			}
		})
	}
}
